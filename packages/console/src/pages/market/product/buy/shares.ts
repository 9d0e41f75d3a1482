const BPS = 10_000n

/** The most that goes to the reviewer and back to the buyer: a lower rank of the reviewer makes both smaller. */
export function sharesOf(price: bigint, commissionBps: number, cashbackBps: number) {
  const commission = (price * BigInt(commissionBps)) / BPS
  const cashback = (commission * BigInt(cashbackBps)) / BPS
  return { commission, cashback, reviewer: commission - cashback }
}
