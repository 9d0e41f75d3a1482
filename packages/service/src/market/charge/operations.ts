// Purchases that were paid by a plain transfer: the request is forwarded to the facilitator, which splits the payment.
import { currentRequestId } from '@referrer/process'
import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { readBody } from '../../kit/read-body.ts'

/** Time limit for the facilitator's answer; longer than the facilitator's own limit. */
export const CHARGE_TIMEOUT_MS = 55_000
const MOST_BYTES = 64 * 1024
/** Statuses that are forwarded. Any other comes from a proxy in between or from a broken facilitator. */
const FORWARDED_STATUSES = new Set([200, 400, 429, 503])

/** The part of a facilitator's refusal that is forwarded; other fields are dropped. */
const Refusal = z.object({ error: z.string() })

/** The request of a payer. */
export interface Charge {
  txHash: string
  attributionToken: string
  buyerAgentId?: string | null | undefined
  chainId: number
  buyerSignature: string
}

export interface Charged {
  status: number
  /** The answer as JSON. */
  body: Buffer
  retryAfter: string | null
}

/** The facilitator logs and stores the charge under the id of our request. */
function requestHeader(): Record<string, string> {
  const id = currentRequestId()
  return id === undefined ? {} : { 'x-request-id': id }
}

/** Returns undefined when the facilitator did not answer; the transfer may have been charged or not. */
export async function requestCharge(
  { config: { facilitatorUrl }, fetch, log }: Context,
  charge: Charge,
): Promise<Charged | undefined> {
  if (facilitatorUrl === undefined) throw new MarketError('not found', 'not found')
  try {
    const response = await fetch(`${facilitatorUrl}/mpp/charge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...requestHeader() },
      body: JSON.stringify(charge),
      redirect: 'error',
      signal: AbortSignal.timeout(CHARGE_TIMEOUT_MS),
    })
    const body = await readBody(response, MOST_BYTES)
    if (!body) throw new Error(`the answer is larger than ${MOST_BYTES} bytes`)
    if (!FORWARDED_STATUSES.has(response.status)) throw new Error(`the answer has status ${response.status}`)
    const told: unknown = JSON.parse(body.toString())
    return {
      status: response.status,
      body: response.status === 200 ? body : Buffer.from(JSON.stringify(Refusal.parse(told))),
      retryAfter: response.headers.get('retry-after'),
    }
  } catch (err) {
    log.warn({ err }, 'the facilitator did not answer a charge')
    return undefined
  }
}
