import { describe, expect, test } from 'vitest'
import { THE_RULES } from '../rules.ts'
import { attacks } from './attacks.ts'
import { boundOf, gainOf } from './gain.ts'
import { smearOf } from './smear.ts'
import { switches } from './switches.ts'

const SIZES = [1, 2, 3, 5, 10]
const rankBy = (votes: number, findings = 0) => (6 + votes + findings) / (12 + votes + findings)

describe.each(Object.values(attacks))('$name', (attack) => {
  test('no ring gets above its bound', () => {
    for (const k of SIZES) expect(gainOf(attack, k, THE_RULES).rank).toBeLessThanOrEqual(boundOf(k))
  })
})

test.each([
  attacks.selfVotes,
  attacks.noCommission,
  attacks.ownersShop,
  attacks.boughtAgent,
  attacks.flagged,
])('$name brings nothing', (attack) => {
  for (const k of SIZES)
    expect(gainOf(attack, k, THE_RULES)).toMatchObject({ rank: 0.5, per1000: 0, paysFrom: null })
})

test('an owner counts as three votes, however many agents it has and however often it votes', () => {
  for (const attack of [attacks.manyAgents, attacks.manyVotes]) {
    for (const k of SIZES) expect(gainOf(attack, k, THE_RULES).rank).toBeCloseTo(rankBy(3 * 0.625), 12)
  }
})

test('votes at a partner’s shop lift by three newcomers’ votes an owner, for the fees of three purchases each', () => {
  for (const k of SIZES) {
    const gain = gainOf(attacks.ownShop, k, THE_RULES)
    expect(gain.rank).toBeCloseTo(rankBy(3 * k * 0.625), 12)
    expect(gain).toMatchObject({
      purchases: 3 * k,
      wallets: k + 2,
      left: BigInt(3 * k) * 1_000n,
      fees: BigInt(3 * k) * 1_000n,
    })
  }
})

test('a ballot lifts by one vote, however many of it are for the same owner', () => {
  for (const k of SIZES)
    expect(gainOf(attacks.oneBallot, k, THE_RULES).rank).toBeCloseTo(rankBy(k * 0.625), 12)
})

test('at honest shops the ring loses the price as well', () => {
  const { left, fees } = gainOf(attacks.honestShops, 3, THE_RULES)
  expect(fees).toBe(9_000n)
  expect(left).toBeGreaterThan(100n * fees)
})

test('ten farmed confirmations count, not more', () => {
  expect(gainOf(attacks.moreFindings, 10, THE_RULES).rank).toBe(
    gainOf(attacks.moreFindings, 20, THE_RULES).rank,
  )
})

test.each(switches)('without “$rule” a ring gets higher', ({ off, attack }) => {
  const kept = gainOf(attack, 20, THE_RULES).rank
  expect(gainOf(attack, 20, { ...THE_RULES, ...off }).rank).toBeGreaterThan(kept + 0.05)
})

test('false opinions bring an honest reviewer down once there are as many as honest ones, not before', () => {
  expect(smearOf(4, 5)).toMatchObject({ after: smearOf(1, 5).before })
  const { before, after } = smearOf(5, 5)
  expect(after).toBeLessThan(before - 0.3)
})

test('false opinions at a hundredth of the price bring nobody down, which they would if opinions did not weigh', () => {
  const cheap = { part: 0.01 }
  const { before, after } = smearOf(100, 5, THE_RULES, cheap)
  expect(after).toBe(before)
  expect(smearOf(5, 5, { ...THE_RULES, opinionsWeigh: false }, cheap).after).toBeLessThan(before - 0.05)
})
