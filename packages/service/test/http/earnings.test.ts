import { type EscrowDeposit, mintUsdc, publishWithProof, registerIdentity } from '@referrer/contracts/local'
import { erc20Abi, formatUnits, type LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, setAgentWallet } from '../calls.ts'
import { DAY, send, travel } from './chain.ts'
import { act, openShop, type Shop } from './escrows.ts'
import { buy, generic, NO_WORK, newAgent, startTestMarket, type TestMarket } from './market.ts'
import { promisedTexts } from './promised.ts'

const UNKNOWN = 4_242
const LONG_AGO = '?from=2001-01-01T00:00:00Z&to=2001-02-01T00:00:00Z'
const NOTHING = {
  commission: {
    immediate: 0,
    held_back_settled: 0,
    held_back_pending: 0,
    total_realized: 0,
    total_potential: 0,
  },
  cashback: { total: 0, count: 0 },
  total_earnings: 0,
  escrow_pending: { held_back: 0, cashback: 0, total: 0 },
}
/** The expected earnings of the reviewer, agent 0. */
const REVIEWER = {
  commission: {
    immediate: 75_000,
    held_back_settled: 25_000,
    held_back_pending: 50_000,
    total_realized: 100_000,
    total_potential: 150_000,
  },
  cashback: { total: 0, count: 0 },
  total_earnings: 100_000,
  escrow_pending: { held_back: 50_000, cashback: 20_000, total: 70_000 },
}
const BUYER = {
  commission: {
    immediate: 35_000,
    held_back_settled: 0,
    held_back_pending: 35_000,
    total_realized: 35_000,
    total_potential: 70_000,
  },
  cashback: { total: 40_000, count: 1 },
  total_earnings: 75_000,
  escrow_pending: { held_back: 35_000, cashback: 80_000, total: 115_000 },
}

let m: TestMarket
let shop: Shop
/** Time of the second purchase through the reviewer's link, in unix seconds. */
let secondAt: number
let idle: bigint

/** All at 10 % commission, of which 10 % is the fee; half of the reviewer's remaining part is held back. */
beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  shop = await openShop(m)
  const { market } = m
  const { accounts } = market
  const { sold, reviewer, buyer } = shop
  idle = await registerIdentity(market, accounts.stranger)

  // A million, with 40 % of the commission as cashback: 25,000 at once, 25,000 held back, 40,000 for the buyer. All
  // of it is paid out.
  const first = await buy(m, accounts.buyer, { ...sold, buyerAgentId: buyer })
  await travel(m, 60 * DAY)
  await act(m, accounts.oracle, 'settle', first, false, true)

  // Two million, still open: twice the amounts.
  const second = await buy(m, accounts.buyer, { ...sold, buyerAgentId: buyer, price: 2_000_000n })
  secondAt = depositedAt(second)

  // The roles reversed, 20 % cashback, open: 35,000 at once for the buyer's review, 35,000 held back, 20,000 for the
  // reviewer.
  await travel(m, DAY)
  const content = generic(4, 'Well made')
  const review = { agentId: buyer, product: sold.product, content, proofId: 2n }
  const { reviewId } = await publishWithProof(market, accounts.buyer, review)
  await mintUsdc(market, accounts.reviewer.address, 1_234_567n)
  await buy(m, accounts.reviewer, {
    ...sold,
    reviewId,
    reviewerAgentId: buyer,
    buyerAgentId: reviewer,
    cashbackOfCommissionBps: 2_000,
  })
  await m.indexed()
})
afterAll(() => m.close())

/** The window ends 60 days after the purchase. */
const depositedAt = ({ windowEnd }: EscrowDeposit) => Number(windowEnd) - 60 * DAY
const at = (seconds: number) => new Date(seconds * 1_000).toISOString()

const earnings = (
  agentId: bigint | number | string,
  query = '',
  as: LocalAccount = m.market.accounts.stranger,
) => m.call('GET', `/v1/agent/${agentId}/earnings${query}`, { as })

async function balanceOf({ address }: LocalAccount): Promise<string> {
  const { client, addresses } = m.market
  const token = { address: addresses.USDC, abi: erc20Abi } as const
  return formatUnits(await client.readContract({ ...token, functionName: 'balanceOf', args: [address] }), 6)
}

