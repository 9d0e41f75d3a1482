// Buyers who pay, one payment after the other, at any of the facilitators.
import type { HDAccount } from 'viem/accounts'
import type { Outcome } from '../settle/load.ts'
import type { Shop } from '../settle/market.ts'
import { type Payment, signPayments } from '../settle/payments.ts'
import { Retryable, type Tally, untilDone } from './tally.ts'

/** A payment is repeated for so long: twice what a fail-over takes on a busy machine. */
const GIVE_UP_MS = 120_000

export interface Purchases {
  outcomes: Outcome[]
  /** Pays until the end. */
  run(until: () => boolean): Promise<void>
  /** Once; undefined when it failed for good. */
  pay(buyer: HDAccount, agentId?: bigint): Promise<Outcome | undefined>
}

export function createPurchases(shop: Shop, facilitators: typeof fetch, tally: Tally): Purchases {
  const outcomes: Outcome[] = []

  async function pay(buyer: HDAccount, agentId?: bigint): Promise<Outcome | undefined> {
    const { SplitRouter } = shop.market.addresses
    const [[payment] = []] = await signPayments({ ...shop, buyers: [buyer] }, SplitRouter, 1, agentId)
    if (!payment) throw new Error('a payment was signed')
    const start = performance.now()
    const transaction = await untilDone(tally, () => settle(facilitators, payment), { giveUpMs: GIVE_UP_MS })
    const result = transaction ? { transaction } : { failure: tally.lost.at(-1) ?? 'lost' }
    const outcome: Outcome = { payment, ms: performance.now() - start, result }
    outcomes.push(outcome)
    return transaction && outcome
  }

  return {
    outcomes,
    pay,
    async run(until) {
      await Promise.all(
        shop.buyers.map(async (buyer) => {
          while (!until()) await pay(buyer)
        }),
      )
    },
  }
}

async function settle(facilitators: typeof fetch, { body }: Payment): Promise<`0x${string}`> {
  const response = await facilitators('http://facilitator/settle', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: new Uint8Array(body),
  })
  const answer = await response.text().catch(() => {
    throw new Retryable('the answer broke off')
  })
  if (response.status >= 500 || response.status === 429) throw new Retryable(`HTTP ${response.status}`)
  const { success, transaction, errorReason, errorMessage, retryable, pending } = JSON.parse(answer)
  if (success) return transaction
  // The payment was settled, and the one who settled it died before he told us.
  if (errorMessage === 'authorization already used' && transaction) return transaction
  // The facilitator goes on with the payment, or asks to be asked again.
  if (retryable || pending) throw new Retryable(errorReason)
  throw new Error(`HTTP ${response.status}: ${answer}`)
}
