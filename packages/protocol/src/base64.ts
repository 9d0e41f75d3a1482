import { ProtocolError } from './error.ts'

export type Base64Variant = 'standard' | 'url'

const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/
const URL_SAFE = /^[A-Za-z0-9_-]*={0,2}$/
const CHUNK = 0x8000

/**
 * `standard` is padded, `url` is not: the two forms that we send.
 *
 * @example
 * ```ts
 * import { Base64 } from '@referrer/protocol'
 *
 * const variant: Base64.Base64Variant = 'standard'
 * Base64.encode(Uint8Array.of(255), variant) // → '/w=='
 * Base64.encode(Uint8Array.of(255), 'url') // → '_w'
 * ```
 */
export function encode(bytes: Uint8Array, variant: Base64Variant): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += CHUNK) {
    binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  }
  const text = btoa(binary)
  return variant === 'standard' ? text : toUrl(text)
}

/**
 * Reads both alphabets, padded or not. Refuses stray trailing bits, so that bytes have one text for each variant.
 *
 * @example
 * ```ts
 * import { Base64 } from '@referrer/protocol'
 *
 * Base64.decode('/w==', 100) // → Uint8Array.of(255)
 * ```
 */
export function decode(text: unknown, maxLength: number): Uint8Array<ArrayBuffer> {
  if (typeof text !== 'string') return refuse('is no text')
  if (text.length > maxLength) {
    throw new ProtocolError(
      'too_large',
      `base64 text has ${text.length} characters; send at most ${maxLength}`,
    )
  }
  if (!STANDARD.test(text) && !URL_SAFE.test(text)) refuse('holds characters of no single base64 alphabet')
  const unpadded = toUrl(text)
  if (text.includes('=') && text.length % 4 !== 0) refuse('is padded to the wrong length')
  if (unpadded.length % 4 === 1) refuse('is cut off')

  const bytes = Uint8Array.from(atob(unpadded.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
    char.charCodeAt(0),
  )
  if (encode(bytes, 'url') !== unpadded) refuse('has stray bits at its end')
  return bytes
}

/**
 * Only the unpadded URL alphabet, so that a token has exactly one spelling.
 *
 * @example
 * ```ts
 * import { Base64 } from '@referrer/protocol'
 *
 * Base64.decodeUrl('_w', 100) // → Uint8Array.of(255)
 * ```
 */
export function decodeUrl(text: unknown, maxLength: number): Uint8Array<ArrayBuffer> {
  const bytes = decode(text, maxLength)
  if (/[+/=]/.test(text as string)) refuse('must be unpadded base64url')
  return bytes
}

function toUrl(text: string): string {
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function refuse(why: string): never {
  throw new ProtocolError('invalid_base64', `base64 text ${why}; encode the bytes again`)
}
