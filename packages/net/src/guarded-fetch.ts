// Fetches URLs of third parties without server-side request forgery: a host is resolved once, all of its addresses must be public, and the
// connection goes to one of the checked addresses. No redirect is followed and no proxy is used.
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import * as http from 'node:http'
import * as https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { hostOf, isAllowedAddress } from './addresses.ts'
import type { Lookup } from './lookup.ts'
import { createTurns, siteOf } from './turns.ts'

/** The host is not on the public internet, or does not resolve. */
export class HostNotAllowed extends Error {
  override readonly name = 'HostNotAllowed'
}

/** No usable answer. The message gives a short reason and contains nothing from the host. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** Which hosts a fetch may reach, and how it resolves them. */
export interface Reach {
  /** Whether hosts may be on this machine (loopback only, no other interface). Only for a sandbox. */
  allowPrivateHosts: boolean
  /** The URL comes from our own configuration, so it may be in our private network. */
  isOurs?: boolean
  lookup: Lookup
}

export interface GuardedFetchOptions {
  headers?: Record<string, string>
  /** The body of a POST; without it the request is a GET. */
  body?: string
  /** The time-out of the whole request, from the DNS lookup to the last byte. */
  timeoutMs?: number
  /** A longer body counts as no usable answer, unless `cuts`. What is around it, such as headers, has its own bound. */
  maxBytes?: number
  /** Whether a longer body is cut, for callers to whom the status is the answer. */
  cuts?: boolean
  /** Aborts the request, which then throws `Unreachable`. */
  signal?: AbortSignal
}

export interface Fetched {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

/** What a host may send beside the body: interim answers, headers, the frame of chunks, trailers. */
const MOST_AROUND = 128 * 1024

type Resolved = { address: string; family: number }

/** Gets a URL, or posts to it. Throws `HostNotAllowed` or `Unreachable`. */
export async function guardedFetch(
  reach: Reach,
  url: URL,
  {
    headers = {},
    body: posted,
    timeoutMs = 5_000,
    maxBytes = 256 * 1024,
    cuts = false,
    signal: end,
  }: GuardedFetchOptions = {},
): Promise<Fetched> {
  const flood = new AbortController()
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), flood.signal, ...(end ? [end] : [])])
  const addresses = await checkedAddresses(reach, url, signal)
  const options = {
    agent: false,
    lookup: answering(addresses),
    rejectUnauthorized: true,
    signal,
    method: posted === undefined ? 'GET' : 'POST',
    headers: {
      'user-agent': 'referrer',
      accept: 'application/json',
      ...headers,
      'accept-encoding': 'identity',
    },
  }
  try {
    let left = MOST_AROUND
    const count = (bytes: Buffer) => {
      left -= bytes.length
      if (left < 0) flood.abort()
    }
    const response = await request(url, options, { count, posted })
    left += maxBytes
    const body = await read(response, maxBytes, cuts)
    // A body without a length ends when the connection closes; the time-out closes it too, which must not look like the end.
    signal.throwIfAborted()
    return { status: response.statusCode ?? 0, headers: response.headers, body }
  } catch (error) {
    if (error instanceof Unreachable) throw error
    const reason = flood.signal.aborted ? `more than ${maxBytes} bytes` : reasonOf(error)
    throw new Unreachable(reason, { cause: error })
  }
}

async function checkedAddresses(
  { allowPrivateHosts, isOurs = false, lookup }: Reach,
  url: URL,
  signal: AbortSignal,
): Promise<Resolved[]> {
  const isWeb = url.protocol === 'http:' || url.protocol === 'https:'
  if (!isWeb || url.username || url.password)
    throw new HostNotAllowed('only http and https without credentials')
  const host = hostOf(url)
  const addresses = isIP(host) ? [host] : await resolve(lookup, url, signal)
  const beside = allowPrivateHosts ? 'loopback' : 'public'
  const isAllowed = (address: string) =>
    isOurs ? isAllowedAddress(address, 'network') : isAllowedAddress(address, beside, lookup.denied)
  if (addresses.length === 0 || !addresses.every(isAllowed)) throw new HostNotAllowed(`${host} is not public`)
  return addresses.map((address) => ({ address, family: isIP(address) }))
}

/** Limits the concurrent lookups of one resolver, so that names without an answer do not pile up. */
const AT_ONCE = 128
/** Of these, names of one site: its name server may be silent. */
const OF_SITE = 8
const newTurns = () => createTurns(AT_ONCE, { site: OF_SITE })
const turns = new WeakMap<Lookup, ReturnType<typeof newTurns>>()

function turnsOf(lookup: Lookup): ReturnType<typeof newTurns> {
  const known = turns.get(lookup) ?? newTurns()
  turns.set(lookup, known)
  return known
}

async function resolve(lookup: Lookup, url: URL, signal: AbortSignal): Promise<string[]> {
  const host = hostOf(url)
  let giveUp = () => {}
  const late = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason)
  })
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    const ask = async () => {
      signal.throwIfAborted()
      return lookup(host)
    }
    const turn = turnsOf(lookup)(ask, { site: siteOf(url) })
    return (await Promise.race([turn, late])).map(({ address }) => address)
  } catch (error) {
    throw new HostNotAllowed(`${host} cannot be resolved`, { cause: error })
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** The lookup function of the connection: returns the checked address, so that no second resolution can change it. */
const answering =
  (addresses: Resolved[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses as [Resolved]
    if (all) callback(null, addresses)
    else callback(null, first.address, first.family)
  }

/** `count` gets all that the host sends, before it is parsed. */
function request(
  url: URL,
  options: RequestOptions,
  { count, posted }: { count: (bytes: Buffer) => void; posted: string | undefined },
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = (url.protocol === 'https:' ? https : http).request(url, options, resolve)
    sent.on('socket', (socket) => socket.prependListener('data', count))
    sent.on('error', reject)
    sent.on('close', () => reject(new Error('closed without an answer')))
    sent.end(posted)
  })
}

async function read(response: IncomingMessage, maxBytes: number, cuts: boolean): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    chunks.push(chunk)
    // Leaving the loop closes the connection.
    if (length > maxBytes && cuts) break
    if (length > maxBytes) throw new Unreachable(`more than ${maxBytes} bytes`)
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}

const TLS_CODE =
  /^(?:ERR_TLS|ERR_SSL|EPROTO|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HOSTNAME_MISMATCH|INVALID_CA)/

function reasonOf(error: unknown): string {
  const { name, code = '' } = error as { name: string; code?: string }
  if (name === 'AbortError' || name === 'TimeoutError') return 'timed out'
  if (code === 'ECONNREFUSED') return 'connection refused'
  if (code.startsWith('HPE_')) return 'no valid HTTP'
  return TLS_CODE.test(code) ? 'no valid TLS' : 'connection failed'
}
