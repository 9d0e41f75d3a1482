// The figures of docs/ranks.md are those of the code.
import { readFileSync } from 'node:fs'
import {
  deflate,
  findingWeight,
  inflate,
  MILLION,
  multiplierBps,
  rankOf,
  sizeOf,
  voteWeight,
} from '@referrer/ranking'
import { expect, test } from 'vitest'
import { attacks } from './collusion/attacks.ts'
import { boundOf, gainOf } from './collusion/gain.ts'
import { play } from './collusion/play.ts'
import { SMEAR_OF_RING } from './collusion/print.ts'
import { arenas, SIZES, VOLUMES } from './collusion/report.ts'
import { smearOf } from './collusion/smear.ts'
import type { Strategy } from './collusion/strategy.ts'
import { switches } from './collusion/switches.ts'
import { THE_RULES } from './rules.ts'
import { usdc } from './table.ts'

const text = readFileSync(new URL('../../docs/ranks.md', import.meta.url), 'utf8')

/** The cells of the table below a marker, without its header. */
function tableOf(marker: string): string[][] {
  const [, after = ''] = text.split(`<!-- ${marker} -->\n`)
  const lines = after.split('\n\n')[0]?.split('\n') ?? []
  return lines.slice(2).map((line) =>
    line
      .trim()
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

test('the example is computed as it says', () => {
  const today = 20_000
  const full = THE_RULES.full
  const counts = (weight: number, age: number) => deflate(inflate(weight, today - age), today)
  const pieces = [
    counts(voteWeight(0.8, sizeOf(20_000n, full)), 0),
    counts(voteWeight(0.5, sizeOf(5_000n, full)), 0),
    counts(findingWeight('confirmed', 0.9 * MILLION), 90),
    counts(findingWeight('contradicted', MILLION), 180),
  ]
  const shown = [...text.matchAll(/(?:today|days) \| (\d\.\d{4}) \|$/gm)].map(([, counted]) => counted)
  expect(pieces.map((piece) => (piece / MILLION).toFixed(4))).toEqual(shown)

  const [first = 0, second = 0, third = 0, loss = 0] = pieces
  const gain = first + second + third
  const rank = rankOf('repeat', { gain, loss }) ?? 0
  const [forIt, against] = [gain, loss].map((sum) => (sum / MILLION).toFixed(4))
  const pays = (multiplierBps(rank) / 10_000).toFixed(4)
  expect(/^The evidence for it is .*$/m.exec(text)?.[0]).toBe(
    `The evidence for it is ${forIt}, against it ${against}, so its rank is (6 + ${forIt}) / (12 + ${forIt} + ${against}) = ${rank.toFixed(4)}, and a sale pays ${pays} of the commission.`,
  )
})

test('the table of rules is what a run without each gives', () => {
  const rows = switches.map(({ rule, off, attack }) => {
    const without = gainOf(attack, 20, { ...THE_RULES, ...off })
    return [
      rule,
      attack.name,
      gainOf(attack, 20, THE_RULES).rank.toFixed(3),
      without.rank.toFixed(3),
      usdc(without.left),
    ]
  })
  expect(tableOf('switches')).toEqual(rows)
})

test('the table of gains is what a run gives', () => {
  const rows = [1, 2, 3, 5, 10, 20, 50, 100].map((k) => {
    const [votes, all] = [attacks.ownShop, attacks.everything].map((attack) => gainOf(attack, k, THE_RULES))
    return [
      String(k),
      ...[
        votes?.rank.toFixed(3),
        usdc(votes?.left ?? 0n),
        votes?.per1000.toFixed(2),
        votes?.paysFrom?.toFixed(2),
      ],
      ...[all?.rank.toFixed(3), usdc(all?.left ?? 0n), boundOf(k).toFixed(3)],
    ]
  })
  expect(tableOf('gains')).toEqual(rows)
})

test('the table of false opinions is what a run gives', () => {
  const rows = [1, 2, 3, 5, 10, 20, 50, 100].map((k) => {
    const { before, after, left } = smearOf(k, 5)
    const cheap = [true, false].map((opinionsWeigh) =>
      smearOf(k, 5, { ...THE_RULES, opinionsWeigh }, { part: 0.01 }).after.toFixed(3),
    )
    const verified = [{ isVerified: true }, SMEAR_OF_RING].map((options) =>
      smearOf(k, 5, THE_RULES, options).after.toFixed(3),
    )
    return [String(k), before.toFixed(3), after.toFixed(3), usdc(left), ...cheap, ...verified]
  })
  expect(tableOf('smear')).toEqual(rows)
})

test('the table of the search is what its strategies bring when they are played again', () => {
  const strategies: (Strategy | null)[][] = JSON.parse(
    readFileSync(new URL('./collusion/found.json', import.meta.url), 'utf8'),
  )
  const ratios = strategies.map((ofSize, at) => [
    String(SIZES[at]),
    ...ofSize.map((strategy, of) => {
      const { gain, cost } = (strategy && play(strategy, arenas.standings.arena, VOLUMES)[of]) ?? {
        gain: 0n,
        cost: 1n,
      }
      return (Number(gain) / Number(cost)).toFixed(3)
    }),
  ])
  expect(tableOf('search')).toEqual(ratios)
  const most = Math.max(...ratios.flatMap((row) => row.slice(1).map(Number)))
  expect(text).toContain(`at most ${most.toFixed(3)}.**`)
  expect(most).toBeLessThan(1)
})
