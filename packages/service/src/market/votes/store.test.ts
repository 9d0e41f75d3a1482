import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { fillMarket } from '../../testing/records.ts'
import { findVotable, insertBallot, type NewBallot, type VotablePurchase } from './store.ts'

const CHAIN = 1
const ROWS = 200

let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase(migrations)
  await fillMarket(database.sql, CHAIN, ROWS)
})
afterAll(() => database.drop())

/** The purchases with an escrow id: both escrow contracts of the filled market count from 1. */
async function purchasesOf(escrowId: bigint): Promise<[VotablePurchase, VotablePurchase]> {
  const [newer, older] = await findVotable(database.sql, CHAIN, escrowId)
  if (!newer || !older) throw new Error(`there are no two purchases of the id ${escrowId}`)
  return [newer, older]
}

const ballotOf = (purchase: VotablePurchase, reasonings: string[]): NewBallot => ({
  purchase,
  voterAgentId: 7n,
  voterOwner: Buffer.alloc(20, 7),
  voterStanding: 250_000,
  shopStanding: null,
  votesHash: Buffer.alloc(32),
  commitmentNonce: Buffer.alloc(32),
  expiry: 1,
  signature: Buffer.alloc(65),
  at: new Date('2026-07-01T00:00:00Z'),
  votes: reasonings.map((reasoning, at) => ({
    internalId: BigInt(1 + at),
    reasoning,
    authorAgentId: 8n,
    qualifies: at > 0,
    weight: at,
    supports: at > 1,
  })),
})

const votesOf = ({ payer }: VotablePurchase) => database.sql`
  SELECT v.position, v.reasoning, v.review_internal_id, v.qualifies, v.weight, v.supports, v.voter_standing, v.shop_standing
  FROM market.votes AS v JOIN market.ballots AS b USING (ballot_id) WHERE b.payer = ${payer} ORDER BY v.position`

describe('the votes of a purchase', () => {
  it('are kept once, whole and in order, however many come at the same moment', async () => {
    const [purchase] = await purchasesOf(5n)
    expect(purchase.has_voted).toBe(false)
    const sent = Array.from({ length: 50 }, (_, n) => [`first of ${n}`, `second of ${n}`, `third of ${n}`])
    const kept = await Promise.all(
      sent.map((reasonings) => insertBallot(database.sql, CHAIN, ballotOf(purchase, reasonings))),
    )
    expect(kept.filter(Boolean)).toHaveLength(1)
    expect(await votesOf(purchase)).toEqual(
      sent[kept.indexOf(true)]?.map((reasoning, at) => ({
        position: 1 + at,
        reasoning,
        review_internal_id: BigInt(1 + at),
        qualifies: at > 0,
        weight: at,
        supports: at > 1,
        voter_standing: 250_000,
        shop_standing: null,
      })),
    )
    expect((await purchasesOf(5n))[0].has_voted).toBe(true)
  })

  it('are not those of a purchase with the same id in a contract that was replaced', async () => {
    const [newer, older] = await purchasesOf(6n)
    expect(newer.contract).not.toEqual(older.contract)
    expect(await insertBallot(database.sql, CHAIN, ballotOf(newer, ['of the newer']))).toBe(true)
    expect((await purchasesOf(6n)).map(({ has_voted }) => has_voted)).toEqual([true, false])
    expect(await insertBallot(database.sql, CHAIN, ballotOf(older, ['of the older']))).toBe(true)
    expect(await insertBallot(database.sql, CHAIN, ballotOf(newer, ['again']))).toBe(false)
  })

  it('leave one change for those who follow them', async () => {
    const changes = () => database.sql<{ subject: bigint }[]>`
      SELECT subject FROM market.pending_changes WHERE chain_id = ${CHAIN} AND what = 'ballot' ORDER BY id`
    const before = await changes()
    const [purchase] = await purchasesOf(7n)
    await insertBallot(database.sql, CHAIN, ballotOf(purchase, ['one', 'two', 'three']))
    await insertBallot(database.sql, CHAIN, ballotOf(purchase, ['too late']))
    const [ballot] = await database.sql<{ ballot_id: bigint }[]>`
      SELECT ballot_id FROM market.ballots WHERE payer = ${purchase.payer}`
    expect((await changes()).slice(before.length)).toEqual([{ subject: ballot?.ballot_id }])
  })
})
