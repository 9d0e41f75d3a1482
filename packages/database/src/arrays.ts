import type postgres from 'postgres'

/**
 * The driver learns arrays from every new connection by a query of its own, whose failure nobody catches: a connection that closed in that
 * moment ended the process. So it is told about them here, and asks nothing.
 */
interface Element {
  name: string
  /** Numbers that Postgres gave to the type and to its array; they never change. */
  type: number
  array: number
  read: (text: string) => unknown
  /** An element as it stands in the text of the array; without one it is quoted. */
  write?: (value: never) => string
}

const text = (value: string) => value
const time = (value: string) => new Date(value)
const isoTime = (value: Date | string) => quote(value instanceof Date ? value.toISOString() : value)
const json = {
  read: (value: string) => JSON.parse(value) as unknown,
  write: (value: unknown) => quote(JSON.stringify(value)),
}
/** Numbers need no quotes, and batches have thousands of them. */
const bare = (value: unknown) =>
  typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : quote(value)

const ELEMENTS: Element[] = [
  { name: 'bool', type: 16, array: 1000, read: (value) => value === 't', write: bare },
  {
    name: 'bytea',
    type: 17,
    array: 1001,
    read: (value) => Buffer.from(value.slice(2), 'hex'),
    write: (value: Uint8Array) =>
      `"\\\\x${(Buffer.isBuffer(value) ? value : Buffer.from(value)).toString('hex')}"`,
  },
  { name: 'int8', type: 20, array: 1016, read: BigInt, write: bare },
  { name: 'int2', type: 21, array: 1005, read: Number, write: bare },
  { name: 'int4', type: 23, array: 1007, read: Number, write: bare },
  { name: 'text', type: 25, array: 1009, read: text },
  { name: 'name', type: 19, array: 1003, read: text },
  { name: 'varchar', type: 1043, array: 1015, read: text },
  { name: 'uuid', type: 2950, array: 2951, read: text },
  { name: 'float4', type: 700, array: 1021, read: Number, write: bare },
  { name: 'float8', type: 701, array: 1022, read: Number, write: bare },
  { name: 'numeric', type: 1700, array: 1231, read: BigInt, write: bare },
  { name: 'timestamptz', type: 1184, array: 1185, read: time, write: isoTime },
  { name: 'json', type: 114, array: 199, ...json },
  { name: 'jsonb', type: 3802, array: 3807, ...json },
]

/** Arrays of the types that we use, for the driver's option `types`. */
export const arrayTypes: Record<string, postgres.PostgresType> = Object.fromEntries(
  ELEMENTS.map(({ name, array, read, write = quote }) => [
    `${name}Array`,
    {
      to: array,
      from: [array],
      serialize: (value: unknown) => (Array.isArray(value) ? writeArray(value, write as Write) : value),
      parse: (value: string) => readArray(value, read),
    },
  ]),
)

type Write = (value: unknown) => string

function writeArray(values: unknown[], write: Write): string {
  const elements = values.map((value) => {
    if (value === null) return 'NULL'
    return Array.isArray(value) ? writeArray(value, write) : write(value)
  })
  return `{${elements.join(',')}}`
}

function quote(value: unknown): string {
  const text = String(value)
  // To look first is quicker: hardly any text has one.
  return /["\\]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`
}

/** An element is a brace, a comma, a quoted text or a bare word. */
const TOKEN = /[{},]|"((?:[^"\\]|\\.)*)"|[^{},"]+/gsy

/** Reads what Postgres writes: `{1,NULL,"a \"b\"",{…}}`. */
export function readArray(written: string, read: (text: string) => unknown): unknown[] {
  // Bounds that do not begin at one stand before the braces: [0:1]={…}
  const tokens = written.slice(written.indexOf('{')).matchAll(TOKEN)
  const top: unknown[] = []
  const open = [top]
  for (const [token, quoted] of tokens) {
    const current = open.at(-1) ?? top
    if (token === '{') {
      const nested: unknown[] = []
      current.push(nested)
      open.push(nested)
    } else if (token === '}') open.pop()
    else if (quoted !== undefined) current.push(read(quoted.replace(/\\(.)/gs, '$1')))
    else if (token !== ',') current.push(token === 'NULL' ? null : read(token))
  }
  return top[0] as unknown[]
}
