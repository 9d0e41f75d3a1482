// The receipt that a shop may sign for a payment: the x402 extension offer-receipt.
import type { Fetched } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import { z } from 'zod'
import { jsonOf } from './link.ts'
import { headerOf } from './offer.ts'

const MAX_BYTES = 16 * 1024

/** As the shop wrote it; nobody has verified it. Flat, as the standard has it: a shop must not make us write or read anything deep. */
const field = z.union([z.string(), z.number()])
export const Receipt = z.object({
  format: z.string(),
  payload: z.record(z.string(), field).optional(),
  signature: z.string(),
})
export type Receipt = z.output<typeof Receipt>

/** In the header, where official middleware puts it, or in a JSON body. Undefined: there is none, or none of a reasonable size. */
export function receiptIn({ headers, body }: Fetched): Receipt | undefined {
  for (const settled of [headerOf(headers, X402.PAYMENT_RESPONSE_HEADER), jsonOf(body)]) {
    const found = Receipt.safeParse(inside(settled, 'extensions', 'offer-receipt', 'info', 'receipt'))
    if (found.success && Buffer.byteLength(JSON.stringify(found.data)) <= MAX_BYTES) return found.data
  }
  return undefined
}

const inside = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((at, name) => (Object(at) as Record<string, unknown>)[name], value)
