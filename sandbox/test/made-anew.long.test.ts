import { expect, it } from 'vitest'
import { makePlan } from '../src/demo/plan.ts'
import { MAKE, readSnapshot } from '../src/demo/snapshot.ts'
import { makeDemo } from '../src/demo-maker.ts'
import { factsOf, firstDays } from './demo-facts.ts'
import { freeOffset, PATIENCE_MS } from './sandbox.ts'

/** By then everybody has come through each of the doors, but the admin through those for flags and rejected proofs. */
const DAYS_PLAYED = 16

it('its first days are what the plan makes of them through the doors', {
  timeout: 2 * PATIENCE_MS,
}, async () => {
  const { purchases, reviews } = makePlan()
  const early = reviews.filter(({ day }) => day < DAYS_PLAYED)
  expect({
    byAgents: purchases.some(({ day, buyer }) => day < DAYS_PLAYED && 'reviewer' in buyer),
    byWallets: purchases.some(({ day, buyer }) => day < DAYS_PLAYED && 'wallet' in buyer),
    proven: early.some(({ purchase }) => purchase === undefined),
    bought: early.some(({ purchase }) => purchase !== undefined),
    votes: early.some(({ votes }) => votes.length > 0),
  }).toEqual({ byAgents: true, byWallets: true, proven: true, bought: true, votes: true })
  const made = await makeDemo({ env: { PORT_OFFSET: await freeOffset() }, say: () => {}, days: DAYS_PLAYED })
  expect(factsOf(made), `make it anew with ${MAKE}`).toEqual(factsOf(firstDays(readSnapshot(), DAYS_PLAYED)))
})
