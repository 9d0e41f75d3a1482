// What signed-in people read about what is theirs: purchases, proofs, merchants and their sales.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must, sessionOf } from './caller.ts'
import { exampleOf } from './examples.ts'
import { buy } from './market.ts'
import { startTradedMarket, type Traded } from './traded.ts'

let m: Traded

beforeAll(async () => {
  m = await startTradedMarket([31_337])
})
afterAll(() => m.close())

const PURCHASE = {
  happened_at: expect.any(String),
  product_name: 'A product',
  price_usdc: 1_000_000,
  commission_usdc: 1_000_000,
  transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
}

describe('the purchases of an agent', () => {
  const read = (ask: object = { as: m.market.accounts.buyer }, query = '') =>
    m.call('GET', `/v1/agent/${m.buyerAgentId}/purchases${query}`, ask)

  it('are those that it made, with what is left to do for the cashback', async () => {
    const { status, body } = await read()
    expect(status).toBe(200)
    const [purchase] = body.purchases
    expect(body).toEqual({ purchases: [expect.anything()], page: 1, limit: 20, has_more: false })
    expect(purchase).toMatchObject({
      ...PURCHASE,
      escrow_id: m.escrowId,
      merchant_id: m.shop.merchantId,
      product_id: m.shop.product.productId,
      review_id: m.review.reviewId,
      review_internal_id: m.review.internalId,
      reviewer_agent_id: m.reviewerAgentId,
      buyer_agent_id: m.buyerAgentId,
      payer: m.market.accounts.buyer.address,
      has_review: false,
      has_voted: false,
    })
    const { immediate_usdc, held_back_usdc, cashback_usdc, fee_usdc } = purchase
    expect(immediate_usdc + held_back_usdc + cashback_usdc + fee_usdc).toBe(purchase.commission_usdc)
    const { body: status_ } = await m.call(
      'GET',
      `/v1/escrow/${m.escrowId}/status?agent_id=${m.buyerAgentId}`,
      { as: m.market.accounts.buyer },
    )
    expect(purchase.cashback).toEqual(status_.cashback)
    expect(purchase.window_end).toBe(status_.window_end)
    expect(purchase.cashback.amount).toBe(cashback_usdc)
  })

  it('tell when the buyer has voted, and come page by page, newest first', async () => {
    const { path, as, body } = await exampleOf(m, 'POST /v1/votes/step2')
    const before = (await read()).body.purchases
    expect(before[0].has_voted).toBe(false)
    await must(m.call('POST', path, { as: as as never, body }))
    const { purchases } = (await read()).body
    expect(purchases.map(({ has_voted }: { has_voted: boolean }) => has_voted)).toEqual([true, false])
    const first = (await read(undefined, '?limit=1')).body
    expect(first).toEqual({ purchases: [purchases[0]], page: 1, limit: 1, has_more: true })
    const second = (await read(undefined, '?limit=1&page=2')).body
    expect(second).toEqual({ purchases: [purchases[1]], page: 2, limit: 1, has_more: false })
    expect((await read(undefined, '?limit=1&page=3')).body.purchases).toEqual([])
  })

  it('are for the owner of the agent alone [AUTH-18 otherwise]', async () => {
    const refused = { status: 403, body: { error: 'caller does not own this agent' } }
    expect(await read({ as: m.market.accounts.stranger })).toMatchObject(refused)
    expect(await read({ token: m.tokens.admin })).toMatchObject(refused)
    expect(await m.call('GET', '/v1/agent/999999/purchases', { as: m.market.accounts.buyer })).toMatchObject({
      status: 404,
      body: { error: 'not found' },
    })
  })
})

describe('the purchases of a wallet', () => {
  it('are those that it paid, also without an agent, and nobody else’s', async () => {
    const { walletBuyer, buyer, stranger } = m.market.accounts
    const read = async (as: typeof buyer) =>
      (await m.call('GET', '/v1/wallet/purchases', { as })).body.purchases
    const [purchase, ...more] = await read(walletBuyer)
    expect(more).toEqual([])
    expect(purchase).toMatchObject({
      ...PURCHASE,
      buyer_agent_id: null,
      payer: walletBuyer.address,
      has_review: false,
      has_voted: false,
      cashback: { amount: 0, status: 'none' },
    })
    const bought = await read(buyer)
    expect(bought.length).toBeGreaterThan(0)
    for (const { payer } of bought) expect(payer).toBe(buyer.address)
    expect(await read(stranger)).toEqual([])
  })
})

