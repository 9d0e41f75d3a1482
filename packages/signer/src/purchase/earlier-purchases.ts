// Checks earlier authorisations: each must be spent or void before another is signed for the same purchase.
import type { Chain } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import { NotBought, Refused } from '../refused.ts'
import { inspect } from './deposit.ts'
import { askFacilitator } from './facilitator.ts'
import { type Entry, type Journal, keyHash } from './journal.ts'
import type { Link } from './link.ts'
import type { Order } from './order.ts'
import {
  describeDifferences,
  describePayment,
  isFinal,
  type PaymentState,
  readPaymentState,
  type Settled,
} from './payment-state.ts'

export interface Unserved {
  entry: Entry
  money: Settled
}

/**
 * Throws when an earlier authorisation has paid, or can still pay, for this purchase. Returns the purchase with the same idempotency key
 * that was paid but not served.
 */
export async function requireNothingEarlier(
  context: Context,
  chain: Chain,
  journal: Journal,
  { order, link, signal }: { order: Order; link: Link; signal: AbortSignal },
): Promise<Unserved | undefined> {
  // The outcome of an earlier purchase is reported once, so the caller must still be connected.
  if (signal.aborted) throw callerGone()
  const isSame = ({ merchantId, productId }: Entry) =>
    merchantId === link.terms.merchantId && productId === link.terms.productId
  if (order.idempotencyKey !== undefined) {
    const entry = await journal.findByKey(keyHash(order.idempotencyKey))
    const money = entry && (await unservedOf(context, chain, journal, entry, { order, link, signal }))
    if (money) return { entry, money }
  }
  for (const entry of await journal.listOpen()) {
    // The outcome for another product is reported when that product is bought again.
    if (!isSame(entry)) continue
    const money = await reconcile(context, chain, journal, entry, signal)
    if (money.state === 'never' || money.state === 'refunded') continue
    if (money.state === 'settled') {
      throw new Refused(
        `an earlier purchase of this product had an unknown outcome, and was paid: escrow ${money.escrowId}, transaction ${money.transaction ?? 'unknown'}.${describeDifferences(money)} Nothing was paid again. To buy it once more, call again.`,
      )
    }
    throw new Refused(
      `an earlier purchase of this product is not decided yet. ${describePayment(money, entry)}`,
    )
  }
  return undefined
}

/** The purchase with the same idempotency key, when it was paid but not served. Undefined when nothing was paid and nothing can be. */
async function unservedOf(
  context: Context,
  chain: Chain,
  journal: Journal,
  entry: Entry,
  { order, link, signal }: { order: Order; link: Link; signal: AbortSignal },
): Promise<Unserved['money'] | undefined> {
  const { merchantId, productId } = link.terms
  if (entry.merchantId !== merchantId || entry.productId !== productId) {
    throw new NotBought(
      `this idempotency_key was used for product ${entry.productId} of merchant ${entry.merchantId}: take another key; nothing was paid`,
    )
  }
  const money = entry.outcome ?? (await reconcile(context, chain, journal, entry, signal))
  if (money.state === 'never' || money.state === 'refunded') return undefined
  if (money.state === 'settled' && !money.isServed) {
    requireSameRequest(entry, order, money)
    return money
  }
  if (money.state === 'settled') throw alreadyPaid({ ...money, amount: BigInt(entry.amount) })
  throw new Refused(
    `the purchase of this idempotency_key is not decided yet. ${describePayment(money, entry)}`,
  )
}

/** The purchase is made, and this call brings no result of it: it was made earlier, or the shop served nothing or something else. */
export class Bought extends Refused {
  readonly purchase: Pick<Settled, 'escrowId' | 'transaction'> & {
    /** USDC base units; null when it was paid from another machine. */
    amount: bigint | null
  }
  /** What is wrong with it; undefined for an earlier purchase that is as it should be. */
  readonly problem: string | undefined

  constructor(
    message: string,
    { escrowId, transaction, amount }: Bought['purchase'],
    { problem, data }: { problem?: string | undefined; data?: Record<string, unknown> } = {},
  ) {
    super(message, data)
    this.purchase = { escrowId, transaction, amount }
    this.problem = problem
  }
}

export function alreadyPaid(
  { differences, ...purchase }: Bought['purchase'] & Pick<Settled, 'differences'>,
  more = '',
): Bought {
  const { escrowId, transaction } = purchase
  const which = `escrow ${escrowId}${transaction ? `, transaction ${transaction}` : ''}`
  const wrong = `${more}${describeDifferences({ differences })}`
  return new Bought(
    `already paid: the purchase of this idempotency_key is ${which}; nothing was paid again${wrong}`,
    purchase,
    { problem: wrong.replace(/^[. ]+/, '') || undefined },
  )
}

/** Reads the state from the chain, and records it in the journal when it is final. */
async function reconcile(
  context: Context,
  chain: Chain,
  journal: Journal,
  entry: Entry,
  signal: AbortSignal,
): Promise<PaymentState> {
  const money = await readPaymentState(chain, entry)
  if (money.state === 'settled') {
    const word = await askFacilitator(context, entry)
    await inspect(context, chain, entry, money, [word?.transaction])
  }
  if (signal.aborted) throw callerGone()
  if (isFinal(money)) await journal.close(entry, money)
  return money
}

/** Throws when the order differs from the one that was paid: only that one can be served. */
function requireSameRequest(entry: Entry, { query, posted }: Order, money: Unserved['money']): void {
  const isSame = entry.query === query && JSON.stringify(entry.posted) === JSON.stringify(posted)
  if (isSame) return
  const why = ` for another request (${entry.query || 'no query'}): repeat it with that request, or take another key`
  throw alreadyPaid({ ...money, amount: BigInt(entry.amount) }, why)
}

export const callerGone = (): Refused => new Refused('the caller has gone; nothing was paid')
