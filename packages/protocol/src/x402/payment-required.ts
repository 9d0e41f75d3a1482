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

/** As a buyer meets it: a merchant that follows only the plain contract names no resource. */
export type ReceivedPaymentRequired = Omit<PaymentRequired, 'resource'> & { resource?: ResourceInfo }

const read = reader('invalid_payment')

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

export function parseResource(value: unknown): ResourceInfo {
  const { url, description, mimeType } = read.record(value, 'resource')
  return {
    url: read.text(url, 'resource.url'),
    ...(description === undefined ? {} : { description: read.text(description, 'resource.description') }),
    ...(mimeType === undefined ? {} : { mimeType: read.text(mimeType, 'resource.mimeType') }),
  }
}

export function serialize(required: PaymentRequired): string {
  return encodeHeader(required, 'standard')
}

export function deserialize(header: unknown): ReceivedPaymentRequired {
  return parse(decodeHeader(header))
}
