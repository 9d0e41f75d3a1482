import { PRODUCT_TYPES, type ProductType } from '@referrer/ranking'
import type { Agent, Purchase } from '../records.ts'
import { table, usdc } from '../table.ts'
import { detectionOf } from './detection.ts'
import type { World } from './world.ts'

/** Compares the ranks of honest and colluding agents. Flagged agents are left out. */
export type Standing = {
  type: ProductType
  honest: number[]
  colluding: number[]
  /**
   * `aboveBest`: the share of honest agents above the best colluding one. `pairs`: the share of all pairs (one
   * honest, one colluding) in which the honest one is above.
   */
  aboveBest: number
  pairs: number
}

export const standings = ({ honest, ringOf }: World): Standing[] =>
  PRODUCT_TYPES.map((type) => {
    const ranksOf = (agents: Iterable<Agent>) =>
      [...agents]
        .filter(({ flagged }) => !flagged)
        .flatMap(({ ranks }) => ranks[type] ?? [])
        .sort((a, b) => a - b)
    const [one, other] = [ranksOf(honest), ranksOf(ringOf.keys())]
    const best = other.at(-1) ?? 0
    const above = one.map((rank) => other.filter((rival) => rival < rank).length)
    return {
      type,
      honest: one,
      colluding: other,
      aboveBest: one.filter((rank) => rank > best).length / one.length,
      pairs: sum(above) / (one.length * other.length),
    }
  })

export function summaryOf(world: World): string {
  const ranks = standings(world)
  return [
    'Review Ranks on the last day\n',
    table(
      ranks.flatMap(({ type, honest, colluding }) => [
        { type, who: 'honest', ...spread(honest) },
        { type, who: 'colluding', ...spread(colluding) },
      ]),
    ),
    '',
    ...ranks.map(
      ({ type, aboveBest, pairs }) =>
        `${type}: ${percent(aboveBest)} of the honest are above the best who colludes; in ${percent(pairs)} of all pairs the honest one is above`,
    ),
    'Rings that buy like everybody and only vote for each other are not simulated; they do far better (docs/ranks.md)',
    '\nBy ring\n',
    table(
      world.rings.map(({ members }) => ({
        ring: `of ${members.length}${members.some(({ flagged }) => flagged) ? ', flagged' : ''}`,
        ...Object.fromEntries(PRODUCT_TYPES.map((type) => [`mean ${type}`, meanOf(members, type)])),
      })),
    ),
    '\nCommissions of whoever wrote the link, of purchases by honest agents and wallets\n',
    commissions(world),
    '\nWhere the held-back went, in USDC\n',
    heldBack(world),
    '\nWhat buyers paid, in USDC, to the last unit\n',
    money(world),
    detectionOf(world),
  ].join('\n')
}

function commissions({ market, ringOf }: World): string {
  const outside = market.purchases.filter(({ buyer }) => !buyer || !ringOf.has(buyer))
  return table(
    [true, false].map((isHonest) => {
      const own = outside.filter(({ link }) => isHonest !== ringOf.has(link.agent))
      const commission = own.reduce((total, { split }) => total + split.commission, 0n)
      const share = own.reduce((total, { split }) => total + split.reviewer, 0n)
      const full = own.reduce(
        (total, { price, product }) => total + (price * BigInt(product.commissionBps)) / 10_000n,
        0n,
      )
      return {
        'link of': isHonest ? 'honest' : 'colluding',
        purchases: own.length,
        'reviewer’s share a purchase': own.length > 0 ? usdc(share / BigInt(own.length)) : '',
        'multiplier, by volume': full > 0n ? (Number((commission * 10_000n) / full) / 10_000).toFixed(3) : '',
      }
    }),
  )
}

function heldBack({ market, ringOf }: World): string {
  const of = (purchases: readonly Purchase[]) =>
    purchases.reduce((total, { split }) => total + split.heldBack, 0n)
  return table(
    [true, false].map((isHonest) => {
      const own = market.purchases.filter(({ link }) => isHonest !== ringOf.has(link.agent))
      return {
        'link of': isHonest ? 'honest' : 'colluding',
        'to the reviewer': usdc(of(own.filter(({ heldBackTo }) => heldBackTo === 'reviewers'))),
        'to the treasury': usdc(of(own.filter(({ heldBackTo }) => heldBackTo === 'treasury'))),
        'still held': usdc(of(own.filter(({ heldBackTo }) => heldBackTo === null))),
      }
    }),
  )
}

function money({ market }: World): string {
  const { buyers, ...got } = market.balances.check(market.purchases)
  const total = Object.values(got).reduce((all, amount) => all + amount, 0n)
  return table([
    ...Object.entries(got).map(([party, amount]) => ({ party, amount: usdc(amount) })),
    { party: 'together', amount: usdc(total) },
    { party: 'buyers paid', amount: usdc(-buyers) },
  ])
}

function spread(ranks: readonly number[]) {
  return {
    ranked: ranks.length,
    mean: (sum(ranks) / ranks.length).toFixed(3),
    median: (ranks[Math.floor(ranks.length / 2)] ?? Number.NaN).toFixed(3),
    lowest: (ranks[0] ?? Number.NaN).toFixed(3),
    highest: (ranks.at(-1) ?? Number.NaN).toFixed(3),
  }
}

function meanOf(members: readonly Agent[], type: ProductType): string {
  const ranks = members.flatMap(({ ranks }) => ranks[type] ?? [])
  return ranks.length > 0 ? (sum(ranks) / ranks.length).toFixed(3) : 'none'
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
const percent = (share: number) => `${(100 * share).toFixed(1)} %`
