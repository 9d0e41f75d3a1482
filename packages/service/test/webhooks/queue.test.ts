import type { Transaction } from '@referrer/database'
import { ContentHash } from '@referrer/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { marketWork } from '../../src/app/work.ts'
import { deleteQueued, queueChanges, readQueued } from '../../src/derived/webhooks/store.ts'
import { webhooksWorker } from '../../src/derived/webhooks/worker.ts'
import { runAlone, until } from '../../src/machinery/workers/testing.ts'
import { call } from '../calls.ts'
import { send } from '../http/chain.ts'
import { generic } from '../http/market.ts'
import { type BuyerReview, buyThrough, edit, newProduct, quiet, tell, write } from '../http/town.ts'
import { mineBlocks } from '../oracle/world.ts'
import {
  announceAll,
  CONFIRMATIONS,
  deliver,
  type Hook,
  messagesOf,
  newHook,
  newPerson,
  startWorld,
  typesOf,
  type World,
} from './world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

/** A review of a purchase, and a webhook of its author that was told of it. */
async function newReview(): Promise<{ review: BuyerReview; hook: Hook }> {
  const { m } = world
  const author = await newPerson(world)
  // A product of its own: nobody else's review has to be voted on.
  const link = await write(m, await newPerson(world), await newProduct(world))
  const hook = await newHook(world, author.owner, { events: ['review.published', 'review.updated'] })
  const review = await tell(m, author, await buyThrough(m, author, link), 1)
  await deliver(world)
  expect(typesOf(world, hook)).toEqual(['review.published'])
  return { review, hook }
}

const queued = async (what: string, subject: number) =>
  (await world.m.sql`SELECT FROM market.webhook_changes WHERE what = ${what} AND subject = ${subject}`).count

