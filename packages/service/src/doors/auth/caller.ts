import type { IncomingHttpHeaders } from 'node:http'
import { RequestSignature } from '@referrer/protocol'
import type { Address, Hex } from 'viem'
import type { Config } from '../../kit/config.ts'
import { type Context, once } from '../../kit/context.ts'
import type { Auth } from '../../kit/route.ts'
import { type Asked, cookieToken, isFromConsole } from './cookie.ts'
import { replayGuard, type SignedRequest } from './replays.ts'
import { type Holder, sessionOf, TOKEN } from './sessions.ts'

/** The credentials are missing or not valid; the message says why. */
export class Unauthenticated extends Error {
  override readonly name = 'Unauthenticated'
}

export type Credentials = { token: string } | RequestSignature.RequestSignature

const BEARER = /^Bearer +([\w-]+)$/i
/** Reads have no replay protection: repeating one does no harm, and two reads in the same second have the same signature. */
const READS = new Set(['GET', 'HEAD'])

/**
 * Reads the credentials from the headers: a session token, else a signature, else the cookie of the console. Undefined when the body may
 * hold them.
 */
export function readCredentials(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  asked: Asked,
  wanted: Exclude<Auth, 'none'>,
): Credentials | undefined {
  const { headers } = asked
  if (wanted === 'sign-in') return signInOf(headers, clock())
  if (wanted === 'console') return cookieOfConsole(config, asked)
  if (headers.authorization !== undefined) {
    const token = BEARER.exec(headers.authorization)?.[1]
    if (!token || !TOKEN.test(token)) throw new Unauthenticated('bad session token')
    return { token }
  }
  const token = isSigned(headers) || !isFromConsole(config, asked) ? undefined : cookieToken(config, headers)
  if (token) return { token }
  if (wanted === 'session' || wanted === 'admin') throw new Unauthenticated('session token required')
  return signatureOf(headers, clock())
}

/** The cookie of a route for our own pages only, which may have none yet. */
function cookieOfConsole(config: Config, asked: Asked): Credentials | undefined {
  if (!isFromConsole(config, asked)) {
    throw new Unauthenticated('only pages of this site may call this; programs use /v1/auth/session')
  }
  const token = cookieToken(config, asked.headers)
  return token === undefined ? undefined : { token }
}

const isSigned = (headers: IncomingHttpHeaders) =>
  headers[TIMESTAMP] !== undefined || headers[SIGNATURE] !== undefined

/** Reads the credentials of a sign-in. A session token does not count, because a session that opens another would never end. */
function signInOf(
  headers: IncomingHttpHeaders,
  nowMs: number,
): RequestSignature.RequestSignature | undefined {
  if (isSigned(headers)) return signatureOf(headers, nowMs)
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  if (hasBody) return undefined
  throw new Unauthenticated(
    'sign in with a message of EIP-4361 and a nonce of /v1/auth/nonce, or sign a request: with the body {"domain": "<our host>"}, or with none to read only',
  )
}

function signatureOf(headers: IncomingHttpHeaders, nowMs: number): RequestSignature.RequestSignature {
  const timestamp = headers[TIMESTAMP]
  const signature = headers[SIGNATURE]
  if (timestamp === undefined || signature === undefined) throw new Unauthenticated('signature required')
  let given: RequestSignature.RequestSignature
  try {
    given = RequestSignature.parse({ get: (name) => String(headers[name.toLowerCase()]) })
  } catch {
    throw new Unauthenticated(DIGITS.test(String(timestamp)) ? 'bad signature' : 'bad timestamp')
  }
  requireWithinWindow(given, nowMs)
  return given
}

function requireWithinWindow({ timestamp }: RequestSignature.RequestSignature, nowMs: number): void {
  if (!RequestSignature.isWithinWindow(timestamp, Math.floor(nowMs / 1_000))) {
    throw new Unauthenticated('timestamp out of range')
  }
}

const TIMESTAMP = RequestSignature.TIMESTAMP_HEADER.toLowerCase()
const SIGNATURE = RequestSignature.SIGNATURE_HEADER.toLowerCase()
const DIGITS = /^\d+$/

/** Authenticates a request. A signed request that is not a read is accepted once, across all replicas. */
export async function identify(
  context: Context,
  credentials: Credentials,
  request: SignedRequest,
): Promise<Holder> {
  if ('token' in credentials) {
    const holder = await sessionOf(context, credentials.token)
    if (!holder) throw new Unauthenticated('unknown or expired session')
    return holder
  }
  // Checked again, because a slow body could arrive after the replay guard has forgotten the request.
  requireWithinWindow(credentials, context.clock())
  const body = READS.has(request.method) ? EMPTY : request.body
  const signer = await recover(context, { ...credentials, body })
  if (!READS.has(request.method) && !(await guardOf(context)(signer, credentials.timestamp, request))) {
    throw new Unauthenticated('replayed request')
  }
  return { address: signer, chainId: undefined, mayOnlyRead: false }
}

const EMPTY = Buffer.alloc(0)
const guardOf = once(replayGuard)

async function recover(
  { recovery }: Context,
  request: { body: Buffer; timestamp: number; signature: Hex },
): Promise<Address> {
  try {
    return await RequestSignature.recover(request, Promise.resolve(recovery))
  } catch {
    throw new Unauthenticated('bad signature')
  }
}
