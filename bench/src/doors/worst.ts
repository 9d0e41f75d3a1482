// The worst that a door lets somebody send: what is as large as it may be, by each of the measures that code may depend on.
export type Json = Record<string, unknown>

export interface Room {
  bytes: number
  values: number
}

export interface Worst {
  what: string
  /** JSON. */
  text: string
}

/** Parts of JSON text for one place; `bytes` and `values` are what is left for it. */
function fillings({ bytes, values }: Room): Worst[] {
  const all = (what: string, one: (at: number) => string, [open, close]: [string, string], most: number) => {
    const parts: string[] = []
    let length = 2
    for (let at = 0; at < most; at += 1) {
      const part = one(at)
      length += Buffer.byteLength(part) + 1
      if (length > bytes) break
      parts.push(part)
    }
    return { what, text: open + parts.join(',') + close }
  }
  const string = (what: string, unit: string, most = bytes) => ({
    what,
    text: `"${unit.repeat(Math.floor((most - 2) / Buffer.byteLength(unit)))}"`,
  })
  const keyed = (value: string) => (at: number) => `"${at.toString(36)}":${value}`
  const content = all('', (at) => `"k${at}":{"a":1}`, ['{"rating":4,"description":"d",', '}'], 1_200).text
  return [
    all('keys', keyed('1'), ['{', '}'], values),
    all('keys of empty texts', keyed('""'), ['{', '}'], values),
    all('keys of objects', keyed('{}'), ['{', '}'], values / 2),
    all('entries', () => '0', ['[', ']'], values),
    all('entries of objects', () => '{}', ['[', ']'], values / 2),
    all('one too many keys', keyed('1'), ['{', '}'], Number.POSITIVE_INFINITY),
    { what: 'levels', text: '['.repeat(values / 2) + ']'.repeat(values / 2) },
    string('a long text', 'x'),
    string('accents', 'a\u0301'),
    string('pictures', '\u{1f600}'),
    string('escapes', '\\u0000'),
    string('a ref link', 'https://a.example/r/'),
    string('hex', '0123456789abcdef'),
    string('words', 'weather forecast '),
    { what: 'digits', text: '9'.repeat(bytes) },
    { what: 'JSON in a text', text: JSON.stringify(content.slice(0, 16_000)) },
    { what: 'a review', text: JSON.stringify(content) },
  ]
}

/** Schemas with what they refer to in place. */
export function whole(schema: unknown, schemas: Json, depth = 0): Json {
  if (Array.isArray(schema)) return schema.map((each) => whole(each, schemas, depth)) as unknown as Json
  if (typeof schema !== 'object' || schema === null || depth > 20) return schema as Json
  const { $ref, ...rest } = schema as Json
  const named = typeof $ref === 'string' ? schemas[$ref.split('/').at(-1) ?? ''] : undefined
  return {
    ...(named ? whole(named, schemas, depth + 1) : {}),
    ...Object.fromEntries(
      Object.entries(rest).map(([key, value]) => [key, whole(value, schemas, depth + 1)]),
    ),
  }
}

const HASH = `0x${'47'.repeat(32)}`
const ACCOUNT = `0x${'5a'.repeat(20)}`

/** A value that matches the schema, as far as one can say. `isLargest`: with all that is optional, and each part as large as it may be. */
export function sampleOf(schema: Json = {}, isLargest = false): unknown {
  const { type, enum: values, examples, minimum = 1, required = [], properties = {}, items } = schema
  const [branch] = (schema.anyOf ?? schema.oneOf ?? []) as Json[]
  if (branch) return sampleOf(branch, isLargest)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(examples)) return examples[0]
  switch (Array.isArray(type) ? type[0] : type) {
    case 'integer':
    case 'number':
      return minimum
    case 'boolean':
      return false
    case 'array': {
      const count = Number((isLargest ? schema.maxItems : schema.minItems) ?? 1)
      return Array.from({ length: count }, () => sampleOf(items as Json, isLargest))
    }
    case 'string': {
      const pattern = String(schema.pattern ?? '')
      if (pattern.includes('{64}')) return HASH
      if (pattern.includes('{40}')) return ACCOUNT
      if (pattern.includes('9]')) return '1'
      if (schema.format === 'uri') return 'https://a.example/'
      return '\u{1f600}'.repeat(Number((isLargest ? schema.maxLength : schema.minLength) ?? 1))
    }
    case 'object': {
      const names = isLargest ? Object.keys(properties as Json) : (required as string[])
      return Object.fromEntries(
        names.map((name) => [name, sampleOf((properties as Json)[name] as Json, isLargest)]),
      )
    }
    default:
      return null
  }
}

