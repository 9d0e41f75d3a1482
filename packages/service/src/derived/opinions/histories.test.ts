import { seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { account, expectRight, type SmallMarket, smallMarket } from './testing.ts'

const seed = seedOf()
let database: TestDatabase
let chains = 0

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

interface Lived {
  market: SmallMarket
  reviews: bigint[]
  purchases: number[]
}
/** A random event of the history. */
type Step = (lived: Lived) => Promise<unknown>

const one = <T>(items: readonly T[], which: number): T | undefined => items[which % items.length]

const MERCHANTS = [100n, 101n]
const some = {
  agentId: fc.bigInt({ min: 1n, max: 4n }),
  owner: fc.integer({ min: 1, max: 3 }),
  merchantId: fc.constantFrom(...MERCHANTS),
  product: fc.integer({ min: 1, max: 2 }),
  /** In seconds; the last one is on the next day. */
  at: fc.constantFrom(0, 1, 2, 90_000),
  which: fc.nat(1_000),
  satisfaction: fc.constantFrom(0, 0.25, 0.5, 0.75, 1),
}
const said = fc.record({
  ...some,
  weight: fc.integer({ min: 0, max: 1_000_000 }),
  isOpinion: fc.boolean().map((is) => is || undefined),
})

const steps: fc.Arbitrary<Step>[] = [
  said.map(
    ({ isOpinion, weight, ...rest }): Step =>
      async ({ market, reviews }) => {
        const opinion = isOpinion ? { weight, size: 7 } : { weight: null, size: null }
        reviews.push(await market.record({ ...rest, ...opinion }))
      },
  ),
  said.map(
    ({ isOpinion: _, which: _which, ...rest }): Step =>
      async ({ market, reviews }) => {
        reviews.push(await market.say(rest))
      },
  ),
  fc.tuple(some.which, some.at).map(
    ([which, at]): Step =>
      async ({ market, reviews }) => {
        const review = one(reviews, which)
        if (review !== undefined) await market.publish(review, at)
      },
  ),
  some.which.map(
    (which): Step =>
      async ({ market, reviews }) => {
        const review = one(reviews, which)
        if (review !== undefined) await market.drop(review)
      },
  ),
  fc.tuple(some.which, some.satisfaction).map(
    ([which, satisfaction]): Step =>
      async ({ market, reviews }) => {
        await market.sql`
      UPDATE market.reviews SET satisfaction_score = ${satisfaction}
      WHERE internal_id = ${one(reviews, which) ?? 0n}`
      },
  ),
  fc.tuple(some.which, fc.boolean()).map(
    ([which, isKnown]): Step =>
      async ({ market, reviews }) => {
        await market.sql`
      UPDATE market.reviews SET content = ${isKnown ? '{}' : null} WHERE internal_id = ${one(reviews, which) ?? 0n}`
      },
  ),
  fc.tuple(some.which, some.owner).map(
    ([which, owner]): Step =>
      async ({ market, reviews }) => {
        await market.sql`
      UPDATE market.reviews SET author_owner = ${account(owner)} WHERE internal_id = ${one(reviews, which) ?? 0n}`
      },
  ),
  fc.tuple(some.agentId, fc.boolean()).map(
    ([agentId, isFlagged]): Step =>
      ({ market }) =>
        market.flag(agentId, isFlagged),
  ),
  fc.tuple(some.product, some.merchantId).map(
    ([number, merchantId]): Step =>
      async ({ market, purchases }) => {
        purchases.push(await market.buy(number, merchantId))
      },
  ),
  some.which.map(
    (which): Step =>
      async ({ market, purchases }) => {
        await market.unbuy(one(purchases, which) ?? 0)
      },
  ),
  fc.constantFrom(-1, 1, 1, 2).map(
    (days): Step =>
      async ({ market }) => {
        market.clock.day += days
      },
  ),
  ...Array.from({ length: 3 }, () => fc.constant<Step>(({ market }) => market.once())),
]

it(`keeps what all records come to, whatever happens and whenever it looks (SEED=${seed})`, async () => {
  const history = fc.array(fc.oneof(...steps), { minLength: 10, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(history, async (lives) => {
      const lived: Lived = { market: smallMarket(database.sql, ++chains), reviews: [], purchases: [] }
      for (const merchantId of MERCHANTS) {
        await lived.market.enterMerchant(merchantId)
        for (const number of [1, 2]) await lived.market.list(number, merchantId)
      }
      for (const step of lives) await step(lived)
      await lived.market.followAll()
      await expectRight(lived.market)
    }),
    { seed, numRuns: 60 },
  )
}, 60_000)