describe('a queued change', () => {
  it('is one for each record, however often that changes', async () => {
    const { m, link } = world
    const { review } = await newReview()
    for (const rating of [2, 3, 4]) await edit(m, review, rating)
    await quiet(m)
    expect(await queued('review', review.internalId)).toBe(1)
    const buyer = await newPerson(world)
    const { payer, nonce } = await buyThrough(m, buyer, link).then(async ({ escrowId }) => {
      const [row] = await m.sql<{ payer: Buffer; nonce: Buffer }[]>`
        SELECT payer, nonce FROM chain.escrows WHERE escrow_id = ${escrowId}`
      if (!row) throw new Error('the purchase is not indexed')
      return row
    })
    const again = () => m.sql`
      INSERT INTO market.pending_changes (chain_id, what, contract, payer, nonce, merchant_id, product_id)
      SELECT chain_id, 'purchase', contract, payer, nonce, merchant_id, product_id FROM chain.escrows WHERE nonce = ${nonce}`
    for (let times = 0; times < 3; times += 1) {
      await again()
      await quiet(m)
    }
    const rows = await m.sql`SELECT FROM market.webhook_changes WHERE payer = ${payer} AND nonce = ${nonce}`
    expect(rows.count).toBe(1)
    await deliver(world)
  })

  it('that waits holds up nobody, however many there are', async () => {
    const { m, link } = world
    const buyer = await newPerson(world)
    const hook = await newHook(world, buyer.owner)
    // Votes on purchases that are not on the chain.
    await m.sql`
      INSERT INTO market.webhook_changes (chain_id, what, subject, queued_at)
      SELECT ${m.chainId}, 'ballot', 1000000 + n, now() FROM generate_series(1, 450) AS n`
    await buyThrough(m, buyer, link)
    await quiet(m)
    await mineBlocks(m, CONFIRMATIONS)
    const worker = runAlone(webhooksWorker(world.context))
    try {
      await until(() => typesOf(world, hook).length > 0, 'the message')
    } finally {
      await worker.stop()
    }
    expect(typesOf(world, hook)).toEqual(['purchase.settled'])
    expect((await m.sql`SELECT FROM market.webhook_changes WHERE subject > 1000000`).count).toBe(450)
    await m.sql`DELETE FROM market.webhook_changes`
  })

  it('that comes while the one before is announced is kept, and waits for nobody', async () => {
    const { sql, chainId } = world.m
    await newHook(world, (await newPerson(world)).owner)
    const queue = () =>
      sql.begin((tx) => queueChanges(tx, chainId, [{ what: 'review', internalId: 77n }], new Date()))
    const read = async (tx: Transaction) =>
      (await readQueued(tx, chainId, { after: 0n, limit: 10 })).map(({ id }) => id)
    const orders = [
      async (tx: Transaction, ids: bigint[]) => {
        await queue()
        await deleteQueued(tx, ids)
      },
      async (tx: Transaction, ids: bigint[]) => {
        await deleteQueued(tx, ids)
        await queue()
      },
    ]
    for (const order of orders) {
      await sql`DELETE FROM market.webhook_changes`
      await queue()
      await sql.begin(async (tx) => {
        const ids = await read(tx)
        expect(ids).toHaveLength(1)
        await order(tx, ids)
      })
      expect(await queued('review', 77)).toBe(1)
    }
    await sql`DELETE FROM market.webhook_changes`
  })

  it('that nobody takes is deleted after two days, also where there are no keys any more', async () => {
    const { m, context } = world
    await m.sql`DELETE FROM market.webhook_changes`
    await m.sql`
      INSERT INTO market.webhook_changes (chain_id, what, subject, queued_at)
      SELECT ${m.chainId}, 'ballot', n, now() - INTERVAL '49 hours' FROM generate_series(1, 2500) AS n`
    await m.sql`
      INSERT INTO market.webhook_changes (chain_id, what, subject, queued_at)
      VALUES (${m.chainId}, 'ballot', 2501, now() - INTERVAL '47 hours')`
    const { schedules } = marketWork({ ...context, config: { ...context.config, webhookKeys: [] } })
    const sweep = schedules.find(({ name }) => name === 'sweep-webhook-changes')
    await sweep?.run({ signal: AbortSignal.timeout(60_000), sql: m.sql })
    expect((await m.sql`SELECT FROM market.webhook_changes`).count).toBe(1)
    expect(await queued('ballot', 2501)).toBe(1)
    await m.sql`DELETE FROM market.webhook_changes`
  })
})

describe('an edit', () => {
  it('is told although the text was the same before', async () => {
    const { review, hook } = await newReview()
    for (const rating of [2, 3, 2]) {
      await edit(world.m, review, rating)
      await deliver(world)
    }
    const told = messagesOf(world, hook).filter(({ type }) => type === 'review.updated')
    expect(told.map(({ data }) => data.satisfaction_score)).toHaveLength(3)
    expect(new Set(world.receiver.at(hook.path).map(({ id }) => id)).size).toBe(4)
  })

  it('that a reorganisation dropped is told when it is mined again, once', async () => {
    const { m } = world
    const { review, hook } = await newReview()
    const { author, product, reviewId } = review
    const content = generic(2, 'On second thoughts')
    const hash = ContentHash.contentHash({ agentId: author.agentId, ...product, content })
    const editAgain = () => send(m, call(m, author.owner, 'ReviewRegistry', 'editContent', [reviewId, hash]))
    const before = await m.market.client.snapshot()
    await edit(m, review, 2)
    await announceAll(world)
    await m.market.client.revert({ id: before })
    await mineBlocks(m, 10)
    await deliver(world)
    expect(typesOf(world, hook)).toEqual(['review.published'])
    const unedited = await m.market.client.snapshot()
    await editAgain()
    await deliver(world)
    expect(typesOf(world, hook)).toEqual(['review.published', 'review.updated'])
    // Deeper than the confirmations.
    await m.market.client.revert({ id: unedited })
    await mineBlocks(m, 10)
    await quiet(m)
    await editAgain()
    await deliver(world)
    expect(typesOf(world, hook)).toEqual(['review.published', 'review.updated'])
  })
})
