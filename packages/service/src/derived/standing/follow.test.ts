import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { dayOf, inflationOf, MILLION, standingOf } from '@referrer/ranking'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Chain } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import type { Follower } from '../following/following.ts'
import { standingFollower } from './follow.ts'
import type { PassOptions } from './pass.ts'
import { MOST_SPENT } from './spending.ts'
import { account, createGround, type Ground } from './testing.ts'

let database: TestDatabase
let chainId = 0
let g: Ground

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

const follower = (options?: PassOptions) => standingFollower({ log: pino({ level: 'silent' }) }, options)
const ground = (...followers: Follower[]) => createGround(database.sql, chainId, followers)

beforeEach(() => {
  chainId += 1
  g = ground(follower())
})

/** Shops 101 to 104 of the owners 1 to 4. */
async function openShops(): Promise<void> {
  for (const owner of [1, 2, 3, 4]) await g.shop(100 + owner, owner)
}

const passes = () => database.sql`
  SELECT pass::integer, day, verified, owners, shops FROM market.standing_passes WHERE chain_id = ${chainId} ORDER BY pass`

interface Standings {
  owners: Record<string, number>
  shops: Record<string, number>
}

async function stored(): Promise<Standings> {
  const owners = await database.sql<{ owner: Buffer; standing: number }[]>`
    SELECT owner, standing FROM market.owner_standings WHERE chain_id = ${chainId}`
  const shops = await database.sql<{ merchant_id: bigint; standing: number }[]>`
    SELECT merchant_id, standing FROM market.shop_standings WHERE chain_id = ${chainId}`
  return {
    owners: Object.fromEntries(
      owners.map(({ owner, standing }) => [Number(`0x${owner.toString('hex')}`), standing]),
    ),
    shops: Object.fromEntries(shops.map(({ merchant_id, standing }) => [Number(merchant_id), standing])),
  }
}

/** The rows with the transactions that wrote them. */
const versions = () => database.sql`
  SELECT xmin::text, owner::text AS of FROM market.owner_standings WHERE chain_id = ${chainId}
  UNION ALL SELECT xmin::text, merchant_id::text FROM market.shop_standings WHERE chain_id = ${chainId} ORDER BY 2`

/** What `standingOf` says of the entries, sorted in another way than the pass does. */
function expected(verified: readonly number[]): Standings {
  const inflation = inflationOf(dayOf(new Date(g.clock.now)))
  const worth = (spent: bigint) => Math.min(Number(spent / inflation), MOST_SPENT)
  const entries = [...g.entries.values()].filter(({ spent }) => worth(spent) > 0)
  const owners = [...new Set(entries.map(({ owner }) => owner))]
  const shops = [...new Set([...entries.map(({ shop }) => shop), ...verified])]
  const sorted = owners.flatMap((owner) => entries.filter((entry) => entry.owner === owner))
  const first = owners.map((owner) => sorted.findIndex((entry) => entry.owner === owner))
  const standing = standingOf({
    first: Int32Array.from([...first, sorted.length]),
    shop: Int32Array.from(sorted, ({ shop }) => shops.indexOf(shop)),
    spent: Float64Array.from(sorted, ({ spent }) => worth(spent)),
    isVerified: Uint8Array.from(shops, (shop) => (verified.includes(shop) ? 1 : 0)),
  })
  return {
    owners: Object.fromEntries(owners.map((owner, at) => [owner, standing.owners[at] ?? 0])),
    shops: Object.fromEntries(shops.map((shop, at) => [shop, standing.shops[at] ?? 0])),
  }
}

/** The same numbers from 0 to 1 each time. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return state / 2 ** 31
  }
}

async function spendAtRandom(seed: number): Promise<void> {
  const roll = dice(seed)
  for (let purchase = 0; purchase < 120; purchase += 1) {
    const [owner, shop] = [10 + Math.floor(roll() * 30), 101 + Math.floor(roll() * 12)]
    await g.spend(owner, shop, Math.ceil(roll() ** 3 * 90_000_000))
    if (roll() < 0.2) g.pass(Math.floor(roll() * 40))
  }
}

/** A replica that only looks whether a pass is due, and makes it. */
function createLook(): () => Promise<boolean | undefined> {
  const { refresh } = follower()
  const chain = { config: { chainId } } as Chain
  return () => database.sql.begin(async (tx) => refresh?.({ tx, chain, now: new Date(g.clock.now) }))
}

/** Returns the number of the change. */
async function queuePurchase(): Promise<bigint> {
  const [row] = await database.sql<{ id: bigint }[]>`
    INSERT INTO market.pending_changes (chain_id, what, contract, payer, nonce, merchant_id, product_id)
    VALUES (${chainId}, 'purchase', '', '', '', 101, '') RETURNING id`
  return row?.id ?? 0n
}

