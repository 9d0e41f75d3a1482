// Limits what payments may cost us in gas.
//
// A trial shows what a payment does now. A wallet with code can do something else in the block, and the relayer pays for it; one without
// can gain code in between (EIP-7702), or empty itself. So trust is earned, by the fees that somebody's purchases have brought: whatever
// could be burned must be covered by the payer's own trust, or by that of the code it runs, or by the one hourly budget of all strangers.
// And nobody costs more in gas than they bring, beyond a budget for each day.
import type { Hash } from 'viem'
import type { Config } from '../config.ts'
import { Refused } from '../payment/refused.ts'
import {
  type Account,
  type Accounts,
  ALL,
  codeHolder,
  EMPTIED,
  GAINED,
  type Holder,
  merchantHolder,
  nextDay,
  nextHour,
  payerHolder,
} from './accounts.ts'
import { gasLimit, type Tried } from './gas.ts'
import { isPurchase, type Order } from './order.ts'
import { GAS_PER_PURCHASE } from './simulation.ts'

/** Who answers for what a payment may burn, and whether it may share a transaction. */
export interface Backing {
  backer: 'payer' | 'code' | 'all'
  isShared: boolean
  /** The most that it can burn. */
  atRisk: bigint
}

export type Backed = Tried & Backing
export type Limits = Pick<Config, 'payerBudget' | 'merchantBudget' | 'burnGasPerHour'>

/** Payments of a plain account without trust that may be under way: it may gain code before their block. */
const MOST_PLAIN = 64n
/** The part of the hourly budget that wallets of one code which failed within the hour may use, and all such wallets together. */
const OF_ONE_CODE = 4n
const OF_FAILED = 2n

export function holdersOf(tried: { order: Order; code: Hash | undefined }[]): Set<Holder> {
  return new Set<Holder>([
    ALL,
    codeHolder(GAINED),
    codeHolder(EMPTIED),
    ...tried.flatMap(({ order: { key, attribution }, code }): Holder[] => [
      payerHolder(key.payer),
      merchantHolder(attribution.merchantId),
      ...(code ? [codeHolder(code)] : []),
    ]),
  ])
}

/** In the order of the payments; each changes the accounts for those after it. */
export function back(limits: Limits, accounts: Accounts, tried: Tried[], now: number): (Backing | Refused)[] {
  return tried.map((each) => {
    const backing = requireBudget(limits, accounts, each, now) ?? backOne(limits, accounts, each, now)
    if (!(backing instanceof Refused)) take(accounts, { ...each, ...backing }, 1n)
    return backing
  })
}

/** Adds a payment to the accounts, or with a negative sign removes it. */
export function take(
  accounts: Accounts,
  { order, cost, fee, code, backer, atRisk }: Backed,
  sign: 1n | -1n,
): void {
  const payer = accountOf(accounts, payerHolder(order.key.payer))
  payer.owed += sign * (cost - fee)
  payer.atRisk += sign * atRisk
  if (isPurchase(order))
    accountOf(accounts, merchantHolder(order.attribution.merchantId)).owed += sign * (cost - fee)
  if (code && backer !== 'payer') accountOf(accounts, codeHolder(code)).atRisk += sign * atRisk
  if (backer === 'all') accountOf(accounts, ALL).atRisk += sign * atRisk
}

/**
 * A payment whose fee pays for its gas passes even over the budget: otherwise strangers could close a shop by using up its merchant's
 * budget. At twice the budget this ends too: the expected fees did not come, which only the merchant can cause. A refund does not count
 * for the merchant.
 */
function requireBudget(
  { payerBudget, merchantBudget }: Limits,
  accounts: Accounts,
  { order, cost, fee }: Tried,
  now: number,
): Refused | undefined {
  const { key, attribution } = order
  const isOver = ({ owed }: Account, budget: bigint) =>
    fee >= cost ? owed > 2n * budget : owed + cost - fee > budget
  const anew = `its budget starts anew at ${nextDay(now)}: send the same payment again then, or pay for something whose fee pays for its gas`
  if (isOver(accountOf(accounts, payerHolder(key.payer)), payerBudget))
    return forNow(`payments of this payer cost more gas today than their fees brought; ${anew}`)
  if (
    isPurchase(order) &&
    isOver(accountOf(accounts, merchantHolder(attribution.merchantId)), merchantBudget)
  )
    return forNow(`sales of this merchant cost more gas today than their fees brought; ${anew}`)
  return undefined
}

function backOne(limits: Limits, accounts: Accounts, tried: Tried, now: number): Backing | Refused {
  const { code, order } = tried
  const payer = accountOf(accounts, payerHolder(order.key.payer))
  const shared: Backing = { backer: 'payer', isShared: true, atRisk: GAS_PER_PURCHASE }
  const alone: Backing = { backer: 'payer', isShared: false, atRisk: gasLimit([tried], order.data) }
  if (payer.earned >= payer.atRisk + GAS_PER_PURCHASE) return shared
  if (payer.burned > payer.earned)
    return forNow(
      `a payment of this payer failed in its block; it can pay again from ${nextHour(now)}, or from another wallet now`,
    )
  const { burnGasPerHour: budget } = limits
  // Where plain accounts gained code and burned much, nobody new shares a transaction: more could be burned there than by itself.
  const isCareful = accountOf(accounts, codeHolder(GAINED)).burned >= budget
  // Whoever empties one account makes all its payments fail: where that burned much, strangers have one under way, which costs them as much.
  const most = accountOf(accounts, codeHolder(EMPTIED)).burned >= budget ? 1n : MOST_PLAIN
  if (!code && !isCareful)
    return payer.atRisk + GAS_PER_PURCHASE <= most * GAS_PER_PURCHASE
      ? shared
      : forNow('too many payments of this payer are under way; send the same payment again')
  if (payer.atRisk > 0n)
    return forNow('a payment of this wallet is under way, and new wallets pay one at a time; send it again')
  if (!code) return alone

  const all = accountOf(accounts, ALL)
  const group = accountOf(accounts, codeHolder(code))
  if (group.earned >= group.atRisk + alone.atRisk) return { ...alone, backer: 'code' }
  const hasFailed = group.burned > 0n
  const isOver = (used: Account, part: bigint) => used.burned + used.atRisk + alone.atRisk > budget / part
  const later = `send the same payment again from ${nextHour(now)}, or pay from a plain account now`
  if (hasFailed && isOver(group, OF_ONE_CODE))
    return forNow(`too many payments of wallets with this code failed in their block; ${later}`)
  if (isOver(all, hasFailed ? OF_FAILED : 1n))
    return forNow(
      `too many payments of contract wallets that are new here failed, or are under way; ${later}`,
    )
  return { ...alone, backer: 'all' }
}

function accountOf(accounts: Accounts, holder: Holder): Account {
  const account = accounts.get(holder)
  if (!account) throw new Error(`the account of ${holder} was not read`)
  return account
}

const forNow = (message: string) => new Refused('settle_failed', message, { retryable: true })
