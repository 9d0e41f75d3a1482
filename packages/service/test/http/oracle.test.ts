// The oracle's transactions on the chain.
import { developmentAccount, type EscrowDeposit } from '@referrer/contracts/local'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { type Address, getAbiItem, type Hex, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { catchUpReleases, settleEscrows } from '../../src/derived/oracle/schedule.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { call } from '../calls.ts'
import { must } from './caller.ts'
import { DAY, send, travel } from './chain.ts'
import { setCashbackRate } from './commitments.ts'
import { CASHBACK, HELD_BACK, openShop, publishBuyerReview, type Shop, standingOf } from './escrows.ts'
import { type Bought, buy, generic, publishReview, startTestMarket, type TestMarket } from './market.ts'

let m: TestMarket
let shop: Shop

beforeAll(async () => {
  m = await startTestMarket()
  shop = await openShop(m)
  await m.indexed()
})
afterAll(() => m.close())

const bought = (more: Partial<Bought> = {}) =>
  buy(m, m.market.accounts.buyer, { ...shop.sold, buyerAgentId: shop.buyer, ...more })

async function review(deposit: EscrowDeposit): Promise<void> {
  const body = await publishBuyerReview(m, m.market.accounts.buyer, deposit)
  await m.indexed()
  await must(m.call('POST', '/v1/review/register', { as: m.market.accounts.buyer, body }))
}

async function tick(schedule: typeof settleEscrows): Promise<void> {
  await m.indexed()
  await schedule(m.service.context).run({ signal: AbortSignal.timeout(60_000), sql: m.sql })
}

const recorded = async ({ escrowId }: EscrowDeposit) => {
  const [row] = await m.sql`SELECT * FROM chain.escrows WHERE escrow_id = ${escrowId}`
  return row
}

const decisions = ({ escrowId }: EscrowDeposit) => m.sql`
  SELECT kind, attempt, contradicted, cashback_earned, inputs, is_open, transaction_id
  FROM market.escrow_decisions WHERE escrow_id = ${escrowId} ORDER BY kind, attempt`

const shownDecisions = async ({ escrowId }: EscrowDeposit): Promise<{ transaction: unknown }[]> =>
  (await must(m.call('GET', `/v1/escrow/${escrowId}/decisions`))).decisions

const statusOf = ({ escrowId }: EscrowDeposit) =>
  must(m.call('GET', `/v1/escrow/${escrowId}/status?agent_id=${shop.buyer}`, { as: m.market.accounts.buyer }))

describe('cashback', () => {
  it('is paid once the buyer has reviewed the purchase, and once only', async () => {
    const deposit = await bought()
    await review(deposit)
    await until(async () => (await standingOf(m, deposit)).isReleased, 'the release')
    await tick(catchUpReleases)
    await tick(settleEscrows)
    expect(await decisions(deposit)).toMatchObject([
      {
        kind: 'release',
        attempt: 1,
        cashback_earned: true,
        inputs: {
          buyer_agent_id: Number(shop.buyer),
          buyer_review_internal_id: expect.any(Number),
          votes_missing: false,
        },
      },
    ])
  })

  it('goes to the reviewer where a buyer put more of it into the payment than the review pledges', async () => {
    const { reviewer, buyer } = m.market.accounts
    await must(setCashbackRate(m, reviewer, { agentId: shop.reviewer, bps: 1_000 }))
    const { product } = shop.sold
    const text = { agentId: shop.reviewer, product, content: generic(4, 'Pledges a tenth'), proofId: 77n }
    const { reviewId } = await publishReview(m, reviewer, text)
    const greedy = await bought({ reviewId, cashbackOfCommissionBps: 1_001 })
    const honest = await bought({ reviewId, cashbackOfCommissionBps: 1_000 })
    await review(greedy)
    await review(honest)
    await until(async () => (await standingOf(m, honest)).isReleased, 'the release of what was pledged')
    expect(await decisions(greedy)).toEqual([])
    const path = `/v1/escrow/${greedy.escrowId}/status?agent_id=${shop.buyer}`
    const { cashback } = await must(m.call('GET', path, { as: buyer }))
    expect(cashback).toEqual({ amount: 10_010, status: 'pending', eligible_at: expect.any(String) })

    await travel(m, 60 * DAY + 60)
    await tick(settleEscrows)
    await until(async () => (await recorded(greedy))?.settled_at, 'the settlement in the records')
    expect(await recorded(greedy)).toMatchObject({ cashback_to_buyer: 0n, cashback_to_reviewer: 10_010n })
    expect(await decisions(greedy)).toMatchObject([
      { kind: 'settle', cashback_earned: false, inputs: { cashback_pledged: false, votes_missing: false } },
    ])
  })
})

describe('a settlement', () => {
  it('comes when the window has ended by the time of the chain, and not before', async () => {
    const deposit = await bought()
    await tick(settleEscrows)
    expect(await decisions(deposit)).toEqual([])
    await travel(m, 60 * DAY + 60)
    await tick(settleEscrows)
    await tick(settleEscrows)
    await until(async () => (await standingOf(m, deposit)).isSettled, 'the settlement')
    await until(async () => (await recorded(deposit))?.settled_at, 'the settlement in the records')
    expect(await recorded(deposit)).toMatchObject({
      fallback_used: false,
      held_back_to_reviewer: BigInt(HELD_BACK),
      cashback_to_reviewer: BigInt(CASHBACK),
    })
    const [decided, ...more] = await decisions(deposit)
    expect(more).toEqual([])
    expect(decided).toMatchObject({
      kind: 'settle',
      attempt: 1,
      contradicted: false,
      cashback_earned: false,
      inputs: {
        comparison_outcome: 'pending',
        buyer_review_internal_id: null,
        buyer_agent_id: Number(shop.buyer),
      },
    })
  })

  it('is tried again, from what is so by then, after it has failed', async () => {
    const { guardian } = m.market.accounts
    const deposit = await bought()
    await travel(m, 60 * DAY + 60)
    await send(m, call(m, guardian, 'CommissionEscrow', 'pause', []))
    await tick(settleEscrows)
    await until(async () => {
      const [row] = await m.sql`
        SELECT i.state FROM market.escrow_decisions AS d JOIN sender.intents AS i ON i.id = d.transaction_id
        WHERE d.escrow_id = ${deposit.escrowId}`
      return row?.state === 'failed'
    }, 'the failure')
    await tick(settleEscrows)
    expect(await decisions(deposit)).toHaveLength(1)
    expect((await shownDecisions(deposit)).map(({ transaction }) => transaction)).toEqual([
      { state: 'failed', hash: null, reason: 'reverted with EnforcedPause()' },
    ])
    await send(m, call(m, guardian, 'CommissionEscrow', 'unpause', []))
    await review(deposit)
    m.clock.aheadMs += 61_000
    await tick(settleEscrows)
    const settlements = (await decisions(deposit)).filter(({ kind }) => kind === 'settle')
    expect(settlements).toMatchObject([
      { attempt: 1, cashback_earned: false },
      { attempt: 2, cashback_earned: true },
    ])
    await until(async () => (await recorded(deposit))?.settled_at, 'the settlement in the records')
    await until(async () => {
      await tick(settleEscrows)
      return (await decisions(deposit)).every(({ is_open }) => !is_open)
    }, 'nothing open any more')
  })
})

describe('a contract from before there were batches', () => {
  /** A proxy to other code that lacks these functions. */
  const without = (code: Address, ...[first, second]: [Hex, Hex]): Hex =>
    `0x60003560e01c8063${first.slice(2)}14604a5763${second.slice(2)}14604a57${'3660006000376000600036600073'}${code.slice(2)}5af4${'3d600060003e6050573d6000fd5b60006000fd5b3d6000f3'}`
  const selectorOf = (name: 'settleBatch' | 'releaseBatch') =>
    toFunctionSelector(getAbiItem({ abi: commissionEscrowAbi, name }))

  it('settles what is due at once, too: what failed in a batch is tried again alone', async () => {
    const { client, addresses } = m.market
    const address = addresses.CommissionEscrow
    const code = (await client.getCode({ address })) ?? '0x'
    const elsewhere = developmentAccount(7_001).address
    await client.setCode({ address: elsewhere, bytecode: code })
    const bytecode = without(elsewhere, selectorOf('settleBatch'), selectorOf('releaseBatch'))
    await client.setCode({ address, bytecode })
    const deposits = [await bought(), await bought()]
    await travel(m, 60 * DAY + 60)
    await tick(settleEscrows)
    await until(async () => {
      const shown = await Promise.all(deposits.map(shownDecisions))
      const states = shown.map(([newest]) => (newest?.transaction as { state: string } | undefined)?.state)
      return states.every((state) => state === 'failed')
    }, 'the failure of the batch')
    m.clock.aheadMs += 61_000
    await tick(settleEscrows)
    for (const deposit of deposits) {
      await until(async () => (await recorded(deposit))?.settled_at, 'the settlement in the records')
      expect((await shownDecisions(deposit)).length).toBeGreaterThan(1)
    }
    await client.setCode({ address, bytecode: code })
  })
})

describe('an escrow that holds nothing', () => {
  it('costs the oracle no transaction, is settled with its window and has no fallback; one that holds something beside it is settled [ESC-31, ESC-48 otherwise]', async () => {
    // A tenth of nine rounds to zero.
    const dust = await bought({ price: 9n })
    const real = await bought()
    expect([dust.heldBack, dust.cashback, dust.commission]).toEqual([0n, 0n, 0n])
    await m.indexed()
    const none = { amount: 0, status: 'none' }
    expect(await statusOf(dust)).toMatchObject({ state: 'holding', held_back: none, cashback: none })

    await travel(m, 60 * DAY + 60)
    await tick(settleEscrows)
    await until(async () => (await recorded(real))?.settled_at, 'the settlement in the records')
    await tick(settleEscrows)
    expect(await decisions(dust)).toEqual([])
    expect(await shownDecisions(dust)).toEqual([])
    expect(await standingOf(m, dust)).toMatchObject({ isSettled: false })

    await travel(m, 10 * DAY)
    await m.indexed()
    expect(await statusOf(dust)).toMatchObject({
      state: 'settled',
      held_back: none,
      cashback: none,
      fallback_available: false,
    })
    const { escrows } = await must(
      m.call('GET', `/v1/agent/${shop.buyer}/escrows`, { as: m.market.accounts.buyer }),
    )
    expect(
      escrows.find((one: { escrow_id: number }) => one.escrow_id === Number(dust.escrowId)),
    ).toMatchObject({
      held_back: none,
      cashback: none,
      fallback_available: false,
    })
  })
})