describe('the standings of a pass', () => {
  it.each([
    ['in line', {}],
    ['in a thread', { few: 0 }],
  ])('are those of the same entries, %s', async (_, options) => {
    g = ground(follower(options))
    await openShops()
    await spendAtRandom(7)
    await g.decide(101)
    await g.decide(103)
    await g.follow()
    const wanted = expected([101, 103])
    expect(Object.values(wanted.shops).filter((each) => each > 0 && each < MILLION).length).toBeGreaterThan(3)
    expect(await stored()).toEqual(wanted)
    expect(await passes()).toMatchObject([
      { pass: 1, day: dayOf(new Date(g.clock.now)), verified: 2, owners: Object.keys(wanted.owners).length },
    ])
  })

  it('are 0 in a region that spends nothing outside and where nobody else buys', async () => {
    await openShops()
    await g.spend(20, 101, 5_000_000)
    await g.spend(20, 102, 5_000_000)
    for (const member of [30, 31]) for (const shop of [103, 104]) await g.spend(member, shop, 9_000_000)
    await g.decide(101)
    await g.follow()
    const { owners, shops } = await stored()
    expect(owners).toMatchObject({ 30: 0, 31: 0 })
    expect(shops).toMatchObject({ 101: MILLION, 103: 0, 104: 0 })
    expect(owners[20]).toBeGreaterThan(500_000)
  })

  it('leave out what has faded to nothing, and take an entry as 2^33 at most', async () => {
    await openShops()
    await g.spend(20, 102, 1)
    await g.spend(21, 101, MOST_SPENT)
    await g.spend(21, 102, 40 * MOST_SPENT)
    await g.decide(101)
    await g.follow()
    expect((await stored()).owners).toMatchObject({ 20: expect.any(Number), 21: expect.any(Number) })
    const [shop] = await database.sql`
      SELECT revenue, customers FROM market.shop_standings WHERE chain_id = ${chainId} AND merchant_id = 102`
    expect(shop).toEqual({ revenue: BigInt(MOST_SPENT) + 1n, customers: 2 })
    g.pass(180)
    await g.follow()
    expect(await stored()).toEqual(expected([101]))
    expect((await stored()).owners).not.toHaveProperty('20')
  })

  it('are of one chain alone', async () => {
    await openShops()
    await g.spend(20, 101, 5_000_000)
    await g.decide(101)
    await g.follow()
    const before = [await stored(), await passes()]
    const other = createGround(database.sql, chainId + 1_000, [follower()])
    await other.shop(101, 1)
    await other.spend(21, 101, 5_000_000)
    await other.decide(101)
    await other.follow()
    expect([await stored(), await passes()]).toEqual(before)
    g.pass(1)
    await g.follow()
    expect(await stored()).toEqual(before[0])
  })
})

