import postgres from 'postgres'
import { arrayTypes } from './arrays.ts'
import { DatabaseError } from './errors.ts'
import { createFront } from './front.ts'
import type { Driver } from './session.ts'
import type { Sql } from './sql.ts'

export interface ConnectOptions {
  /** Most connections at once. */
  max?: number
  /** Shown in pg_stat_activity. */
  name?: string
}

const INT8 = 20
const NUMERIC = 1700

/** Words of libpq's URLs that postgres.js would send to the server, which refuses them. */
const CLIENT_ONLY = ['host', 'channel_binding', 'gssencmode']

/** libpq takes postgres://user@/database?host=…, the URL standard does not. */
const EMPTY_HOST = /^\w+:\/\/[^/?#]*@(?=[/?])/

/** A pool. Whole numbers that may outgrow a double (int8, numeric) are JS bigints in both directions. */
export function connect(url: string, { max = 10, name = 'referrer' }: ConnectOptions = {}): Sql {
  return createFront(configureDriver(url, name), max)
}

/** The driver with our settings; it connects by itself only to listen. */
export function configureDriver(url: string, name: string): Driver {
  const target = parseUrl(url)
  const driver = postgres(target.url, {
    ...(target.socketDirectory === undefined ? {} : { host: target.socketDirectory }),
    connect_timeout: 10,
    connection: {
      application_name: name,
      statement_timeout: 60_000,
      idle_in_transaction_session_timeout: 60_000,
    },
    types: {
      bigint: { to: INT8, from: [INT8], serialize: String, parse: BigInt },
      numeric: { to: NUMERIC, from: [NUMERIC], serialize: String, parse: wholeNumber },
      ...arrayTypes,
    },
    fetch_types: false,
    onnotice: () => {},
  })
  return driver as unknown as Driver
}

/** The URL of a server that listens on a unix socket, in libpq's spelling. */
export function socketUrl(directory: string, user: string, database: string): string {
  return `postgres://${encodeURIComponent(user)}@${encodeURIComponent(directory)}/${encodeURIComponent(database)}`
}

/** Reads a URL as libpq does, or says how to write one without repeating it: it may hold a password. */
export function readUrl(text: string): URL {
  try {
    const url = new URL(text.replace(EMPTY_HOST, '$&localhost'))
    // The driver decodes them, and fails without saying which URL it read.
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part)
    return url
  } catch {
    throw new DatabaseError(
      'The database URL cannot be read: write it as postgres://user:password@host:5432/database, with special characters of the password percent-encoded.',
    )
  }
}

/** Whether `connect` can read it. */
export function isDatabaseUrl(text: string): boolean {
  try {
    return /^postgres(ql)?:$/.test(readUrl(text).protocol)
  } catch {
    return false
  }
}

/** postgres.js takes a socket directory only as an option; libpq's URLs carry it as host or as ?host=. */
function parseUrl(text: string): { url: string; socketDirectory?: string } {
  const url = readUrl(text)
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname)
  for (const word of CLIENT_ONLY) url.searchParams.delete(word)
  if (!host.startsWith('/')) return { url: url.href }
  url.hostname = 'localhost'
  return { url: url.href, socketDirectory: host }
}

function wholeNumber(text: string): bigint {
  if (!/^-?\d+$/.test(text)) throw new RangeError(`numeric ${text} is not whole: round it or cast it to text`)
  return BigInt(text)
}
