// What everybody gets of a price, worked out once more and apart from the contracts.

export interface Rates {
  commissionBps: bigint
  multiplierBps?: bigint
  cashbackBps?: bigint
}

export interface Shares {
  merchant: bigint
  commission: bigint
  fee: bigint
  cashback: bigint
  heldBack: bigint
  immediate: bigint
}

const FEE_BPS = 1_000n
const HELD_BACK_BPS = 5_000n
const ALL_BPS = 10_000n

/** Rounded down at every step, and nothing is lost. */
export function sharesOf(
  price: bigint,
  { commissionBps, multiplierBps = ALL_BPS, cashbackBps = 1_000n }: Rates,
): Shares {
  const commission = (price * commissionBps * multiplierBps) / (ALL_BPS * ALL_BPS)
  const fee = (commission * FEE_BPS) / ALL_BPS
  const cashback = (commission * cashbackBps) / ALL_BPS
  const reviewer = commission - fee - cashback
  const heldBack = (reviewer * HELD_BACK_BPS) / ALL_BPS
  return {
    merchant: price - commission,
    commission,
    fee,
    cashback,
    heldBack,
    immediate: reviewer - heldBack,
  }
}