describe('the proofs of an agent', () => {
  const read = (ask: object) => m.call('GET', `/v1/agent/${m.reviewerAgentId}/proofs`, ask)

  it('are listed with what became of them, and without the words of the admins', async () => {
    const { path } = await exampleOf(m, 'POST /admin/proofs/{id}/reject')
    await must(m.call('POST', path, { token: m.tokens.admin, body: { note: 'a secret note' } }))
    const { status, body, text } = await read({ as: m.market.accounts.reviewer })
    expect(status).toBe(200)
    expect(body).toMatchObject({ page: 1, limit: 20, has_more: false })
    expect(body.proofs.slice(0, 2)).toEqual([
      {
        proof_id: Number(path.split('/')[3]),
        merchant_id: m.shop.merchantId,
        product_id: m.shop.product.productId,
        product_name: 'A product',
        status: 'rejected',
        submitted_at: expect.any(String),
        reviewed_at: expect.any(String),
        machine_note: null,
      },
      expect.objectContaining({ proof_id: m.proofId, status: 'pending', reviewed_at: null }),
    ])
    expect(text).not.toContain('secret')
  })

  it('are for the owner of the agent alone', async () => {
    expect(await read({ as: m.market.accounts.stranger })).toMatchObject({
      status: 403,
      body: { error: 'caller does not own this agent' },
    })
  })
})

describe('the merchants of an owner', () => {
  const read = async (owner: string, query = '') =>
    (await m.call('GET', `/v1/merchant?owner=${owner}${query}`)).body

  it('are listed by id, and those of others are not', async () => {
    const { merchant, reviewer } = m.market.accounts
    const all = (await m.call('GET', '/v1/merchant')).body
    expect(await read(merchant.address)).toEqual({ ...all, page: 1, limit: 500 })
    expect(await read(merchant.address.toLowerCase())).toEqual({ ...all, page: 1, limit: 500 })
    expect(await read(reviewer.address)).toEqual({ merchants: [], total: 0, page: 1, limit: 500 })
    expect(await m.call('GET', '/v1/merchant?owner=0x12')).toMatchObject({
      status: 400,
      body: { error: 'invalid owner address' },
    })
  })

  it('are read page by page when a limit is given', async () => {
    const { merchant } = m.market.accounts
    const { merchants, total } = await read(merchant.address)
    expect(total).toBe(2)
    for (const [at, one] of merchants.entries()) {
      expect(await read(merchant.address, `&limit=1&page=${at + 1}`)).toEqual({
        merchants: [one],
        total,
        page: at + 1,
        limit: 1,
      })
    }
    expect((await read(merchant.address, '&limit=1&page=3')).merchants).toEqual([])
    expect(await read(merchant.address, '&limit=0')).toMatchObject({ limit: 20, merchants })
    expect(await read(merchant.address, '&limit=100000')).toMatchObject({ limit: 500, merchants })
    expect((await read(merchant.address, '&limit=x')).error).toBe('invalid limit')
  })
})

