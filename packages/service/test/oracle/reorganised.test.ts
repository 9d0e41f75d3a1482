import { setTimeout as sleep } from 'node:timers/promises'
import { type EscrowDeposit, escrowDeposits, settlePurchases } from '@referrer/contracts/local'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from '../http/caller.ts'
import { DAY, travel } from '../http/chain.ts'
import { vote } from '../http/commitments.ts'
import { publishBuyerReview, standingOf } from '../http/escrows.ts'
import { FULL_COMMISSION, generic, startTestMarket, type TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import {
  newcomer,
  newProduct,
  type Person,
  quiet,
  type Review,
  readProduct,
  readRank,
  type Town,
  tell,
} from '../http/town.ts'
import { audit } from './audit.ts'
import {
  buyTogether,
  decided,
  look,
  mineBlocks,
  RETRY_MS,
  rest,
  signTogether,
  writeWithCashback,
} from './world.ts'

/** Longer time-outs, because a busy machine is slow. */
vi.setConfig({ testTimeout: 180_000 })

/** More blocks than any of these tests removes. */
const CONFIRMATIONS = 40

let m: TestMarket
let town: Town
let link: Review
let other: Review
let buyers: [Person, Person, Person, Person]

beforeAll(async () => {
  m = await startTestMarket({ confirmations: CONFIRMATIONS, env: FULL_COMMISSION })
  // The first identity has the id 0 and must not be the merchant.
  const author = await newcomer(m)
  town = { m, merchantId: await openRecorded(m) }
  const product = await newProduct(town)
  link = await writeWithCashback(m, author, product)
  other = await writeWithCashback(m, await newcomer(m), product)
  buyers = [await newcomer(m), await newcomer(m), await newcomer(m), await newcomer(m)]
})
afterAll(() => m?.close())

/** Resets the chain to a snapshot and continues with another block. */
async function takeBack(id: Hex): Promise<void> {
  await m.market.client.revert({ id })
  await m.market.client.mine({ blocks: 1 })
  await quiet(m)
}

/** Waits until everything sent is final. */
async function comeToRest(): Promise<void> {
  await until(
    async () => {
      await mineBlocks(m, CONFIRMATIONS)
      await sleep(500)
      return (await m.sql`SELECT FROM sender.intents WHERE state IN ('enqueued', 'sent')`).count === 0
    },
    'everything sent to be final',
    120_000,
  )
  await rest(m)
}

const untilReleased = (deposits: readonly EscrowDeposit[]) =>
  until(
    async () => (await Promise.all(deposits.map((one) => standingOf(m, one)))).every((one) => one.isReleased),
    'the releases',
  )
const outcomeOf = async ({ reviewId }: Pick<Review, 'reviewId'>) =>
  (await must(m.call('GET', `/v1/review/${reviewId}`))).comparison_outcome
const rankOf = async ({ author }: Review) => (await readRank(m, author)).repeat
/** The status for the author of the link. */
const statusOf = (escrowId: bigint) =>
  m.call('GET', `/v1/escrow/${escrowId}/status?agent_id=${link.author.agentId}`, { as: link.author.owner })
const cashbackLeg = async ({ escrowId }: EscrowDeposit) => (await must(statusOf(escrowId))).cashback.status

describe('a reorganisation', () => {
  it('that drops purchases takes ranks, opinions and outcomes along, and brings them back with them, by other numbers [REV-16]', async () => {
    const three = buyers.slice(0, 3)
    const signed = await signTogether(m, link, three)
    const settle = async (order: readonly number[]) => {
      const deposits: EscrowDeposit[] = []
      for (const at of order) {
        const purchase = signed[at]
        if (purchase)
          deposits[at] = escrowDeposits(await settlePurchases(m.market, [purchase]))[0] as EscrowDeposit
      }
      await m.indexed()
      return deposits
    }
    const tellAll = async (deposits: readonly EscrowDeposit[]) => {
      for (const [at, buyer] of three.entries()) await tell(m, buyer, deposits[at] as EscrowDeposit, 1)
      await quiet(m)
    }
    const coldRank = await rankOf(other)
    const before = await m.market.client.snapshot()

    const first = await settle([0, 1, 2])
    for (const [at, { owner, agentId }] of three.entries()) {
      const { escrowId } = first[at] as EscrowDeposit
      await must(vote(m, owner, { agentId, escrowId, votes: [other.internalId] }))
    }
    await quiet(m)
    const votedRank = await rankOf(other)
    expect(votedRank).not.toEqual(coldRank)
    await tellAll(first)
    await untilReleased(first)
    expect([await outcomeOf(link), await outcomeOf(other)]).toEqual(['contradicted', 'contradicted'])
    const contradictedRank = await rankOf(other)
    const { product_rank: badRank } = await readProduct(m, link.product)
    expect(badRank).toBeLessThan(0.5)

    await takeBack(before)
    expect([await outcomeOf(link), await outcomeOf(other)]).toEqual(['pending', 'pending'])
    expect(await rankOf(other)).toEqual(coldRank)
    expect(await readProduct(m, link.product)).toMatchObject({ product_rank: 0.5 })
    expect(await statusOf(1n)).toMatchObject({ status: 404 })

    const second = await settle([2, 0, 1])
    await quiet(m)
    expect(second.map(({ escrowId }) => escrowId)).not.toEqual(first.map(({ escrowId }) => escrowId))
    expect(await rankOf(other)).toEqual(votedRank)
    expect(await cashbackLeg(second[0] as EscrowDeposit)).toBe('pending_buyer_review')
    await tellAll(second)
    expect([await outcomeOf(link), await outcomeOf(other)]).toEqual(['contradicted', 'contradicted'])
    expect(await rankOf(other)).toEqual(contradictedRank)
    expect(await readProduct(m, link.product)).toMatchObject({ product_rank: badRank })

    await comeToRest()
    m.clock.aheadMs += RETRY_MS
    await look(m.service)
    await untilReleased(second)
    await comeToRest()
    expect(
      (await decided(m, 'release'))
        .map(({ escrow_id, attempt, state }) => [escrow_id, attempt, state])
        .sort(),
    ).toEqual(
      [
        ...first.map(({ escrowId }) => [escrowId, 1, 'failed']),
        ...second.map(({ escrowId }) => [escrowId, 2, 'confirmed']),
      ].sort(),
    )
    await audit(m, { reverted: 3 })
  })

  it('that drops a review whose cashback is on its way pays that once, and does not pay again when it is back', async () => {
    const [, , , buyer] = buyers
    const [deposit] = (await buyTogether(m, link, [buyer])) as [EscrowDeposit]
    const { owner, agentId } = buyer
    await must(vote(m, owner, { agentId, escrowId: deposit.escrowId, votes: [other.internalId] }))
    const before = await m.market.client.snapshot()
    const { reviewId, internalId } = await tell(m, buyer, deposit, 2)
    await untilReleased([deposit])
    await quiet(m)
    const { product_rank: withIt } = await readProduct(m, link.product)

    await takeBack(before)
    expect(await m.call('GET', `/v1/review/${reviewId}`)).toMatchObject({ status: 404 })
    expect((await readProduct(m, link.product)).product_rank).not.toBe(withIt)
    await untilReleased([deposit])

    await publishBuyerReview(m, owner, deposit, generic(2, 'As it was'))
    await quiet(m)
    expect(await must(m.call('GET', `/v1/review/${reviewId}`))).toMatchObject({ internal_id: internalId })
    expect(await readProduct(m, link.product)).toMatchObject({ product_rank: withIt })
    await look(m.service)
    await comeToRest()
    expect(await decided(m, 'release', [deposit])).toMatchObject([{ attempt: 1, state: 'confirmed' }])
    expect(await cashbackLeg(deposit)).toBe('released')
  })

  it('that drops an opinion which a comparison rests on voids it; another opinion makes another, with another outcome', async () => {
    const praised = await writeWithCashback(m, await newcomer(m), await newProduct(town), 5)
    const deposits = (await buyTogether(m, praised, buyers)) as [
      EscrowDeposit,
      EscrowDeposit,
      EscrowDeposit,
      EscrowDeposit,
    ]
    const [one, two, three, four] = buyers
    await tell(m, one, deposits[0], 4)
    await tell(m, two, deposits[1], 4)
    const before = await m.market.client.snapshot()
    const dropped = await tell(m, three, deposits[2], 1)
    await quiet(m)
    expect(await outcomeOf(praised)).toBe('contradicted')

    await takeBack(before)
    expect(await outcomeOf(praised)).toBe('pending')
    await tell(m, four, deposits[3], 5)
    await quiet(m)
    expect(await outcomeOf(praised)).toBe('confirmed')

    const again = await publishBuyerReview(m, three.owner, deposits[2], generic(1, 'As it was'))
    await quiet(m)
    expect(await outcomeOf(praised)).toBe('confirmed')
    expect(again.review_id).not.toBe(Number(dropped.reviewId))
    expect(await outcomeOf({ reviewId: BigInt(again.review_id) })).toBe('contradicted')
    const { findings } = await must(m.call('GET', `/v1/review/${praised.reviewId}/comparison`))
    expect(findings).toMatchObject([
      { outcome: 'confirmed', comparison: { opinions: [{}, {}, {}] } },
      { outcome: 'pending', comparison: null },
      { outcome: 'contradicted', comparison: { voided_at: expect.any(String), opinions: [{}, {}, {}] } },
    ])
    expect(findings[0].comparison).not.toHaveProperty('voided_at')

    await travel(m, 60 * DAY + 60)
    await m.indexed()
    await look(m.service)
    await comeToRest()
    await look(m.service)
    expect(await decided(m, 'settle')).toHaveLength(8)
    await audit(m, { reverted: 3 })
  })
})
