import { formatUnits, maxUint256, parseUnits } from 'viem'
import { ProtocolError } from './error.ts'
import { reader } from './read.ts'

/** USDC has six decimals. Amounts are bigint base units everywhere; text appears only at the edges. */
export const DECIMALS = 6
export const BPS = 10_000n

export type SplitTerms = {
  commissionBps: number
  /** The reviewer's rank multiplier in force when the purchase settles. */
  multiplierBps: number
  feeBps: number
  cashbackOfCommissionBps: number
  heldBackBps: number
}

export type Split = {
  merchant: bigint
  commission: bigint
  fee: bigint
  cashback: bigint
  reviewer: bigint
  immediate: bigint
  heldBack: bigint
}

const DECIMAL = /^(?:0|[1-9][0-9]{0,77})(?:\.[0-9]{1,6})?$/
const read = reader('invalid_split')

/**
 * `"1.5"` → `1500000n`. Refuses what it would have to round.
 *
 * @example
 * ```ts
 * import { Money } from '@referrer/protocol'
 *
 * Money.parse('1.5') // → 1500000n
 * ```
 */
export function parse(text: unknown): bigint {
  if (typeof text !== 'string' || !DECIMAL.test(text)) {
    throw new ProtocolError(
      'invalid_amount',
      'amount must be decimal text with at most 6 decimals, like 12.5',
    )
  }
  return inRange(parseUnits(text, DECIMALS))
}

/**
 * `1500000n` → `"1.5"`.
 *
 * @example
 * ```ts
 * import { Money } from '@referrer/protocol'
 *
 * Money.format(1_500_000n) // → '1.5'
 * Money.format(10n ** BigInt(Money.DECIMALS)) // → '1'
 * ```
 */
export function format(units: bigint): string {
  return formatUnits(inRange(units), DECIMALS)
}

/**
 * Divides a price as the split router does. Every share is rounded down and the remainder stays with the party
 * it was taken from, so `merchant + fee + cashback + immediate + heldBack` is the price to the last unit.
 *
 * @example
 * ```ts
 * import { Money } from '@referrer/protocol'
 *
 * const terms: Money.SplitTerms = {
 *   commissionBps: 1000,
 *   multiplierBps: Number(Money.BPS),
 *   feeBps: 1000,
 *   cashbackOfCommissionBps: 2000,
 *   heldBackBps: 5000,
 * }
 * const split: Money.Split = Money.split(1_000_000n, terms)
 * split.merchant + split.fee + split.cashback + split.immediate + split.heldBack // → 1000000n
 * ```
 */
export function split(price: bigint, terms: SplitTerms): Split {
  inRange(price)
  const commissionBps = bps(terms.commissionBps, 'commissionBps')
  const multiplierBps = bps(terms.multiplierBps, 'multiplierBps')
  const feeBps = bps(terms.feeBps, 'feeBps')
  const cashbackBps = bps(terms.cashbackOfCommissionBps, 'cashbackOfCommissionBps')
  const heldBackBps = bps(terms.heldBackBps, 'heldBackBps')
  if (feeBps + cashbackBps > BPS) {
    throw new ProtocolError(
      'invalid_split',
      'fee and cashback together exceed the commission; lower one of them',
    )
  }

  const commission = (price * commissionBps * multiplierBps) / (BPS * BPS)
  const fee = (commission * feeBps) / BPS
  const cashback = (commission * cashbackBps) / BPS
  const reviewer = commission - fee - cashback
  const heldBack = (reviewer * heldBackBps) / BPS
  return {
    merchant: price - commission,
    commission,
    fee,
    cashback,
    reviewer,
    immediate: reviewer - heldBack,
    heldBack,
  }
}

function bps(value: unknown, what: string): bigint {
  return BigInt(read.integer(value, what, 0, Number(BPS)))
}

function inRange(units: bigint): bigint {
  if (units < 0n || units > maxUint256) {
    throw new ProtocolError('invalid_amount', 'amount must be from 0 to 2^256 - 1 base units')
  }
  return units
}
