import { wholeJsonSchema } from '@referrer/process/openapi'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { routes } from '../../src/app/routes.ts'
import { bodyOf, isChange, Naming, needsName, type Route } from '../../src/kit/route.ts'

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const namesOf = (which: (route: Route) => boolean) => routes.filter(which).map(nameOf).sort()

/** A new route of one of these kinds is added to its list: each of them is something that a signature over an empty body can do. */
const MESSENGER = ['confirm', 'start', 'status', 'unlink'].map((name) => `POST /v1/messenger/link/${name}`)

test('what changes something by a signature has a body that the signature is for, but for the messenger', () => {
  expect(namesOf(({ isBare }) => isBare === true)).toEqual(MESSENGER)
  for (const route of routes.filter((one) => one.auth === 'caller' && isChange(one) && !one.isBare)) {
    expect(bodyOf(route), nameOf(route)).toBeDefined()
    expect(needsName(route), nameOf(route)).toBe(bodyOf(route)?.schema === (Naming as unknown))
  }
  expect(namesOf(needsName)).toEqual([
    'DELETE /v1/intents/{id}',
    'DELETE /v1/webhooks/{id}',
    'POST /v1/webhooks/{id}/rotate',
    'POST /v1/webhooks/{id}/test',
  ])
})

test('what is no GET and changes nothing is known', () => {
  expect(namesOf((route) => route.method !== 'GET' && !isChange(route))).toEqual([
    'DELETE /v1/auth/session',
    'POST /v1/cashback-rate/step1',
    'POST /v1/merchant/product/readiness',
    'POST /v1/messenger/link/status',
    'POST /v1/votes/step1',
  ])
})

/** Fields of a body; unknown ones are ignored, so all that counts of another route's body is whether it has the required ones. */
function fieldsOf(route: Route) {
  const { properties = {}, required = [] } = wholeJsonSchema(bodyOf(route)?.schema as z.ZodType, 'input')
  return { all: Object.keys(properties as object), required: required as string[] }
}

test('a body that is signed for one route does nothing at another, but for what is listed', () => {
  const signed = routes.filter(
    (one) => one.auth === 'caller' && bodyOf(one) && !needsName(one) && !one.isBare,
  )
  const takers = signed.filter(isChange).flatMap((taker) => {
    const { required } = fieldsOf(taker)
    const givers = signed.filter((one) => one !== taker)
    const takes = givers.filter((one) => required.every((name) => fieldsOf(one).all.includes(name)))
    return takes.length > 0 ? [nameOf(taker)] : []
  })
  expect(takers.sort()).toEqual(
    [
      // They repeat what the chain says of what is the signer's own.
      'POST /v1/agent/register',
      'POST /v1/merchant/register',
      // They need the second signature, which is for one thing.
      'POST /v1/cashback-rate/step2',
      // It refuses a body without caps that has other fields.
      'POST /v1/spending-limits',
      'POST /v1/votes/step2',
      // It refuses a body that names no message.
      'POST /v1/webhooks/{id}/replay',
    ].sort(),
  )
})