describe('the earnings of an agent', () => {
  it('are for those who sign, whoever they are [EARN-01, EARN-02]', async () => {
    const path = `/v1/agent/${shop.buyer}/earnings`
    expect(await m.call('GET', path)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    const own = await earnings(shop.buyer, '', m.market.accounts.buyer)
    expect(own).toMatchObject({ status: 200, body: BUYER })
    expect(await earnings(shop.buyer)).toMatchObject({ status: 200, text: own.text })
  })

  it.each(['-1', 'abc', '1.5', '1e3', '0x1', '9007199254740992'])(
    'are refused for the id %s [EARN-04, EARN-05]',
    async (id) => {
      expect(await earnings(id)).toMatchObject({ status: 400, body: { error: 'invalid agent id' } })
    },
  )

  it('are those of agent 0 too [EARN-03]', async () => {
    expect(await earnings(0)).toMatchObject({ status: 200, body: REVIEWER })
  })

  it('are commission, cashback, their sum, what is pending and the balance [EARN-12, EARN-13, EARN-14, EARN-15]', async () => {
    const { body } = await earnings(shop.buyer)
    expect(body).toEqual({ ...BUYER, usdc_wallet_balance: expect.any(String) })
    expect(Object.keys(body)).toEqual([
      'commission',
      'cashback',
      'total_earnings',
      'escrow_pending',
      'usdc_wallet_balance',
    ])
    expect(body.total_earnings).toBe(body.commission.total_realized + body.cashback.total)
  })

  it('tell what commission was paid at once, paid later and is still held, and what that makes [EARN-16, EARN-17, EARN-18, EARN-19, EARN-20]', async () => {
    const { commission } = (await earnings(shop.reviewer)).body
    expect(Object.keys(commission)).toEqual([
      'immediate',
      'held_back_settled',
      'held_back_pending',
      'total_realized',
      'total_potential',
    ])
    expect(commission).toEqual(REVIEWER.commission)
  })

  it('tell the cashback that was paid and how often, and what is pending as the sum of its parts [EARN-21, EARN-22, EARN-23, EARN-24, EARN-25]', async () => {
    const { cashback, escrow_pending: pending } = (await earnings(shop.buyer)).body
    expect(cashback).toEqual(BUYER.cashback)
    expect(pending).toEqual(BUYER.escrow_pending)
    expect(pending.total).toBe(pending.held_back + pending.cashback)
  })

  it('are zeros for an agent that never traded, known or not [EARN-31]', async () => {
    for (const unknown of [UNKNOWN, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await earnings(unknown)
      expect([status, body]).toEqual([200, NOTHING])
    }
    const { usdc_wallet_balance: _, ...idleEarnings } = (await earnings(idle)).body
    expect(idleEarnings).toEqual(NOTHING)
    expect((await earnings(UNKNOWN, LONG_AGO)).body).toMatchObject(NOTHING)
  })

  it('come with what the wallet can spend, as decimal text, whatever is pending [EARN-28, EARN-30]', async () => {
    const { buyer, reviewer } = m.market.accounts
    const { usdc_wallet_balance: balance } = (await earnings(shop.reviewer)).body
    expect(balance).toMatch(/^\d+\.\d{1,6}$/)
    expect(balance).toBe(await balanceOf(reviewer))
    expect((await earnings(shop.buyer)).body.usdc_wallet_balance).toBe(await balanceOf(buyer))
  })

  it('come with the balance of the wallet of the agent, not of its owner [EARN-30]', async () => {
    const { stranger: owner, walletBuyer: wallet } = m.market.accounts
    const agentId = await newAgent(m, owner)
    const { timestamp } = await m.market.client.getBlock()
    await send(m, await setAgentWallet(m, owner, { agentId, wallet }, timestamp))
    await mintUsdc(m.market, wallet.address, 7n)
    await m.indexed()
    expect(await balanceOf(wallet)).not.toBe(await balanceOf(owner))
    expect((await earnings(agentId)).body.usdc_wallet_balance).toBe(await balanceOf(wallet))
  })

  it('come with the balance of the owner when the agent has no wallet', async () => {
    const { buyer } = m.market.accounts
    const agentId = await newAgent(m, buyer)
    await send(m, call(m, buyer, 'IdentityRegistry', 'unsetAgentWallet', [agentId]))
    await m.indexed()
    expect((await earnings(agentId)).body.usdc_wallet_balance).toBe(await balanceOf(buyer))
  })

  it('come without the balance while no node answers [EARN-29]', async () => {
    m.nodes.isDown = true
    try {
      const { status, body } = await earnings(shop.buyer)
      expect(status).toBe(200)
      expect(body).toEqual(BUYER)
    } finally {
      m.nodes.isDown = false
    }
    expect((await earnings(shop.buyer)).body).toHaveProperty('usdc_wallet_balance')
  })

  it('are not told without the database [EARN-11]', async () => {
    await m.withoutTable('market.earnings', async () => {
      expect(await earnings(0)).toMatchObject({ status: 500, body: { error: 'internal error' } })
    })
    await m.withoutTable('chain.escrows', async () => {
      expect(await earnings(0, LONG_AGO)).toMatchObject({ status: 500, body: { error: 'internal error' } })
    })
  })

  it('are not told of a chain that is not served [EARN-32]', async () => {
    expect(await earnings(0, '?chain_id=999999999')).toMatchObject({
      status: 400,
      body: { error: 'chain_id not configured' },
    })
    expect((await earnings(0, `?chain_id=${m.chainId}`)).body).toMatchObject(REVIEWER)
  })

  it('promise `not found` and no other text with a 404 [EARN-10]', async () => {
    expect(await promisedTexts(m, '/v1/agent/{id}/earnings', 404)).toEqual(['not found'])
  })
})

describe('the earnings of a period', () => {
  const immediate = async (query: string) => (await earnings(shop.reviewer, query)).body.commission.immediate

  it('begin with the moment that is asked for, in any zone [EARN-06]', async () => {
    expect(await immediate(`?from=${at(secondAt)}`)).toBe(50_000)
    expect(await immediate(`?from=${at(secondAt + 1)}`)).toBe(0)
    expect(await immediate(`?from=${at(secondAt).replace('.000Z', '.001Z')}`)).toBe(0)
    const eastward = at(secondAt + 2 * 60 * 60).replace('.000Z', '%2B02:00')
    expect(await immediate(`?from=${eastward}`)).toBe(50_000)
  })

  it('end before the moment that is asked for [EARN-07]', async () => {
    expect(await immediate(`?to=${at(secondAt)}`)).toBe(25_000)
    expect(await immediate(`?to=${at(secondAt + 1)}`)).toBe(75_000)
    expect(await immediate(`?from=${at(secondAt)}&to=${at(secondAt)}`)).toBe(0)
    expect(await immediate(`?from=${at(secondAt)}&to=${at(secondAt + 1)}`)).toBe(50_000)
  })

  it('are those of its purchases, commission and cashback [EARN-06, EARN-07]', async () => {
    const { body } = await earnings(shop.buyer, `?to=${at(secondAt)}`)
    expect(body).toMatchObject({
      commission: NOTHING.commission,
      cashback: BUYER.cashback,
      total_earnings: 40_000,
    })
    const later = (await earnings(shop.buyer, `?from=${at(secondAt)}`)).body
    expect(later).toMatchObject({
      commission: BUYER.commission,
      cashback: NOTHING.cashback,
      total_earnings: 35_000,
    })
  })

  it('may be as long as all time, and have nothing when they end before they begin', async () => {
    expect(await immediate('?from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59-23:59')).toBe(75_000)
    expect(await immediate(`?from=${at(secondAt + 1)}&to=${at(secondAt)}`)).toBe(0)
  })

  it('leave what is pending and the balance as they are now [EARN-26, EARN-27]', async () => {
    for (const agentId of [shop.reviewer, shop.buyer]) {
      const { escrow_pending, usdc_wallet_balance } = (await earnings(agentId)).body
      expect(escrow_pending.total).toBeGreaterThan(0)
      expect((await earnings(agentId, LONG_AGO)).body).toEqual({
        ...NOTHING,
        escrow_pending,
        usdc_wallet_balance,
      })
    }
  })

  it.each(['yesterday', '2026-01-01', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00', '1767225600'])(
    'are refused from or to %s [EARN-08, EARN-09]',
    async (moment) => {
      expect(await earnings(0, `?from=${moment}`)).toMatchObject({
        status: 400,
        body: { error: 'invalid from: must be RFC3339: invalid input' },
      })
      expect(await earnings(0, `?to=${moment}`)).toMatchObject({
        status: 400,
        body: { error: 'invalid to: must be RFC3339: invalid input' },
      })
    },
  )
})