describe('the sales of a merchant', () => {
  const read = (query = '', token = m.tokens.merchant) =>
    m.call('GET', `/v1/merchant/${m.shop.merchantId}/sales${query}`, { token })

  it('are told by day and one by one, and add up to its figures', async () => {
    const { status, body } = await read()
    expect(status).toBe(200)
    const { conversions, gross_revenue_usdc } = (
      await m.call('GET', `/v1/merchant/${m.shop.merchantId}/stats`, { token: m.tokens.merchant })
    ).body
    expect(conversions).toBe(2)
    expect(body.sales).toHaveLength(conversions)
    const sum = (key: string) =>
      body.days.reduce((all: number, day: Record<string, number>) => all + (day[key] ?? 0), 0)
    expect(sum('count')).toBe(conversions)
    expect(sum('revenue_usdc')).toBe(gross_revenue_usdc)
    expect(sum('commission_usdc')).toBe(
      body.sales.reduce((all: number, sale: { commission_usdc: number }) => all + sale.commission_usdc, 0),
    )
    expect(sum('net_usdc')).toBe(sum('revenue_usdc') - sum('commission_usdc'))
    for (const { merchant_id } of body.sales) expect(merchant_id).toBe(m.shop.merchantId)
  })

  it('are those of the days of a period, the end excluded, newest first and page by page', async () => {
    const { sales } = (await read()).body
    expect((await read('?limit=1')).body).toMatchObject({ sales: [sales[0]], has_more: true })
    expect((await read('?limit=1&page=2')).body).toMatchObject({ sales: [sales[1]], has_more: false })
    // By the time of the chain, newest first. Midnight may have been between them.
    const days = sales.map(({ happened_at }: { happened_at: string }) => happened_at.slice(0, 10))
    const first = days.at(-1)
    const next = new Date(Date.parse(days[0]) + 86_400_000).toISOString().slice(0, 10)
    const { body } = await read(`?from=${first}T00:00:00Z&to=${next}T00:00:00Z`)
    expect(body).toMatchObject({ sales })
    expect(
      body.days.flatMap(({ day, count }: { day: string; count: number }) => Array(count).fill(day)).sort(),
    ).toEqual(days.toSorted())
    for (const without of [
      `?to=${first}T00:00:00Z`,
      `?from=${next}T00:00:00Z`,
      '?from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z',
      '?from=2030-01-01T00:00:00Z&to=2020-02-01T00:00:00Z',
      '?to=0001-01-01T00:00:00Z',
      '?from=9999-12-31T00:00:00Z',
    ]) {
      expect((await read(without)).body, without).toMatchObject({ days: [], sales: [] })
    }
    expect(await read('?from=yesterday')).toMatchObject({ status: 400 })
  })

  it('are for its owner alone, and so are its payouts', async () => {
    for (const part of ['sales', 'payouts']) {
      const path = `/v1/merchant/${m.shop.merchantId}/${part}`
      expect(await m.call('GET', path, { token: m.tokens.reviewer })).toMatchObject({
        status: 403,
        body: { error: 'caller does not own this merchant' },
      })
      expect(await m.call('GET', path, { as: m.market.accounts.merchant })).toMatchObject({ status: 401 })
      const unknown = `/v1/merchant/${m.reviewerAgentId}/${part}`
      expect(await m.call('GET', unknown, { token: m.tokens.merchant })).toMatchObject({
        status: 404,
        body: { error: 'merchant not found' },
      })
    }
  })

  it('are told by product with what went to the payout wallet', async () => {
    const read = async () =>
      (
        await m.call('GET', `/v1/merchant/0/payouts`, {
          token: await sessionOf(m.call, m.market.accounts.merchant),
        })
      ).body.products
    const before = (await read())[0] ?? {
      sales_count: 0,
      revenue_usdc: 0,
      net_usdc: 0,
      fee_usdc: 0,
      commission_usdc: 0,
    }
    const { body } = await m.call('GET', `/v1/review?merchant_id=0&product_id=${m.zero.product.productId}`)
    await buy(m, m.market.accounts.buyer, {
      product: m.zero.product,
      reviewId: BigInt(body.reviews[0].on_chain_id),
      reviewerAgentId: BigInt(m.reviewerAgentId),
      price: 3_000_000n,
    })
    await m.indexed()
    const [after, ...more] = await read()
    expect(more).toEqual([])
    expect(after).toMatchObject({
      product_id: m.zero.product.productId,
      name: 'A product',
      sales_count: before.sales_count + 1,
      revenue_usdc: before.revenue_usdc + 3_000_000,
    })
    const commission = after.commission_usdc - before.commission_usdc
    expect(commission).toBeGreaterThan(0)
    expect(after.fee_usdc - before.fee_usdc).toBeLessThan(commission)
    expect(after.net_usdc - before.net_usdc).toBe(3_000_000 - commission)
  })
})
