// What a stranger may send is bounded by the data of the route or tool, before a schema looks at it.
import type { Sql } from '@referrer/database'
import { valuesIn } from '@referrer/process'
import { type Json, wholeJsonSchema } from '@referrer/process/openapi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { routes } from '../../app/routes.ts'
import { testApp } from '../../app/testing.ts'
import { tools } from '../../app/tools.ts'
import { USUAL_BODY } from '../../kit/body-limits.ts'
import { bodyLimitsOf, type Route, urlOf } from '../../kit/route.ts'
import { testConfig, testContext } from './testing.ts'

const config = testConfig({
  WEBHOOK_KEYS: '11'.repeat(32),
  TELEGRAM_BOT_TOKEN: '1:nobody',
  TELEGRAM_BOT_NAME: 'referrer_test_bot',
  CONSOLE_ACCOUNTS: JSON.stringify([{ name: 'buyer', private_key: `0x${'11'.repeat(32)}` }]),
})
/** Each request comes a second later, so that no limit of a route refuses it. */
let now = Date.now()
const clock = () => now
const app = testApp(testContext((async () => []) as unknown as Sql, { config, clock }).context)
let url: string
beforeAll(async () => {
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const writes = routes.filter(({ method }) => method !== 'GET')

/** Credentials in the right form: they are looked at before a body is read, and checked after it. */
const credentialsOf = ({ auth }: Route): Record<string, string> =>
  auth === 'session' || auth === 'admin'
    ? { authorization: `Bearer ${'a'.repeat(43)}` }
    : {
        'x-referrer-console': '1',
        'sec-fetch-site': 'same-origin',
        'x-agent-timestamp': String(Math.floor(now / 1_000)),
        'x-agent-signature': `0x${'11'.repeat(64)}1b`,
      }

async function send(route: Route, body: string, headers = credentialsOf(route)) {
  now += 1_000
  const response = await fetch(new URL(urlOf(route).replaceAll(/:\w+/g, '1'), url), {
    method: route.method,
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, text: await response.text() }
}

const list = (entries: number) => `[${Array(entries).fill('0').join()}]`

describe('a body', () => {
  it('of every route has a limit of bytes beside its schema, and no larger one is read', async () => {
    expect(writes.length).toBeGreaterThan(30)
    for (const route of writes) {
      const { bytes } = bodyLimitsOf(route)
      expect(bytes, nameOf(route)).toBeLessThanOrEqual(2 * 1024 * 1024)
      const answer = await send(route, ' '.repeat(bytes + 1))
      expect([answer.status, JSON.parse(answer.text)], nameOf(route)).toEqual([
        413,
        { error: 'request body too large' },
      ])
    }
  })

  it('takes 64 KiB where the interface does not need more: for proofs and the text of reviews', () => {
    const larger = writes.filter((route) => bodyLimitsOf(route) !== USUAL_BODY)
    expect(larger.map(nameOf).sort()).toEqual([
      'POST /v1/proof',
      'POST /v1/review/check',
      'POST /v1/review/register',
    ])
    expect(tools.flatMap(({ name, most }) => (most ? [name] : [])).sort()).toEqual([
      'check_review_content',
      'register_purchase_review',
      'submit_proof',
      'submit_review',
      'update_review_content',
    ])
  })

  it('has its values counted before it is parsed, and is refused without a list of what is wrong', async () => {
    const open = writes.filter(({ auth, body }) => auth === 'none' && body)
    expect(open.length).toBeGreaterThan(2)
    for (const route of open) {
      const { values } = bodyLimitsOf(route)
      for (const body of [
        list(values + 1),
        `{"query":${list(values + 1)}}`,
        '['.repeat(values + 1),
        `{${Array.from({ length: values + 1 }, (_, at) => `"${at}":1`).join()}}`,
      ]) {
        const answer = await send(route, body, {})
        expect([answer.status, JSON.parse(answer.text).detail], nameOf(route)).toEqual([
          400,
          `the body has more than ${values} values`,
        ])
        expect(answer.text.length).toBeLessThan(1_000)
      }
    }
  })

  it.each([
    ['{}', 1],
    ['[]', 1],
    ['"a,b[{\\",["', 0],
    ['{"a":1,"b":[1,2,{"c":"\\\\"}]}', 6],
    ['[[[[[', 5],
  ])('has its values counted outside of texts: %s', (json, values) => {
    expect(valuesIn(Buffer.from(json))).toBe(values)
  })
})

/** Free-form by the interface: nothing of it is validated one by one, and the limits of the body bound it. */
const FREE = ['proof_data', 'payload', 'votes']

describe('a schema', () => {
  const schemas = [
    ...routes.flatMap((route) =>
      route.body ? [[nameOf(route), route.body.schema as z.ZodType] as const] : [],
    ),
    ...tools.map(({ name, input }) => [`tool ${name}`, input as unknown as z.ZodType] as const),
  ]

  it.each(schemas)('of %s bounds each list and each object with keys of the caller', (_name, schema) => {
    expect(unboundedIn(wholeJsonSchema(schema, 'input'), 'body')).toEqual([])
  })

  it('without a bound would be found', () => {
    const open = { type: 'object', additionalProperties: { type: 'string' } }
    expect(unboundedIn({ type: 'object', properties: { a: { type: 'array' }, b: open } }, 'body')).toEqual([
      'body.a',
      'body.b',
    ])
  })
})

function unboundedIn(schema: Json, place: string): string[] {
  const { type, properties = {}, items, additionalProperties: others, maxItems, maxProperties } = schema
  const types = [type].flat()
  const isOpenList = types.includes('array') && maxItems === undefined
  const isOpenObject = typeof others === 'object' && maxProperties === undefined
  const parts: [string, unknown][] = [
    ...Object.entries(properties as Json).map(([name, part]): [string, unknown] => [
      `${place}.${name}`,
      part,
    ]),
    [`${place}[]`, items],
    [`${place}.*`, others],
    ...[schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []]
      .flat()
      .map((part): [string, unknown] => [place, part]),
  ]
  const inside = parts.flatMap(([name, part]) =>
    typeof part === 'object' && part !== null && !FREE.some((free) => name.endsWith(`.${free}`))
      ? unboundedIn(part as Json, name)
      : [],
  )
  return [...(isOpenList || isOpenObject ? [place] : []), ...inside]
}