describe('a pass', () => {
  it('is never made in a market that has verified nothing', async () => {
    await openShops()
    await g.spend(20, 101, 5_000_000)
    for (const days of [0, 1, 5]) {
      g.pass(days)
      await g.follow()
    }
    expect(await passes()).toEqual([])
  })

  it('is made once a day, and writes only what has changed', async () => {
    await openShops()
    await g.spend(20, 101, 5_000_000)
    await g.spend(21, 102, 5_000_000)
    await g.decide(101)
    await g.follow()
    const before = await versions()
    expect(await g.followOnce()).toBe(false)
    g.pass(1)
    await g.spend(21, 101, 1_000_000)
    await g.follow()
    expect(await passes()).toMatchObject([{ pass: 1 }, { pass: 2 }])
    expect(await stored()).toEqual(expected([101]))
    const after = await versions()
    const of = (rows: typeof before, owner: number) =>
      rows.find((row) => row.of === `\\x${account(owner).toString('hex')}`)
    expect(of(after, 20)).toEqual(of(before, 20))
    expect(of(after, 21)).not.toEqual(of(before, 21))
  })

  it('is made again at once when a shop is verified, and a repeat changes nothing', async () => {
    await openShops()
    await g.spend(20, 102, 5_000_000)
    await g.decide(101)
    await g.follow()
    expect((await stored()).owners).toEqual({ 20: 0 })
    await g.decide(102)
    await g.follow()
    expect((await stored()).owners).toEqual({ 20: MILLION })
    const before = await versions()
    await g.decide(102)
    await g.follow()
    expect(await passes()).toMatchObject([{ verified: 1 }, { verified: 2 }, { verified: 2 }])
    expect(await versions()).toEqual(before)
  })

  it('switches standings off when the last verification is withdrawn, and then reads no spending', async () => {
    await openShops()
    await g.spend(20, 101, 5_000_000)
    await g.decide(101)
    await g.follow()
    await g.decide(101, false)
    await database.sql`ALTER TABLE market.spent_at_shops RENAME TO spent_elsewhere`
    try {
      await g.follow()
      g.pass(1)
      await g.follow()
    } finally {
      await database.sql`ALTER TABLE market.spent_elsewhere RENAME TO spent_at_shops`
    }
    expect(await stored()).toEqual({ owners: {}, shops: {} })
    expect(await passes()).toMatchObject([
      { verified: 1, owners: 1, shops: 1 },
      { verified: 0, owners: 0, shops: 0 },
      { verified: 0, owners: 0, shops: 0 },
    ])
  })

  it('takes the verification from a shop that is sold, and gives it back with the shop', async () => {
    await openShops()
    await g.spend(20, 101, 5_000_000)
    await g.decide(101)
    await g.decide(102)
    await g.follow()
    await g.sell(101, 9)
    await g.follow()
    expect((await stored()).shops).toEqual({ 101: 0, 102: MILLION })
    await g.sell(101, 1)
    await g.follow()
    expect((await stored()).shops).toEqual({ 101: MILLION, 102: MILLION })
    expect(await passes()).toMatchObject([{ verified: 2 }, { verified: 1 }, { verified: 2 }])
  })

  it('learns after a restart that a shop was sold', async () => {
    await openShops()
    await g.decide(101)
    await g.decide(102)
    await g.follow()
    await g.sell(101, 9)
    await ground({ follow: async () => {} }).follow()
    g = ground(follower())
    await g.follow()
    expect(await passes()).toMatchObject([{ verified: 2 }, { verified: 1 }])
  })

  it('waits for the changes that came before it, and not for those that come meanwhile', async () => {
    await openShops()
    await g.decide(101)
    const look = createLook()
    const early = await queuePurchase()
    expect(await look()).toBe(false)
    const late = await queuePurchase()
    expect(await look()).toBe(false)
    await database.sql`DELETE FROM market.pending_changes WHERE chain_id = ${chainId} AND id <= ${early}`
    expect(await look()).toBe(true)
    await database.sql`DELETE FROM market.pending_changes WHERE id = ${late}`
    expect(await passes()).toHaveLength(1)
  })

  it('waits again for changes after another replica has made the one that was due', async () => {
    await openShops()
    await g.decide(101)
    const look = createLook()
    await queuePurchase()
    expect(await look()).toBe(false)
    await g.follow()
    expect(await look()).toBe(false)
    g.pass(1)
    await queuePurchase()
    expect(await look()).toBe(false)
    expect(await passes()).toHaveLength(1)
  })

  it('is not made while the chain is indexed anew', async () => {
    const reach = (block: number) => database.sql`
      INSERT INTO indexer.checkpoints (chain_id, block_number, block_hash, block_time, final_number, head_number, head_time)
      VALUES (${chainId}, ${block}, '', now(), 0, 900, now())
      ON CONFLICT (chain_id) DO UPDATE SET block_number = excluded.block_number`
    await openShops()
    await reach(500)
    await g.decide(101)
    await g.follow()
    await reach(499)
    await g.sell(101, 9)
    g.pass(1)
    await g.follow()
    expect(await passes()).toMatchObject([{ verified: 1 }])
    await reach(500)
    await g.sell(101, 1)
    await g.follow()
    expect(await passes()).toMatchObject([{ verified: 1 }, { verified: 1 }])
  })

  describe.each([
    ['in its thread', breakThread],
    ['in the database, after it has written', breakDatabase],
  ])('that fails %s', (_, breakPass) => {
    it('leaves the standings of before and the other followers at work, and is made later', async () => {
      const options: PassOptions = { few: 0 }
      let refreshed = 0
      const counting: Follower = {
        follow: async () => {},
        refresh: async () => {
          refreshed += 1
          return false
        },
      }
      g = ground(follower(options), counting)
      await openShops()
      await g.spend(20, 101, 5_000_000)
      await g.decide(101)
      await g.follow()
      const before = await stored()
      const mend = await breakPass(options)
      await g.decide(102)
      await g.spend(21, 102, 5_000_000)
      const until = refreshed
      await g.follow()
      expect(refreshed).toBe(until + 1)
      expect([await stored(), (await passes()).length]).toEqual([before, 1])
      await mend()
      await g.follow()
      expect(await passes()).toHaveLength(1)
      g.clock.now += 300_000
      await g.follow()
      expect(await stored()).toEqual(expected([101, 102]))
    })
  })
})

/** Returns how to mend it. */
async function breakThread(options: PassOptions): Promise<() => Promise<void>> {
  options.longestMs = 0
  return async () => {
    options.longestMs = 60_000
  }
}

/** The owners can be written, but the shops cannot. */
async function breakDatabase(): Promise<() => Promise<void>> {
  await database.sql`ALTER TABLE market.shop_standings ADD CONSTRAINT broken CHECK (standing < 0) NOT VALID`
  return async () => {
    await database.sql`ALTER TABLE market.shop_standings DROP CONSTRAINT broken`
  }
}
