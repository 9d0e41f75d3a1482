import { freshDatabase } from '@referrer/database/testing'
import { migrations } from '@referrer/service'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runYear } from './run.ts'
import { standings, summaryOf } from './summary.ts'
import { comparer } from './verify.ts'
import { scaled } from './world.ts'

const SMALL = { seed: 7, scale: scaled(0.05), days: 90 }
let database: Awaited<ReturnType<typeof freshDatabase>>

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

test('the same seed gives the same year, another one another', async () => {
  const first = summaryOf(await runYear(SMALL))
  expect(summaryOf(await runYear(SMALL))).toBe(first)
  expect(summaryOf(await runYear({ ...SMALL, seed: 8 }))).not.toBe(first)
})

test('every unit that buyers paid is with somebody, and honest reviewers end above rings that lie', async () => {
  const world = await runYear(SMALL)
  const { buyers, ...others } = world.market.balances.check(world.market.purchases)
  expect(Object.values(others).reduce((sum, amount) => sum + amount, 0n)).toBe(-buyers)
  for (const amount of Object.values(others)) expect(amount).toBeGreaterThan(0n)
  // For a type with few purchases there is too little evidence to separate honest from colluding agents.
  const [most] = standings(world).toSorted((a, b) => b.honest.length - a.honest.length)
  const begun = world.honest.filter((agent) => world.roles.get(agent)?.what !== 'newcomer')
  expect(most?.honest).toHaveLength(begun.length)
  expect(most?.pairs).toBeGreaterThan(0.95)
})

test('the service’s own followers make the same ranks and findings of the same history', async () => {
  const { compare, compared } = comparer(database.sql)
  const small = { seed: 3, scale: scaled(0.03), days: 8 }
  const world = await runYear({
    ...small,
    onBegin: ({ market }) => compare(market, false),
    onTick: ({ market }, { isLast }) => compare(market, isLast),
  })
  expect(compared()).toBeGreaterThan(1_000)
  expect(world.market.oracle.findings).toBeGreaterThan(50)
  expect(world.market.agents.filter(({ flagged }) => flagged)).not.toEqual([])
})
