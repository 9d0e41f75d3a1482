// Requests of every kind: good ones, and good ones with something broken.
import fc from 'fast-check'
import type { Operation } from './documented.ts'
import type { RawRequest } from './raw.ts'
import type { Example } from './traded.ts'

/** Who a request says it is from. */
export type Credential =
  | 'right'
  | 'none'
  | 'another account'
  | 'session'
  | 'admin session'
  | 'garbage signature'
  | 'garbage token'
  | 'old timestamp'
  | 'both'

export interface Drawn extends RawRequest {
  credential: Credential
  /** Seconds from now, for the timestamp. */
  skew: number
}

const weighted = <T>(...options: [weight: number, arbitrary: fc.Arbitrary<T>][]) =>
  fc.oneof(...options.map(([weight, arbitrary]) => ({ weight, arbitrary })))

// Text of paths and queries, as it stands there.

const BROKEN_TEXT = [
  ...[
    '-1',
    '0',
    '1.5',
    '1e3',
    '0x1',
    '+1',
    '-0',
    '007',
    '9007199254740991',
    '9007199254740992',
    '9'.repeat(400),
  ],
  ...[
    'true',
    'TRUE',
    'nan',
    'null',
    'undefined',
    '0x',
    `0x${'ab'.repeat(32)}`,
    'ab'.repeat(32),
    `0x${'1'.repeat(40)}`,
  ],
  ...['2026-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59-12:00', '2026-02-30T00:00:00Z'],
  ...[
    '%00',
    'a%00b',
    '%ED%A0%80',
    '%FF%FE',
    '%F0%9F%98%80',
    '%E2%80%AE',
    '%0D%0A',
    "'%3B--",
    '%25',
    '..',
    '%2e%2e%2f',
  ],
]

const text = (known: string[]) =>
  weighted(
    [5, fc.constantFrom(...known)],
    [5, fc.constantFrom(...BROKEN_TEXT)],
    [1, fc.integer().map(String)],
    [1, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map(encodeURIComponent)],
  )

// JSON, as text: much of what is wrong cannot be written by a serialiser.

const deep = (open: string, close: string, levels: number) => `${open.repeat(levels)}0${close.repeat(levels)}`

const BROKEN_JSON = [
  ...['null', 'true', '0', '-0', '-1', '1.0', '1.5', '1e400', '9007199254740991', '9007199254740993', '1e21'],
  ...[
    '""',
    '"0"',
    '" "',
    '"\\u0000"',
    '"\\ud800"',
    '"\\udc00x"',
    '"😀"',
    '"<script>"',
    '"\\u202e"',
    `"${'x'.repeat(70_000)}"`,
  ],
  ...[
    '[]',
    '[1]',
    '[null]',
    '{}',
    '{"a":1}',
    '{"__proto__":{"a":1}}',
    deep('[', ']', 500),
    deep('{"a":', '}', 5_000),
  ],
  ...[
    '"javascript:alert(1)"',
    '"http://127.0.0.1:1/"',
    '"http://[::1]/"',
    '"https://user:pass@shop.test/"',
    '"//x"',
  ],
  ...[
    `"0x${'ab'.repeat(32)}"`,
    `"${'AB'.repeat(32)}"`,
    `"0x${'ab'.repeat(31)}"`,
    '"{\\"rating\\":5,\\"description\\":\\"x\\"}"',
  ],
]

const BROKEN_BODIES: (string | Uint8Array)[] = [
  ...[
    '',
    ' ',
    'null',
    '[]',
    '{',
    '}',
    '{}',
    '"x"',
    '1',
    'NaN',
    '{"a":}',
    "{'a':1}",
    '{"a":1,}',
    'a=1&b=2',
    '\ufeff{}',
  ],
  ...[deep('[', ']', 100_000), deep('{"a":', '}', 20_000), '{"a":1}{"a":2}', '{"agent_id":1,"agent_id":-1}'],
  ...[
    Buffer.from([0xff, 0xfe, 0x00]),
    Buffer.from('{"a":"\xe9"}', 'latin1'),
    Buffer.from([0x7b, 0x7d, 0x00]),
  ],
]

const HEADERS: [string, string][][] = [
  [],
  [['accept', 'text/html']],
  [['accept-encoding', 'br;q=x']],
  [['content-encoding', 'gzip']],
  [['if-none-match', '*']],
  [['range', 'bytes=0-1']],
  [['origin', 'null']],
  [['origin', 'https://elsewhere.test']],
  [['x-request-id', 'x'.repeat(300)]],
  [['x-forwarded-for', 'nonsense, ::1, 1.2.3.4']],
  [['x-http-method-override', 'DELETE']],
  [
    ['cookie', 'a=b; a=c'],
    ['cookie', ''],
  ],
  [['x-agent-timestamp', '1']],
  [['authorization', 'Bearer']],
]

