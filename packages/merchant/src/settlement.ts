// Has a payment settled. What the facilitator leaves open, and what it says where it is not the market's own, is read from its record and the chain.
import type { X402 } from '@referrer/protocol'
import type { PublicClient } from 'viem'
import { USED } from './answers.ts'
import type { MarketSettings } from './config.ts'
import { facilitatorOf, type Outcome } from './facilitator.ts'
import type { Market } from './market.ts'
import { watchOwn } from './own-facilitator.ts'
import { type Payment, termsOf } from './payment.ts'
import type { Granted } from './payment-memory.ts'
import { readPurchase, type Shown, timeOf } from './purchase.ts'
import { takeBackFields } from './take-back.ts'
import type { Trail } from './trail.ts'
import { within } from './within.ts'

export interface Attempt {
  payment: Payment
  claim: Pick<Granted, 'isDoubtful' | 'unservedSince' | 'since'>
  requirements: X402.PaymentRequirements.PaymentRequirements
  market: Market
  trail?: Trail
}

type Open = Pick<Extract<Outcome, { kind: 'unsure' }>, 'until' | 'takeBack'>

/** What the buyer is told who has paid less than this costs: by another request, or before the price rose. It stays owed. */
export const DEARER = 'you have paid for something that costs less: send the request again that you paid for'

/** How far the clocks of the chain and of this machine may be apart. */
const CLOCK_SKEW_SECONDS = 60
/** How long is waited from one look at the chain to the next, the last of them again and again. */
const LOOK_MS = [500, 1_000, 2_000, 4_000]
const UNSURE =
  'it is not known yet whether this payment was settled: send the same PAYMENT-SIGNATURE again, and do not sign a new one'
const ELSEWHERE = "the ref link leads to another merchant's product, which is not sold here"
const COMMITTED =
  'the ref link leads to another product, and the payment commits to that one: buy through a link to the product that is sold here'

/** What the buyer is told whose payment may have been settled, or may still be. */
export const unsureText = ({ until }: Open): string =>
  until === undefined ? UNSURE : `${UNSURE} before ${new Date(until * 1_000).toISOString()}`

export const leftOpen = ({ until, takeBack }: Open): object => ({
  ...(until !== undefined && { until }),
  ...takeBackFields(takeBack),
})

/** Says why a payment must not be settled here: it would pay another merchant, or others can have it settled for another product. */
export function objectionTo(
  { attributionToken, isCommitted }: Payment,
  { merchantId, productId }: Pick<MarketSettings, 'merchantId' | 'productId'>,
): string | undefined {
  const terms = termsOf(attributionToken)
  if (!terms) return undefined
  if (BigInt(terms.merchantId) !== merchantId) return ELSEWHERE
  return isCommitted && productId !== undefined && terms.productId !== productId ? COMMITTED : undefined
}

