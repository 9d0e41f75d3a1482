import { multiplierBps } from '@referrer/ranking'
import type { Rules } from '../rules.ts'
import { table, usdc } from '../table.ts'
import { type Attack, attacks } from './attacks.ts'
import { boundOf, type Gain, gainOf } from './gain.ts'
import { smearOf } from './smear.ts'
import { switches } from './switches.ts'

export type Tried = { attack: Attack; gains: Gain[] }

const SIZES = [1, 2, 3, 5, 10, 20, 50, 100]
const SWITCHED_OFF_WITH = 20
const HONEST_OPINIONS = [3, 5, 20]
/** A ring that has bought at its own shop as often as it now buys outside. */
export const SMEAR_OF_RING = { isVerified: true, history: 10 }

export const tryAll = (rules: Rules): Tried[] =>
  Object.values(attacks).map((attack) => ({ attack, gains: SIZES.map((k) => gainOf(attack, k, rules)) }))

/** The ranks reached, and the upper bound. */
export const rankTable = (tried: readonly Tried[]): string =>
  table([
    ...tried.map(({ attack, gains }) => byK(attack.name, (_, at) => gains[at]?.rank)),
    byK('no ring gets higher than', (k) => boundOf(k)),
  ])

export const legend = (tried: readonly Tried[]): string =>
  tried.map(({ attack: { name, about } }) => `${name}: ${about}`).join('\n')

/** Only the attacks that raise a rank. */
export const costTable = (tried: readonly Tried[]): string =>
  table(
    tried.flatMap(({ attack, gains }) =>
      gains
        .filter(({ moreBps }) => moreBps > 0)
        .map((gain) => ({
          attack: attack.name,
          k: gain.k,
          rank: gain.rank.toFixed(3),
          multiplier: share(gain.multiplierBps),
          purchases: gain.purchases,
          wallets: gain.wallets,
          transactions: gain.transactions,
          fees: usdc(gain.fees),
          'left the ring': usdc(gain.left),
          'brings per 1,000': gain.per1000.toFixed(2),
          'pays from': gain.paysFrom?.toFixed(2) ?? 'never',
        })),
    ),
  )

export const switchTable = (rules: Rules): string =>
  table(
    switches.map(({ rule, off, attack }) => {
      const without = gainOf(attack, SWITCHED_OFF_WITH, { ...rules, ...off })
      return {
        [`rule (${SWITCHED_OFF_WITH} help)`]: rule,
        attack: attack.name,
        rank: gainOf(attack, SWITCHED_OFF_WITH, rules).rank.toFixed(3),
        'without it': without.rank.toFixed(3),
        'cost without it': usdc(without.left),
      }
    }),
  )

export function smearTable(rules: Rules): string {
  const unweighed = { ...rules, opinionsWeigh: false }
  return table(
    HONEST_OPINIONS.flatMap((opinions) =>
      SIZES.map((k) => {
        const { before, after, purchases, left } = smearOf(k, opinions, rules)
        return {
          'honest opinions of each': opinions,
          k,
          before: before.toFixed(3),
          after: after.toFixed(3),
          multiplier: `${share(multiplierBps(before))} → ${share(multiplierBps(after))}`,
          purchases,
          'left the ring': usdc(left),
          'at a hundredth of the price': smearOf(k, opinions, rules, { part: 0.01 }).after.toFixed(3),
          'if opinions did not weigh': smearOf(k, opinions, unweighed, { part: 0.01 }).after.toFixed(3),
          'verified shops, fresh wallets': smearOf(k, opinions, rules, { isVerified: true }).after.toFixed(3),
          'verified shops, wallets of a ring': smearOf(k, opinions, rules, SMEAR_OF_RING).after.toFixed(3),
        }
      }),
    ),
  )
}

function byK(attack: string, rankOf: (k: number, at: number) => number | undefined) {
  const cells = SIZES.map((k, at) => [`k=${k}`, rankOf(k, at)?.toFixed(3) ?? ''] as const)
  return { attack, ...Object.fromEntries(cells) }
}

function share(bps: number): string {
  return (bps / 10_000).toFixed(3)
}