const CONTENT_TYPES = [
  ...['text/plain', 'application/json; charset=latin1', 'multipart/form-data; boundary=x', 'application/xml'],
  ...['nonsense', '', '/', 'application/x-www-form-urlencoded'],
]

const CREDENTIALS = fc.constantFrom<Credential>(
  'right',
  'none',
  'another account',
  'session',
  'admin session',
  'garbage signature',
  'garbage token',
  'old timestamp',
  'both',
)

/** Something that a request has, as it should be and as it could be. */
interface Part<T> {
  good: T
  any: fc.Arbitrary<T>
}

/** In three of four requests one part alone is drawn and all others are good: what is wrong with one must not hide what is with another. */
function oneOrAll<T>(parts: Record<string, Part<T>>): fc.Arbitrary<Record<string, T>> {
  const names = Object.keys(parts)
  const entries = Object.entries(parts)
  const focus = weighted<string | undefined>([3, fc.constantFrom(...names)], [1, fc.constant(undefined)])
  const all = fc.tuple(...entries.map(([, { any }]) => any))
  return fc
    .tuple(focus, all)
    .map(([focused, drawn]) =>
      Object.fromEntries(
        entries.map(([name, { good }], at) => [
          name,
          focused === undefined || focused === name ? (drawn[at] as T) : good,
        ]),
      ),
    )
}

type Value = string | undefined | Uint8Array | readonly string[] | readonly (readonly [string, string])[]

/** `known`: ids of the market, of all kinds together. */
export function requests(
  { method, path, parameters, hasBody }: Operation,
  example: Example,
  known: string[],
): fc.Arbitrary<Drawn> {
  const good = new URL(example.path, 'http://x')
  const goodParts = good.pathname.split('/')
  const goodBody = hasBody ? Object.entries(example.body ?? {}) : []
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')

  const parts: Record<string, Part<Value>> = {
    method: { good: method, any: fc.constantFrom(method, method === 'GET' ? 'HEAD' : method) },
    credential: { good: 'right', any: CREDENTIALS },
    headers: { good: [], any: fc.constantFrom(...HEADERS) },
    contentType: { good: 'application/json', any: fc.constantFrom(...CONTENT_TYPES) },
    moreQuery: { good: [], any: fc.constantFrom([], ['x=1'], ['&&=&'], ['%'], ['__proto__=1']) },
    moreBody: {
      good: [],
      any: fc.constantFrom(['"x":1'], ['"__proto__":{"agent_id":1}'], ['"constructor":null']),
    },
    body: {
      good: undefined,
      any: hasBody
        ? fc.constantFrom(undefined, ...BROKEN_BODIES)
        : fc.constantFrom(undefined, undefined, '', '{}', 'x', '\0'),
    },
  }
  path.split('/').forEach((part, at) => {
    if (part.startsWith('{')) parts[`path ${at}`] = { good: goodParts[at] ?? '', any: text(known) }
  })
  for (const { name, schema } of inQuery) {
    const own = good.searchParams.get(name)
    const allowed = ((schema.enum as unknown[]) ?? []).map(String)
    const one = text([...known, ...allowed]).map((value) => `${name}=${value}`)
    parts[`query ${name}`] = {
      good: own === null ? [] : [`${name}=${own}`],
      any: weighted<string[]>(
        [10, one.map((pair) => [pair])],
        [1, fc.tuple(one, one)],
        [2, fc.constantFrom([], [name], [`${name}=`], [`${name}[]=1`])],
      ),
    }
  }
  for (const [key, value] of goodBody) {
    parts[`body ${key}`] = {
      good: JSON.stringify(value),
      any: weighted<string | undefined>(
        [2, fc.constant(undefined)],
        [5, fc.constantFrom(...BROKEN_JSON)],
        [typeof value === 'number' ? 5 : 0, fc.constantFrom(...known.filter((text) => /^\d+$/.test(text)))],
        [1, fc.json({ maxDepth: 2 })],
      ),
    }
  }

  return fc.tuple(oneOrAll(parts), fc.integer({ min: -50, max: 50 })).map(([drawn, skew]) => {
    const pathname = goodParts.map((part, at) => drawn[`path ${at}`] ?? part).join('/')
    const search = [...inQuery.map(({ name }) => drawn[`query ${name}`]), drawn.moreQuery].flat().join('&')
    const fields = goodBody.flatMap(([key]) => {
      const value = drawn[`body ${key}`]
      return value === undefined ? [] : [`${JSON.stringify(key)}:${value}`]
    })
    const body = drawn.body ?? (hasBody ? `{${[...fields, drawn.moreBody].flat().join(',')}}` : undefined)
    const headers = drawn.headers as readonly (readonly [string, string])[]
    return {
      method: String(drawn.method),
      path: `${pathname}${search ? `?${search}` : ''}`,
      headers:
        body === undefined ? headers : [...headers, ['content-type', String(drawn.contentType)] as const],
      ...(body !== undefined && { body: body as string | Uint8Array }),
      credential: drawn.credential as Credential,
      skew,
    }
  })
}