/** What is left for a part beside the rest of a body. */
const ENVELOPE = { bytes: 4_000, values: 40 }

/** The worst bodies of a schema: as a whole, and in each of its fields beside valid others. */
export function worstOf(schema: Json, room: Room): Worst[] {
  const inside = { bytes: room.bytes - ENVELOPE.bytes, values: room.values - ENVELOPE.values }
  const base = sampleOf(schema)
  const found: Worst[] = [
    { what: 'valid', text: JSON.stringify(base) },
    { what: 'the largest of each field', text: JSON.stringify(sampleOf(schema, true)) },
    { what: 'one byte too many', text: ' '.repeat(room.bytes + 1) },
    ...fillings({ bytes: room.bytes - 10, values: room.values }),
  ]
  // Of a body that may be this large, the part that it is for is the one without bounds of its own.
  const places = fieldsOf(schema).filter(([name]) => room.bytes <= MOST_OF_EACH || isOpen(schema, name))
  for (const path of places) {
    for (const { what, text } of fillings(inside)) {
      found.push({ what: `${what} in ${path.join('.')}`, text: placed(base, path, text) })
    }
  }
  return found.filter(({ text }) => Buffer.byteLength(text) <= room.bytes + 1)
}

const MOST_OF_EACH = 256 * 1_024
const isOpen = ({ properties = {} }: Json, name = '') => Object((properties as Json)[name]).type === 'object'

function fieldsOf(schema: Json, above: string[] = []): string[][] {
  const { properties = {} } = schema as { properties?: Json }
  return Object.entries(properties).flatMap(([name, part]) => {
    const path = [...above, name]
    return [path, ...(above.length < 1 ? fieldsOf(part as Json, path) : [])]
  })
}

const MARK = '\u0001here\u0001'

/** JSON text of the base with this text at the path. */
function placed(base: unknown, path: string[], text: string): string {
  const [first = '', ...rest] = path
  const object = { ...(Object(base) as Json) }
  const inner = (value: unknown, [name, ...more]: string[]): unknown =>
    name === undefined ? MARK : { ...(Object(value) as Json), [name]: inner(Object(value)[name], more) }
  object[first] = inner(object[first], rest)
  return JSON.stringify(object).replace(JSON.stringify(MARK), () => text)
}

/** Most bytes of a request's target: a server takes 16 KiB of headers. */
const TARGET_BYTES = 12_000

/** The worst targets of a route that is read. */
export function worstTargets(path: string, query: readonly { name: string; schema: Json }[]): Worst[] {
  const ids = path.replaceAll(/\{(\w+)\}/g, (_, name) => (/product|category/.test(name) ? HASH : '1'))
  const usual = query.map(({ name, schema }) => [name, nameOf(schema)] as const)
  const most = usual.map(([name, value]) => [name, /limit|max_/.test(name) ? '500' : value] as const)
  const found: Worst[] = [
    { what: 'valid', text: ids },
    {
      what: 'as many as there may be',
      text: `${ids}?${new URLSearchParams(most as unknown as [string, string][])}`,
    },
    { what: 'many parameters', text: `${ids}?${'a=1&'.repeat(TARGET_BYTES / 4)}` },
  ]
  if (path.includes('{')) {
    for (const [what, text] of TEXTS)
      found.push({ what: `${what} in the path`, text: path.replaceAll(/\{\w+\}/g, text) })
  }
  for (const { name } of query) {
    for (const [what, text] of TEXTS) {
      const others = new URLSearchParams(
        usual.filter(([other]) => other !== name) as unknown as [string, string][],
      )
      found.push({ what: `${what} as ${name}`, text: `${ids}?${others}&${name}=${text}` })
    }
    found.push({
      what: `${name} again and again`,
      text: `${ids}?${`${name}=1&`.repeat(TARGET_BYTES / (name.length + 3))}`,
    })
  }
  return found
}

const nameOf = (schema: Json) => {
  const value = sampleOf(schema)
  return typeof value === 'object' ? '1' : String(value)
}

const TEXTS = [
  ['a long text', 'x'.repeat(TARGET_BYTES)],
  ['digits', '9'.repeat(TARGET_BYTES)],
  ['links', 'https://a.example/r/'.repeat(TARGET_BYTES / 20)],
  ['accents', encodeURIComponent('a\u0301').repeat(TARGET_BYTES / 7)],
  ['words', 'weather+forecast+for+cities+'.repeat(TARGET_BYTES / 28)],
  [
    'different words',
    Array.from({ length: 2_000 }, (_, at) => (at * 7_919).toString(36))
      .join('+')
      .slice(0, TARGET_BYTES),
  ],
] as const