export function createSettlement(settings: MarketSettings, client: PublicClient) {
  const { merchantId, productId, now, lookMs } = settings
  const facilitator = facilitatorOf(settings)
  const isOwn = watchOwn(settings)

  async function settle(attempt: Attempt): Promise<Outcome> {
    const { payment, claim, requirements } = attempt
    const objection = objectionTo(payment, settings)
    if (objection) return { kind: 'refused', reason: 'invalid_payment', message: objection }
    const [outcome, isBelieved] = await Promise.all([
      facilitator.settle(payment, requirements, attempt.trail),
      isOwn(),
    ])
    if (outcome.kind === 'settled') {
      return isBelieved ? outcome : confirmed(attempt, outcome.transaction)
    }
    if (outcome.kind === 'used') {
      const { transaction } = outcome
      const isProvable = transaction !== undefined && claim.unservedSince !== Infinity
      return isProvable ? ours(attempt, transaction, claim.unservedSince, outcome) : outcome
    }
    if (outcome.kind !== 'refused' && (outcome.kind !== 'unsure' || outcome.isTold)) return outcome

    const record = await facilitator.recordOf(payment)
    if (record?.status === 'settled' && record.transaction) {
      // Anybody can read payer and nonce on the chain, so a refused payment proves nothing with them, unless the same payment came before.
      if (outcome.kind === 'refused' && !claim.isDoubtful)
        return { kind: 'used', transaction: undefined, message: USED }
      return ours(attempt, record.transaction, claim.since)
    }
    const { until, takeBack } = record ?? {}
    if (record?.status === 'pending') return { ...outcome, kind: 'unsure', until, takeBack }
    if (outcome.kind === 'unsure' && record?.status === 'failed') {
      const { message = 'the payment was not settled' } = record
      return { kind: 'refused', reason: 'settle_failed', message, takeBack }
    }
    // A refusal now does not rule out an earlier settlement: an authorisation that has expired may have been settled before.
    if (outcome.kind === 'refused' && claim.isDoubtful && !record) {
      return { kind: 'unsure', message: outcome.message }
    }
    // Nor does one at another price rule out that the first request is still on its way to the facilitator.
    const { value, validBefore = 0 } = payment
    const isRepriced = claim.isDoubtful && value !== BigInt(requirements.amount)
    if (isRepriced && record?.status === 'unknown' && validBefore + CLOCK_SKEW_SECONDS > now() / 1_000) {
      return { kind: 'unsure', message: outcome.message, until: validBefore }
    }
    return outcome
  }

  /** Undefined where the payment names no purchase that the chain could show. */
  function wantedOf({ payer, nonce, buyerAgentId, attributionToken }: Payment) {
    const link = termsOf(attributionToken)
    return payer && nonce && link ? { payer, nonce, merchantId, productId, buyerAgentId, link } : undefined
  }

  /** What was settled before this time (unix seconds) may have been served, so it is another purchase. */
  async function look(attempt: Attempt, transaction: string, since: number): Promise<Shown> {
    const wanted = wantedOf(attempt.payment)
    if (!wanted) return { is: 'absent', isMined: true }
    const shown = await readPurchase(client, attempt.market, transaction, wanted)
    if (shown.is !== 'ours' || (await timeOf(client, shown, now() / 1_000)) >= since) return shown
    return { is: 'another', transaction: shown.transaction }
  }

  /** A settlement that this endpoint was not told of counts if the chain shows it as a sale of this shop that nobody can have served. */
  async function ours(
    attempt: Attempt,
    transaction: string,
    since: number,
    used?: Outcome,
  ): Promise<Outcome> {
    try {
      const shown = await look(attempt, transaction, since)
      if (shown.is === 'absent' && !shown.isMined) throw new Error('it is not there yet')
      if (shown.is === 'ours') return { kind: 'settled', ...shown }
      return used ?? { kind: 'used', transaction, message: USED }
    } catch {
      return { kind: 'unsure', message: `${transaction} could not be read from the chain` }
    }
  }

  /** The facilitator says that the payment is settled: looks until the chain shows it, or the time is over. */
  async function confirmed(attempt: Attempt, transaction: string): Promise<Outcome> {
    const { since } = attempt.claim
    const end = performance.now() + lookMs
    for (let times = 0; ; times++) {
      const left = end - performance.now()
      const shown = await within(Math.max(left, 1), look(attempt, transaction, since)).catch(() => undefined)
      if (shown?.is === 'ours') return { kind: 'settled', ...shown }
      if (shown?.is === 'another') {
        return { kind: 'used', transaction: shown.transaction, message: USED }
      }
      const wait = LOOK_MS[Math.min(times, LOOK_MS.length - 1)] ?? 0
      if (performance.now() + wait > end) {
        const why = shown ? 'the chain does not show that it paid this purchase' : 'no node answered in time'
        return { kind: 'unsure', message: `the facilitator names ${transaction}, and ${why}` }
      }
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  return settle
}
