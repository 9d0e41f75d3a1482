// Sends a payment to the facilitator. Where its answer leaves the outcome open, the facilitator's record and the chain are read.
import type { X402 } from '@referrer/protocol'
import type { Hex, PublicClient } from 'viem'
import { USED } from './answers.ts'
import type { MarketSettings } from './config.ts'
import { facilitatorOf, type Outcome, type SettlementRecord } from './facilitator.ts'
import { isRecorded, type Market } from './market.ts'
import { type Payment, termsOf } from './payment.ts'
import type { Granted } from './payment-memory.ts'
import type { Trail } from './trail.ts'

export interface Attempt {
  payment: Payment
  claim: Granted
  requirements: X402.PaymentRequirements.PaymentRequirements
  market: Market
  trail?: Trail
}

/** How far the clocks of the chain and of this machine may be apart. */
const CLOCK_SKEW_SECONDS = 60
export const UNSURE =
  'it is not known yet whether this payment was settled: send the same PAYMENT-SIGNATURE again, and do not sign a new one'
const ELSEWHERE = "the ref link leads to another merchant's product, which is not sold here"

/** Says why a payment must not be served: it would pay another merchant. */
export function objectionTo(
  { attributionToken }: Payment,
  { merchantId }: Pick<MarketSettings, 'merchantId'>,
) {
  const terms = termsOf(attributionToken)
  return terms && BigInt(terms.merchantId) !== merchantId ? ELSEWHERE : undefined
}

export function createSettlement(settings: MarketSettings, client: PublicClient) {
  const { merchantId, now } = settings
  const facilitator = facilitatorOf(settings)

  async function settle(attempt: Attempt): Promise<Outcome> {
    const { payment, claim, requirements } = attempt
    const objection = objectionTo(payment, settings)
    if (objection) return { kind: 'refused', reason: 'invalid_payment', message: objection, transaction: '' }
    const started = Math.floor(now() / 1_000)
    const outcome = await facilitator.settle(payment, requirements, attempt.trail)
    const { kind } = outcome
    if (kind === 'used' ? claim.unservedSince === undefined : kind !== 'unsure' && kind !== 'refused')
      return outcome

    const record: SettlementRecord | undefined =
      kind === 'used' && outcome.transaction
        ? { status: 'settled', transaction: outcome.transaction, message: undefined }
        : await facilitator.recordOf(payment)
    if (record?.status === 'settled' && record.transaction) {
      // Anybody can read payer and nonce on the chain, so a refused payment proves nothing with them, unless the same payment came before.
      if (kind === 'refused' && !claim.isDoubtful)
        return { kind: 'used', transaction: undefined, message: USED }
      // A payment that may have been served before must not be served again: then only a settlement since the claim counts.
      return ours(attempt, record.transaction, claim.unservedSince ?? started - CLOCK_SKEW_SECONDS)
    }
    const isOver = record !== undefined && record.status !== 'pending'
    if (kind === 'unsure' && isOver && record.status !== 'unknown') {
      const { message = 'the payment was not settled', transaction = '' } = record
      return { kind: 'refused', reason: 'settle_failed', message, transaction }
    }
    // A refusal now does not rule out an earlier settlement: an authorisation that has expired may have been settled before.
    if (kind === 'refused' && claim.isDoubtful && !isOver) return { kind: 'unsure', message: outcome.message }
    return outcome
  }

  /** A settlement that this endpoint was not told of counts if the chain shows it as a sale of this merchant. */
  async function ours(attempt: Attempt, transaction: string, since: number): Promise<Outcome> {
    const { payment, requirements, market } = attempt
    const { payer, nonce, value: amount } = payment
    const link = termsOf(payment.attributionToken)
    if (!payer || !nonce || !link || amount === undefined) return { kind: 'used', transaction, message: USED }
    const wanted = { payer, nonce, amount, merchantId, productId: settings.productId, link, since }
    try {
      const isOurs =
        amount === BigInt(requirements.amount) &&
        (await isRecorded(client, market, { transaction: transaction as Hex, ...wanted }))
      return isOurs ? { kind: 'settled', transaction, payer } : { kind: 'used', transaction, message: USED }
    } catch {
      return { kind: 'unsure', message: `${transaction} could not be read from the chain` }
    }
  }

  return settle
}
