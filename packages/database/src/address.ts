import { DatabaseError } from './errors.ts'

/** One server: a name or an IP address, or the directory of a unix socket, which begins with a slash. */
export interface Host {
  name: string
  port: number
}

/** What a database URL says, read as libpq does. */
export interface Address {
  /** Names the first server only, without the words that are meant for the client. */
  url: URL
  hosts: readonly [Host, ...Host[]]
  /** Whether only a server that takes writes will do: so unless said otherwise when there are several. */
  isWritten: boolean
}

const DEFAULT_PORT = 5432
const SHAPE = /^(\w+:\/\/)((?:.*@)?)([^@/?#]*)(.*)$/s
const HOST = /^(\[[^\]]+\]|[^:]*)(?::(\d{1,5})?)?$/
const ATTRIBUTES = ['any', 'read-write', 'primary']

/** Words of libpq's URLs that postgres.js would send to the server, which refuses them, or understand otherwise. */
const CLIENT_ONLY = ['host', 'port', 'channel_binding', 'gssencmode', 'target_session_attrs']

/** Reads a URL as libpq does, or says how to write one without repeating it: it may hold a password. */
export function readAddress(text: string): Address {
  try {
    return read(text)
  } catch (error) {
    if (error instanceof DatabaseError) throw error
    throw new DatabaseError(
      'The database URL cannot be read: write it as postgres://user:password@host:5432/database, with special characters of the password percent-encoded.',
    )
  }
}

function read(text: string): Address {
  const [, scheme = '', user = '', authority = '', rest = ''] = SHAPE.exec(text) ?? []
  const places = authority.split(',')
  // libpq takes postgres://user@/database?host=…, the URL standard does not.
  const url = new URL(`${scheme}${user}${places[0] || 'localhost'}${rest}`)
  // The driver decodes them, and fails without saying which URL it read.
  for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part)
  const attributes = url.searchParams.get('target_session_attrs')
  if (attributes !== null && !ATTRIBUTES.includes(attributes)) {
    throw new DatabaseError(
      `The database URL asks for a ${attributes} server: target_session_attrs is ${ATTRIBUTES.join(', ')} here; replicas for reads have a setting of their own.`,
    )
  }
  const hosts = hostsOf(places, url.searchParams)
  for (const word of CLIENT_ONLY) url.searchParams.delete(word)
  const isWritten = attributes === null ? hosts.length > 1 : attributes !== 'any'
  return { url, hosts, isWritten }
}

/** Those of `?host=…&port=…` win; one port there counts for all. */
function hostsOf(places: string[], words: URLSearchParams): [Host, ...Host[]] {
  const ports = words.get('port')?.split(',') ?? []
  const named = words.get('host')?.split(',')
  const hosts = (named ?? places).map((place, at) => {
    const [name, port] = named ? [place, undefined] : partsOf(place)
    const number = Number(port || (ports.length === 1 ? ports[0] : ports[at]) || DEFAULT_PORT)
    if (!Number.isInteger(number) || number < 1 || number > 65_535) throw new RangeError('not a port')
    return { name: name || 'localhost', port: number }
  })
  if (ports.length > 1 && ports.length !== hosts.length) throw new RangeError('a port for each host')
  const [first, ...others] = hosts
  return [first as Host, ...others]
}

function partsOf(place: string): [string, string | undefined] {
  const [, name, port] = HOST.exec(place) ?? []
  if (name === undefined) throw new RangeError('not a host')
  return [decodeURIComponent(name).replace(/^\[(.*)\]$/, '$1'), port]
}

/** Whether `connect` can read it. */
export function isDatabaseUrl(text: string): boolean {
  try {
    return /^postgres(ql)?:$/.test(readAddress(text).url.protocol)
  } catch {
    return false
  }
}

/** The URL of a server that listens on a unix socket, in libpq's spelling. */
export function socketUrl(directory: string, user: string, database: string): string {
  return `postgres://${encodeURIComponent(user)}@${encodeURIComponent(directory)}/${encodeURIComponent(database)}`
}

/** One URL for the same database on several servers. */
export function hostsUrl(urls: readonly string[]): string {
  const [first = ''] = urls
  const places = urls.map((url) => SHAPE.exec(url)?.[3] ?? '')
  return first.replace(SHAPE, (_, scheme, user, _place, rest) => `${scheme}${user}${places.join(',')}${rest}`)
}

/** The URL of another database on the same servers. */
export function databaseUrl(url: string, database: string): string {
  return url.replace(SHAPE, (_, scheme, user, places, rest: string) => {
    const words = rest.replace(/^\/[^?#]*/, '')
    return `${scheme}${user}${places}/${encodeURIComponent(database)}${words}`
  })
}

/** How people write a server. */
export const placeOf = ({ name, port }: Host): string =>
  name.startsWith('/') ? name : `${name.includes(':') ? `[${name}]` : name}:${port}`
