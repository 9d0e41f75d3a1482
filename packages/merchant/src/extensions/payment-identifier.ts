// The `payment-identifier` extension of x402: a buyer names its purchase, and a repeated request gets the same answer without paying again.
import { type Hex, keccak256, stringToBytes } from 'viem'
import { refuse } from '../refuse.ts'

/**
 * Lets buyers repeat a purchase under the identifier that they gave it.
 *
 * @example
 * ```ts
 * import type { PaymentIdsConfig } from '@referrer/merchant'
 *
 * export const paymentIds: PaymentIdsConfig = { required: true }
 * ```
 */
export interface PaymentIdsConfig {
  /** Payments without an identifier get 400: false. */
  required?: boolean
}

/** How long a name stays with its payment. */
export const NAMED_SECONDS = 86_400
const IDENTIFIER = /^[a-zA-Z0-9_-]{16,128}$/
const MAX_BODY_BYTES = 65_536

/** Exactly what the official package declares. */
export const identifierDeclaration = (required: boolean): object => ({
  info: { required },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
})

export function readPaymentIds(config: PaymentIdsConfig): { isRequired: boolean } {
  const { required = false } = config
  return typeof required === 'boolean'
    ? { isRequired: required }
    : refuse('paymentIds.required', 'true or false')
}

/** Says what is wrong with an identifier, or with the lack of one. */
export function objectionToId(id: unknown, isRequired: boolean): string | undefined {
  if (id === undefined) return isRequired ? 'this shop wants a payment identifier' : undefined
  if (typeof id === 'string' && IDENTIFIER.test(id)) return undefined
  return 'a payment identifier has 16 to 128 letters, digits, hyphens and underscores'
}

/** Method, path, query and the first 64 KiB of the body, and the terms; the request can still be read. */
export async function purposeOf(request: Request, terms: readonly string[]): Promise<Hex> {
  const hash = keccak256(request.body === null ? new Uint8Array() : await beginning(request.clone()))
  const { pathname, search } = new URL(request.url)
  return keccak256(stringToBytes(JSON.stringify([request.method, `${pathname}${search}`, hash, ...terms])))
}

async function beginning({ body }: Request): Promise<Uint8Array> {
  const reader = body?.getReader()
  const read = new Uint8Array(MAX_BODY_BYTES)
  let length = 0
  while (length < MAX_BODY_BYTES) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) break
    read.set(value.subarray(0, MAX_BODY_BYTES - length), length)
    length += value.length
  }
  // Whoever sends more is not waited for.
  reader?.cancel().catch(() => {})
  return read.subarray(0, Math.min(length, MAX_BODY_BYTES))
}
