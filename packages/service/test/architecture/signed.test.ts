import { expect, test } from 'vitest'
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
