// Purchases that were paid by plain transfer: the facilitator splits them, and its answer is passed on.
import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { readBody } from '../../kit/read-body.ts'

/** Longer than the facilitator takes at most. */
export const PATIENCE_MS = 55_000
const MOST_BYTES = 64 * 1024
/** Other answers are not about the transfer: they come from something that is in the way, or from a facilitator that is ill. */
const PASSED_ON = new Set([200, 400, 429, 503])

/** A facilitator says more about who is turned away than this service says of anything. */
const Refusal = z.object({ error: z.string() })

/** What a payer asks for. */
export interface Charge {
  txHash: string
  attributionToken: string
  buyerAgentId?: string | null | undefined
  chainId: number
  buyerSignature: string
}

export interface Charged {
  status: number
  /** JSON. */
  body: Buffer
  retryAfter: string | null
}

/** Undefined: the facilitator did not answer, and it is open whether the transfer was charged. */
export async function requestCharge(
  { config: { facilitatorUrl }, fetch, log }: Context,
  charge: Charge,
): Promise<Charged | undefined> {
  if (facilitatorUrl === undefined) throw new MarketError('not found', 'not found')
  try {
    const response = await fetch(`${facilitatorUrl}/mpp/charge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(charge),
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const body = await readBody(response, MOST_BYTES)
    if (!body) throw new Error(`the answer is larger than ${MOST_BYTES} bytes`)
    if (!PASSED_ON.has(response.status)) throw new Error(`the answer has status ${response.status}`)
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
