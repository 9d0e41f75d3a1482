import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { ringsIn } from '@referrer/ranking'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { readDealings } from './dealings.ts'
import { findInThread } from './find.ts'
import { searchChain } from './schedule.ts'
import { account, createTown, SPENT, type Town } from './testing.ts'

/** The verified shop and the others. */
const [GOOD, OWN, SMALL] = [900, 901, 902]
const HONEST = Array.from({ length: 20 }, (_, index) => 1 + index)
const RING = [31, 32, 33, 34]
const forever = new AbortController().signal

let database: TestDatabase
let chainId = 0
let town: Town

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

beforeEach(async () => {
  chainId += 1
  town = createTown(database.sql, chainId)
  await town.agents(...HONEST, ...RING, 35, 36, 37, 38)
  await town.shops(true, GOOD)
  await town.shops(false, OWN, SMALL)
  await actHonestly()
  await town.collude(RING, OWN, 2)
  await town.vote({ voter: 31, author: 2, merchantId: GOOD })
  await town.vote({ voter: 31, author: 32, merchantId: GOOD })
  await town.standing(31, 400_000)
  await town.pass()
})

async function actHonestly(): Promise<void> {
  for (const voter of HONEST) {
    for (const step of [1, 3, 7, 9]) {
      await town.vote({ voter, author: 1 + ((voter + step) % HONEST.length), merchantId: GOOD })
    }
    await town.vote({ voter, author: 1 + ((voter + 4) % HONEST.length), merchantId: SMALL })
  }
}

const search = () =>
  searchChain({ sql: town.sql, clock: () => town.clock.now, log: pino({ enabled: false }) }, chainId, forever)
/** The next day, with its standings. */
async function searchTomorrow(): Promise<void> {
  town.goOn(1)
  await town.pass()
  await search()
}
const rings = () => town.sql`SELECT * FROM market.rings WHERE chain_id = ${chainId} ORDER BY ring_id`
const membersOf = async (ringId: bigint) => {
  const rows = await town.sql<{ owner: Buffer }[]>`
    SELECT owner FROM market.ring_members WHERE ring_id = ${ringId} ORDER BY owner`
  return rows.map(({ owner }) => owner)
}
const dismiss = (members: number) => town.sql`
  UPDATE market.rings SET is_dismissed = true, members_then = ${members}, dismissed_at = now() WHERE chain_id = ${chainId}`

describe('the search for rings', () => {
  it('stores a ring with its evidence', async () => {
    expect(await search()).toBe(true)
    const [ring, ...others] = await rings()
    expect(others).toEqual([])
    expect(ring).toMatchObject({
      members: 4,
      votes_inside: 24,
      votes_all: 26,
      spent_inside: BigInt(24 * SPENT),
      spent_all: BigInt(26 * SPENT),
      standing: 100_000,
      is_dismissed: false,
    })
    expect(ring?.first_vote_at.getTime()).toBeLessThan(ring?.last_vote_at.getTime())
    expect(await membersOf(ring?.ring_id)).toEqual(RING.map(account))
    expect(
      await town.sql`SELECT owner, standing, cast_inside, got_inside FROM market.ring_members WHERE ring_id = ${ring?.ring_id} ORDER BY owner LIMIT 2`,
    ).toEqual([
      { owner: account(31), standing: 400_000, cast_inside: 6, got_inside: 6 },
      { owner: account(32), standing: null, cast_inside: 6, got_inside: 6 },
    ])
    expect(
      await town.sql`SELECT merchant_id, votes, spent FROM market.ring_shops WHERE ring_id = ${ring?.ring_id}`,
    ).toEqual([{ merchant_id: BigInt(OWN), votes: 24, spent: BigInt(24 * SPENT) }])
    const [made] = await town.sql`SELECT * FROM market.ring_searches WHERE chain_id = ${chainId}`
    expect(made).toMatchObject({ is_complete: true, votes: 12 })
  })

  it('is made once a day, and only while a shop is verified', async () => {
    expect(await search()).toBe(true)
    expect(await search()).toBe(false)
    await town.pass()
    expect(await search()).toBe(false)
    town.goOn(1)
    expect(await search()).toBe(false)
    await town.pass()
    expect(await search()).toBe(true)
    town.goOn(1)
    await town.pass(0)
    expect(await search()).toBe(false)
  })

  it('knows a ring again, with those who came and without those who left', async () => {
    await search()
    const [first] = await rings()
    await town.collude([32, 33, 34, 35], OWN, 3)
    for (let vote = 0; vote < 40; vote++)
      await town.vote({ voter: 31, author: 1 + (vote % 20), merchantId: GOOD })
    await searchTomorrow()
    const [again, ...others] = await rings()
    expect(others).toEqual([])
    expect(again).toMatchObject({ ring_id: first?.ring_id, found_at: first?.found_at, members: 4 })
    expect(again?.seen_at.getTime()).toBeGreaterThan(first?.seen_at.getTime())
    expect(await membersOf(first?.ring_id)).toEqual([32, 33, 34, 35].map(account))
  })

  it('leaves a dismissed ring alone until it has grown by half', async () => {
    await search()
    await dismiss(4)
    const state = async () => (await rings()).map(({ is_dismissed, members }) => ({ is_dismissed, members }))
    await searchTomorrow()
    expect(await state()).toEqual([{ is_dismissed: true, members: 4 }])
    await town.collude([...RING, 35], OWN)
    await searchTomorrow()
    expect(await state()).toEqual([{ is_dismissed: true, members: 5 }])
    await town.collude([...RING, 35, 36], OWN)
    await searchTomorrow()
    expect(await state()).toEqual([{ is_dismissed: false, members: 6 }])
  })

  it('forgets what was not found for 90 days, and votes of more than 360', async () => {
    await search()
    town.goOn(361)
    await actHonestly()
    await town.collude([35, 36, 37], OWN, 3)
    await searchTomorrow()
    const left = await rings()
    expect(left.map(({ members }) => members)).toEqual([3])
    expect(
      await town.sql`SELECT FROM market.ring_members AS m JOIN market.rings USING (ring_id) WHERE chain_id = ${chainId}`,
    ).toHaveLength(3)
  })

  it('finds the same in a thread', async () => {
    const asked = { chainId, day: 20_000, now: new Date(town.clock.now), signal: forever }
    const { dealings } = await readDealings(town.sql, asked)
    const inLine = ringsIn(dealings)
    expect(inLine).toHaveLength(1)
    await expect(findInThread(dealings, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
    expect(await findInThread(dealings, forever)).toEqual(inLine)
  })
})
