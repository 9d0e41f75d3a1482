import { ProtocolError } from '../error.ts'
import { reader } from '../read.ts'
import * as Extensions from './extensions.ts'
import { decodeHeader, encodeHeader, VERSION } from './headers.ts'
import * as PaymentRequirements from './payment-requirements.ts'

export type ResourceInfo = { url: string; description?: string; mimeType?: string }

/** A 402: the body, and the same object in the header that official clients read. */
export type PaymentRequired = {
  x402Version: typeof VERSION
  error?: string
  resource: ResourceInfo
  /** Only the first offer counts. */
  accepts: [PaymentRequirements.PaymentRequirements]
  extensions: Extensions.Extensions
}

/** As a buyer receives it. A merchant may leave out `resource`. */
export type ReceivedPaymentRequired = Omit<PaymentRequired, 'resource'> & { resource?: ResourceInfo }

const read = reader('invalid_payment')

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const response: Response
 * const required: X402.PaymentRequired.ReceivedPaymentRequired = X402.PaymentRequired.parse(await response.json())
 * export const [{ amount, payTo }] = required.accepts
 * ```
 */
export function parse(value: unknown): ReceivedPaymentRequired {
  const given = read.record(value, 'payment required')
  if (given.x402Version !== VERSION) read.refuse('x402Version', String(VERSION))
  if (!Array.isArray(given.accepts)) return read.refuse('accepts', 'an array with an offer')
  return {
    x402Version: VERSION,
    ...(given.error === undefined ? {} : { error: read.text(given.error, 'error') }),
    ...(given.resource === undefined ? {} : { resource: parseResource(given.resource) }),
    accepts: [PaymentRequirements.parse(given.accepts[0])],
    extensions: Extensions.parse(given.extensions),
  }
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const resource: X402.PaymentRequired.ResourceInfo = X402.PaymentRequired.parseResource({ url: 'https://shop.example' })
 * resource // → { url: 'https://shop.example' }
 * ```
 */
export function parseResource(value: unknown): ResourceInfo {
  const { url, description, mimeType } = read.record(value, 'resource')
  return {
    url: read.text(url, 'resource.url'),
    ...(description === undefined ? {} : { description: read.text(description, 'resource.description') }),
    ...(mimeType === undefined ? {} : { mimeType: read.text(mimeType, 'resource.mimeType') }),
  }
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const required: X402.PaymentRequired.PaymentRequired
 * export const headers = { [X402.PAYMENT_REQUIRED_HEADER]: X402.PaymentRequired.serialize(required) }
 * ```
 */
export function serialize(required: PaymentRequired): string {
  return encodeHeader(required, 'standard')
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * declare const response: Response
 * export const { accepts } = X402.PaymentRequired.deserialize(response.headers.get(X402.PAYMENT_REQUIRED_HEADER))
 * ```
 */
export function deserialize(header: unknown): ReceivedPaymentRequired {
  return parse(decodeHeader(header))
}

/**
 * The offer of a 402, unchecked, so that a caller can tell what is wrong with it; `parse` checks it. The body counts if it makes an offer of
 * this version, else the header does, because official middleware sends an empty body. If neither makes one, the body is returned.
 *
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const offer = { x402Version: 2, accepts: [{ amount: '100000' }] }
 * X402.PaymentRequired.fromResponse({ header: X402.encodeHeader(offer, 'standard'), body: {} }) // → offer
 * ```
 */
export function fromResponse({ header, body }: { header: string | null; body: unknown }): unknown {
  if (makesOffers(body)) return body
  const inHeader = header === null ? undefined : decodedIn(header)
  return makesOffers(inHeader) ? inHeader : body
}

/** Some shops send a body of version 1 for older clients beside a header of version 2. */
function makesOffers(value: unknown): boolean {
  const { accepts, x402Version = VERSION } = Object(value) as Record<string, unknown>
  return Array.isArray(accepts) && accepts.length > 0 && x402Version === VERSION
}

function decodedIn(header: string): unknown {
  try {
    return decodeHeader(header)
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}
