import {
  declareDiscoveryExtension,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar'
import { describe, expect, it } from 'vitest'
import { toldIn } from './told.ts'

const option = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount: '25000',
  payTo: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
  maxTimeoutSeconds: 60,
  extra: {
    name: 'USDC',
    version: '2',
    authorizationType: 'ReceiveWithAuthorization',
    other: 'x'.repeat(99_999),
  },
}
const schema = { type: 'object', properties: { input: { type: 'object' } }, required: ['input'] }
const info = { input: { type: 'http', method: 'GET', queryParams: { city: 'Rome' } } }

const tell = (required: object, of: object = option) =>
  toldIn({ option: of as typeof option, required: { ...required } })
const declared = (bazaar: unknown) => tell({ extensions: { bazaar } }).bazaar
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) })

describe('what a 402 tells', () => {
  it('is how it is paid, with what buyers need to sign and nothing else', () => {
    expect(tell({}).payment).toEqual({
      payTo: option.payTo,
      maxTimeoutSeconds: 60,
      extra: { name: 'USDC', version: '2', authorizationType: 'ReceiveWithAuthorization' },
    })
  })

  it.each([
    ['no payee', { ...option, payTo: undefined }],
    ['no domain', { ...option, extra: {} }],
    ['a domain without end', { ...option, extra: { ...option.extra, name: 'x'.repeat(101) } }],
    ['a domain that cannot be stored', { ...option, extra: { ...option.extra, version: '\0' } }],
    ['years to pay', { ...option, maxTimeoutSeconds: 86_401 }],
    ['a payee that cannot be text', { ...option, payTo: { toString: 1, valueOf: 1 } }],
  ])('has no way to pay with %s', (_what, of) => {
    expect(tell({}, of)).toEqual({})
  })

  it('is what it is, in limits', () => {
    const tags = ['weather', 'weather', 'ü', 7, 'a', 'b', 'c', 'd', 'e', 'x'.repeat(33)]
    const resource = { description: 'Rain', mimeType: 'application/json', serviceName: 'Sky', tags }
    expect(tell({ resource })).toMatchObject({ ...resource, tags: ['weather', 'a', 'b', 'c', 'd'] })
    expect(tell({ resource: { description: 'ä'.repeat(5_000) } }).description).toBe('ä'.repeat(1_000))
    const cut = tell({ resource: { description: `${'x'.repeat(999)}🌧` } }).description
    expect(cut?.isWellFormed()).toBe(true)
  })

  it.each([
    { description: '\0', mimeType: 'text', serviceName: 'ü', tags: 'a' },
    { description: '\ud800', mimeType: 'text/html\n', serviceName: 'x'.repeat(33), tags: {} },
    { description: 7, mimeType: ['text/html'], serviceName: { toString: 1 }, tags: [{ toString: 1 }] },
  ])('leaves out what is not valid: %j', (resource) => {
    const { payment: _, ...rest } = tell({ resource })
    expect(rest).toEqual({})
  })
})

