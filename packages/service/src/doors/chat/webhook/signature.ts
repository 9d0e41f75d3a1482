// The signature of both directions: an HMAC over the timestamp and the exact bytes of the body.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@referrer/process'

export const TIMESTAMP_HEADER = 'x-referrer-timestamp'
export const SIGNATURE_HEADER = 'x-referrer-signature'

const FORM = /^sha256=[0-9a-f]{64}$/

/** `timestamp` in seconds, as in the header. */
export const sign = (secret: Secret, timestamp: string, body: Buffer | string): string =>
  `sha256=${createHmac('sha256', secret.reveal()).update(`${timestamp}.`).update(body).digest('hex')}`

export const isSignedBy = (secret: Secret, timestamp: string, body: Buffer, signature: string): boolean =>
  FORM.test(signature) && timingSafeEqual(Buffer.from(signature), Buffer.from(sign(secret, timestamp, body)))
