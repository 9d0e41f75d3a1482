import { type Address, bytesToHex, type Hex, stringToBytes } from 'viem'
import { ProtocolError } from './error.ts'
import * as Recovery from './recovery/index.ts'

export const TIMESTAMP_HEADER = 'X-Agent-Timestamp'
export const SIGNATURE_HEADER = 'X-Agent-Signature'
export const WINDOW_SECONDS = 60

export type RequestSignature = {
  /** Unix seconds. */
  timestamp: number
  signature: Hex
}

export type SignedRequest = RequestSignature & {
  /** The exact bytes sent; empty for a GET. */
  body: Uint8Array | string
}

/** A viem account, or anything else that signs 32 raw bytes the EIP-191 way. */
export type RequestSigner = { signMessage(args: { message: { raw: Hex } }): Promise<Hex> }

const DECIMAL = /^(?:0|[1-9][0-9]{0,15})$/
const PERSONAL_MESSAGE_PREFIX = stringToBytes('\x19Ethereum Signed Message:\n32')

/**
 * keccak256(body ‖ timestamp as uint64, big-endian).
 *
 * @example
 * ```ts
 * import { RequestSignature } from '@referrer/protocol'
 *
 * const hash = await RequestSignature.hash('', 1_750_000_000)
 * hash.length // → 66
 * ```
 */
export async function hash(body: Uint8Array | string, timestamp: number): Promise<Hex> {
  return bytesToHex(hashBytes(body, timestamp, await Recovery.load()))
}

/**
 * @example
 * ```ts
 * import { RequestSignature } from '@referrer/protocol'
 * import { privateKeyToAccount } from 'viem/accounts'
 *
 * const signer: RequestSignature.RequestSigner = privateKeyToAccount(`0x${'11'.repeat(32)}`)
 * const body = JSON.stringify({ agent_id: 7 })
 * const signed: RequestSignature.RequestSignature = await RequestSignature.sign(signer, body, 1_750_000_000)
 * signed.signature.length // → 132
 * ```
 */
export async function sign(
  signer: RequestSigner,
  body: Uint8Array | string,
  timestamp: number,
): Promise<RequestSignature> {
  const raw = await hash(body, timestamp)
  return { timestamp, signature: await signer.signMessage({ message: { raw } }) }
}

/**
 * Who signed this body at this timestamp. Says nothing about when that was: see `verify`.
 *
 * @example
 * ```ts
 * import { RequestSignature } from '@referrer/protocol'
 * import { privateKeyToAccount } from 'viem/accounts'
 *
 * const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
 * const request: RequestSignature.SignedRequest = {
 *   body: '',
 *   ...(await RequestSignature.sign(account, '', 1_750_000_000)),
 * }
 * const signer = await RequestSignature.recover(request)
 * signer === account.address // → true
 * ```
 */
export async function recover(request: SignedRequest, using = Recovery.load()): Promise<Address> {
  const recovery = await using
  const message = hashBytes(request.body, request.timestamp, recovery)
  const prefixed = new Uint8Array(PERSONAL_MESSAGE_PREFIX.length + message.length)
  prefixed.set(PERSONAL_MESSAGE_PREFIX)
  prefixed.set(message, PERSONAL_MESSAGE_PREFIX.length)
  return recovery.recoverAddress(recovery.keccak256(prefixed), request.signature)
}

/**
 * The caller of a request that arrived at `now` (unix seconds). Guarding against replays is the server's part.
 *
 * @example
 * ```ts
 * import { RequestSignature } from '@referrer/protocol'
 *
 * declare const request: Request
 * const now = Math.floor(Date.now() / 1_000)
 * const body = new Uint8Array(await request.arrayBuffer())
 * export const caller = await RequestSignature.verify({ body, ...RequestSignature.parse(request.headers) }, now)
 * ```
 */
export async function verify(request: SignedRequest, now: number): Promise<Address> {
  if (!isWithinWindow(request.timestamp, now)) {
    throw new ProtocolError(
      'timestamp_out_of_range',
      `${TIMESTAMP_HEADER} must be within ${WINDOW_SECONDS} seconds of the server's clock; sign the request again`,
    )
  }
  return recover(request)
}

/**
 * @example
 * ```ts
 * import { RequestSignature } from '@referrer/protocol'
 *
 * const now = 1_750_000_000
 * RequestSignature.isWithinWindow(now - RequestSignature.WINDOW_SECONDS, now) // → true
 * ```
 */
export function isWithinWindow(timestamp: number, now: number): boolean {
  return Math.abs(now - timestamp) <= WINDOW_SECONDS
}

/**
 * Reads the two headers, as text; whether the signature holds is for `verify` to say.
 *
 * @example
 * ```ts
 * import { RequestSignature } from '@referrer/protocol'
 *
 * const headers = new Headers({
 *   [RequestSignature.TIMESTAMP_HEADER]: '1750000000',
 *   [RequestSignature.SIGNATURE_HEADER]: '0x12',
 * })
 * RequestSignature.parse(headers) // → { timestamp: 1750000000, signature: '0x12' }
 * ```
 */
export function parse(headers: { get(name: string): string | null }): RequestSignature {
  const timestamp = headers.get(TIMESTAMP_HEADER) ?? ''
  const signature = headers.get(SIGNATURE_HEADER) ?? ''
  if (!DECIMAL.test(timestamp)) refuseTimestamp()
  if (!signature.startsWith('0x')) {
    throw new ProtocolError('malformed_signature', `${SIGNATURE_HEADER} must be 0x-prefixed 65-byte hex`)
  }
  return { timestamp: Number(timestamp), signature: signature as Hex }
}

/**
 * @example
 * ```ts
 * import { RequestSignature } from '@referrer/protocol'
 *
 * RequestSignature.serialize({ timestamp: 1_750_000_000, signature: '0x12' }) // → { 'X-Agent-Timestamp': '1750000000', 'X-Agent-Signature': '0x12' }
 * ```
 */
export function serialize({ timestamp, signature }: RequestSignature): Record<string, string> {
  return { [TIMESTAMP_HEADER]: String(timestamp), [SIGNATURE_HEADER]: signature }
}

/** A body that says what its signature is for, which covers neither method nor path nor host. */
export type Naming = { action: string; domain: string }

/**
 * The body of a request that has none of its own, so that the signature is for this request and for no other. `path` is the one that the
 * reference shows, with its parameters filled in.
 *
 * @example
 * ```ts
 * import { RequestSignature } from '@referrer/protocol'
 *
 * const naming: RequestSignature.Naming = RequestSignature.nameRequest('https://market.test', 'DELETE', '/v1/intents/7f')
 * naming // → { action: 'DELETE /v1/intents/7f', domain: 'market.test' }
 * ```
 */
export const nameRequest = (market: string, method: string, path: string): Naming => ({
  action: `${method} ${path}`,
  domain: new URL(market).host,
})

function hashBytes(
  body: Uint8Array | string,
  timestamp: number,
  { keccak256 }: Recovery.Recovery,
): Uint8Array {
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) refuseTimestamp()
  const content = typeof body === 'string' ? stringToBytes(body) : body
  const signed = new Uint8Array(content.length + 8)
  signed.set(content)
  new DataView(signed.buffer).setBigUint64(content.length, BigInt(timestamp))
  return keccak256(signed)
}

function refuseTimestamp(): never {
  throw new ProtocolError('invalid_timestamp', `${TIMESTAMP_HEADER} must be unix seconds, as a whole number`)
}