describe('a declaration', () => {
  it.each([
    [
      'a query',
      declareDiscoveryExtension({
        input: { city: 'Rome' },
        inputSchema: { properties: { city: { type: 'string' } } },
      }),
    ],
    ['an output', declareDiscoveryExtension({ output: { example: { degrees: 7 } } })],
    [
      'path parameters',
      declareDiscoveryExtension({
        pathParams: { id: '7' },
        pathParamsSchema: { properties: { id: { type: 'string' } } },
      }),
    ],
    [
      'a body',
      declareDiscoveryExtension({
        bodyType: 'json',
        input: { text: 'hi' },
        inputSchema: { properties: { text: { type: 'string' } } },
      }),
    ],
  ])('of the official package with %s is kept, with a method, and stays valid', (_what, { bazaar }) => {
    const kept = declared(bazaar)
    expect(kept).toMatchObject({ info: bazaar?.info })
    expect(kept?.info.input.method).toBe('bodyType' in (bazaar?.info.input ?? {}) ? 'POST' : 'GET')
    expect(validateDiscoveryExtension(kept as never)).toEqual({ valid: true })
    expect(validateDiscoveryExtensionSpec(kept as never)).toEqual({ valid: true })
  })

  it('with a body, which our GET has marked as a GET, is one of a POST', () => {
    const { bazaar } = declareDiscoveryExtension({ bodyType: 'json', input: { text: 'hi' } })
    const marked = structuredClone(bazaar) as unknown as {
      info: { input: object }
      schema: { properties: { input: { properties: object } } }
    }
    Object.assign(marked.info.input, { method: 'GET' })
    Object.assign(marked.schema.properties.input.properties, { method: { type: 'string', enum: ['GET'] } })
    const kept = declared(marked)
    expect(kept?.info.input).toMatchObject({ method: 'POST', body: { text: 'hi' } })
    expect(validateDiscoveryExtension(kept as never)).toEqual({ valid: true })
  })

  it('keeps the headers of the seller, and none that would choose a link, a buyer or a payment', () => {
    const headers = {
      'X-Key': 'k',
      'x-referrer-TOKEN': 'mine',
      'X-Referrer-Buyer-Agent-Id': '1',
      'X-PAYMENT': 'p',
      'Payment-Signature': 's',
      odd: 1,
      split: 'a\r\nb',
      'X-Referrer-Token ': 'mine',
      'a\r\nX-Referrer-Token': 'mine',
    }
    const properties = { 'X-Key': { type: 'string' }, 'X-Referrer-Token': { const: 'mine' } }
    const ofHeaders = {
      type: 'object',
      properties,
      required: ['X-Key', 'x-referrer-token', ' x-referrer-token', 7],
    }
    const input = { type: 'object', properties: { headers: ofHeaders } }
    const kept = declared({
      info: { input: { ...info.input, headers } },
      schema: { ...schema, properties: { input } },
    })
    expect(kept?.info.input.headers).toEqual({ 'X-Key': 'k' })
    expect(kept?.schema).toMatchObject({
      properties: {
        input: {
          properties: { headers: { properties: { 'X-Key': { type: 'string' } }, required: ['X-Key'] } },
        },
      },
    })
    expect(JSON.stringify(kept)).not.toMatch(/referrer|mine/i)
  })

  it('keeps a template of its path, if it is one', () => {
    expect(declared({ info, schema, routeTemplate: '/city/:name' })?.routeTemplate).toBe('/city/:name')
    for (const routeTemplate of ['', 'city', '/a/../b', '/%252e%252e/b', '/a://b', '/ä', '/%', 7, null]) {
      const kept = declared({ info, schema, routeTemplate })
      expect([routeTemplate, kept?.info, kept?.routeTemplate]).toEqual([routeTemplate, info, undefined])
    }
  })

  it.each<[string, unknown]>([
    ['is not there', undefined],
    ['is no object', [{ info, schema }]],
    ['has no schema', { info }],
    ['has a list as a schema', { info, schema: [] }],
    ['has null as a schema', { info, schema: null }],
    ['has no info', { schema }],
    ['has no input', { info: {}, schema: {} }],
    ['is for a tool', { info: { input: { type: 'mcp', toolName: 'x', inputSchema: {} } }, schema }],
    ['has a method that is none', { info: { input: { type: 'http', method: 'BREW' } }, schema }],
    [
      'has a method that cannot be text',
      { info: { input: { type: 'http', method: { toString: 1, valueOf: 1 } } }, schema },
    ],
    [
      'has a body of no kind',
      { info: { input: { type: 'http', bodyType: { toString: 1, valueOf: 1 } } }, schema },
    ],
    ['does not fit its schema', { info, schema: { ...schema, required: ['output'] } }],
    ['refers to another document', { info, schema: { ...schema, $ref: 'https://elsewhere.test/schema' } }],
    ['is too large', { info: { ...info, output: { example: 'x'.repeat(16 * 1024) } }, schema }],
    ['is too deep', { info: { ...info, output: nested(40) }, schema }],
    [
      'is endless',
      { info: { ...info, output: JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) }, schema },
    ],
    [
      'sets a prototype',
      { info: { ...info, output: JSON.parse('{"__proto__":{"polluted":true}}') }, schema },
    ],
    ['has text that Postgres cannot hold', { info: { ...info, output: '\0' }, schema }],
    [
      'takes millions of steps to compare',
      {
        info: { ...info, output: Array(3_000).fill(1) },
        schema: { properties: { output: { items: { type: [...Array(3_000).fill(1), 'number'] } } } },
      },
    ],
    [
      'takes millions of steps to compare, by what is required',
      {
        info: { ...info, output: Array(1_000).fill({ a: 1 }) },
        schema: { properties: { output: { items: { required: Array(1_500).fill('a') } } } },
      },
    ],
    ['has half a character', { info: { ...info, output: { '\ud800': 1 } }, schema }],
  ])('that %s is left out', (_what, bazaar) => {
    expect(tell({ extensions: { bazaar } })).toEqual(tell({}))
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  it.each([
    [{ type: ['object', 'null'] }, true],
    [{ type: 'array' }, false],
    [{ properties: { input: { properties: { method: { const: 'GET' } } } } }, true],
    [{ properties: { input: { properties: { method: { enum: ['POST'] } } } } }, false],
    [{ properties: { input: { additionalProperties: false } } }, false],
    [{ properties: { input: { additionalProperties: { type: ['string', 'object'] } } } }, true],
    [{ properties: { input: false } }, false],
    [{ properties: { input: 7 } }, false],
    [{ properties: { input: { properties: { queryParams: { required: ['town'] } } } } }, false],
    [
      {
        properties: { input: { properties: { queryParams: { properties: { city: { type: 'integer' } } } } } },
      },
      false,
    ],
  ])('is compared with its schema, as the official check does: %j', (about, isValid) => {
    const bazaar = { info, schema: about }
    expect([declared(bazaar) !== undefined, validateDiscoveryExtension(bazaar as never).valid]).toEqual([
      isValid,
      isValid,
    ])
  })

  it('may have long lists', () => {
    const cities = Array.from({ length: 1_000 }, (_, at) => `c${at}`)
    const output = { type: 'array', items: { type: 'string' } }
    const input = { properties: { queryParams: { properties: { city: { enum: ['Rome', ...cities] } } } } }
    const bazaar = {
      info: { ...info, output: cities.slice(0, 500) },
      schema: { properties: { input, output } },
    }
    expect(declared(bazaar)).toBeDefined()
  })

  it('does not run the regular expressions of a seller, nor follow references', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `d${at}`,
        { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
      ]),
    )
    const city = { type: 'string', pattern: '^(a+)+$' }
    const properties = { input: { properties: { queryParams: { properties: { city } } } } }
    const input = { ...info.input, queryParams: { city: `${'a'.repeat(60)}!` } }
    expect(declared({ info: { input }, schema: { $ref: '#/$defs/d0', $defs, properties } })).toBeDefined()
  })
})
