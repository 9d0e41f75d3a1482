// What everybody may read about purchases: the newest ones, one of them with all that followed, figures of the market and of a day.
import type { EscrowDeposit } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import { DAY, travel } from './chain.ts'
import { vote } from './commitments.ts'
import { act, publishBuyerReview } from './escrows.ts'
import { buy, NO_WORK } from './market.ts'
import { beginDay } from './town.ts'
import { startVoting, type Voting } from './voting.ts'

const CACHE_MS = 6_000
const UNKNOWN = 424_242

let v: Voting
/** Bought by an agent: voted for, reviewed, its cashback released, then settled for the reviewer. */
let done: EscrowDeposit
/** Bought by a wallet without an agent: settled against the reviewer. */
let lost: EscrowDeposit
/** Bought by the agent, and nothing else happened. */
let open: EscrowDeposit

/** Answers are kept for some seconds: whoever reads after a change reads later. */
async function get(path: string, headers?: Record<string, string>) {
  v.m.clock.aheadMs += CACHE_MS
  return v.m.call('GET', path, headers && { headers })
}

beforeAll(async () => {
  v = await startVoting({ overrides: NO_WORK })
  const { m, buyer, link, others } = v
  // For the service and the chain alike, so that no day ends between two purchases.
  beginDay(m)
  await travel(m, Math.ceil(m.clock.aheadMs / 1_000))
  const { merchant, oracle, walletBuyer } = m.market.accounts
  await must(
    m.call('POST', '/v1/merchant/register', { as: merchant, body: { merchant_id: Number(v.merchantId) } }),
  )
  const pledged = { cashbackOfCommissionBps: 4_000 }
  await m.sql`UPDATE market.reviews SET cashback_bps = 4000 WHERE internal_id = ${link.internalId}`
  done = await v.bought(pledged)
  lost = await buy(m, walletBuyer, {
    product: v.product,
    reviewId: link.reviewId,
    reviewerAgentId: link.agentId,
    price: 2_000_000n,
  })
  await m.indexed()
  await must(
    vote(m, buyer.owner, {
      ...{ agentId: buyer.agentId, escrowId: done.escrowId },
      votes: [{ review_id: others[1].internalId, reasoning: 'It was exact.' }, others[0].internalId],
    }),
  )
  const body = await publishBuyerReview(m, buyer.owner, done)
  await m.indexed()
  await must(m.call('POST', '/v1/review/register', { as: buyer.owner, body }))
  await act(m, oracle, 'releaseCashback', done)
  await travel(m, 60 * DAY)
  await act(m, oracle, 'settle', done, false, false)
  await act(m, oracle, 'settle', lost, true, false)
  open = await v.bought(pledged)
})
afterAll(() => v.m.close())

const shares = { commission_usdc: 100_000, fee_usdc: 10_000 }

describe('the newest purchases', () => {
  it('are shown to everybody, newest first, with the shares of their price', async () => {
    const { link, buyer, product, merchantId } = v
    const { status, body } = await get('/v1/activity')
    expect(status).toBe(200)
    expect(body.has_more).toBe(false)
    expect(body.purchases.map(({ escrow_id }: { escrow_id: number }) => escrow_id)).toEqual(
      [open, lost, done].map(({ escrowId }) => Number(escrowId)),
    )
    const common = {
      merchant_id: Number(merchantId),
      product_id: product.productId,
      product_name: '',
      review_id: Number(link.reviewId),
      review_internal_id: link.internalId,
      reviewer_agent_id: Number(link.agentId),
      happened_at: expect.stringMatching(/Z$/),
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    }
    expect(body.purchases[0]).toEqual({
      ...common,
      ...shares,
      escrow_id: Number(open.escrowId),
      buyer_agent_id: Number(buyer.agentId),
      payer: buyer.owner.address,
      price_usdc: 1_000_000,
      immediate_usdc: 25_000,
      held_back_usdc: 25_000,
      cashback_usdc: 40_000,
    })
    expect(body.purchases[1]).toEqual({
      ...common,
      escrow_id: Number(lost.escrowId),
      buyer_agent_id: null,
      payer: v.m.market.accounts.walletBuyer.address,
      price_usdc: 2_000_000,
      commission_usdc: 200_000,
      fee_usdc: 20_000,
      immediate_usdc: 90_000,
      held_back_usdc: 90_000,
      cashback_usdc: 0,
    })
  })

  it('are read page by page, each before the last of the page before', async () => {
    const seen: number[] = []
    let before = ''
    for (let pages = 0; pages < 3; pages += 1) {
      const { body } = await get(`/v1/activity?limit=1${before}`)
      expect(body.purchases).toHaveLength(1)
      seen.push(body.purchases[0].escrow_id)
      expect(body.has_more).toBe(pages < 2)
      before = `&before=${seen.at(-1)}`
    }
    expect(seen).toEqual([open, lost, done].map(({ escrowId }) => Number(escrowId)))
    expect((await get(`/v1/activity?limit=1${before}`)).body).toEqual({ purchases: [], has_more: false })
  })

  it('are refused before an escrow that is unknown or no id', async () => {
    expect(await get(`/v1/activity?before=${UNKNOWN}`)).toMatchObject({
      status: 404,
      body: { error: 'not found' },
    })
    for (const before of ['0', '-1', 'x', '1.5', '']) {
      expect(await get(`/v1/activity?before=${before}`)).toMatchObject({
        status: 400,
        body: { error: 'invalid before' },
      })
    }
  })

  it('cost a poller nothing while nothing changes: 304 without a body', async () => {
    const first = await get('/v1/activity')
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]+"$/)
    expect(first.headers.get('cache-control')).toBe('no-cache')
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get('/v1/activity', { 'if-none-match': known })
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
    }
    expect((await get('/v1/activity', { 'if-none-match': '"other"' })).text).toBe(first.text)
    expect((await get('/v1/activity?limit=1', { 'if-none-match': etag })).status).toBe(200)
  })

  it('are two seconds old at most', async () => {
    const { m } = v
    const name = 'A product that was just named'
    await m.atOnce(async () => {
      const before = await get('/v1/activity?limit=2')
      await m.sql`UPDATE market.products SET name = ${name}`
      expect((await m.call('GET', '/v1/activity?limit=2')).text).toBe(before.text)
    })
    m.clock.aheadMs += 2_000
    expect((await m.call('GET', '/v1/activity?limit=2')).body.purchases[0].product_name).toBe(name)
    await m.sql`UPDATE market.products SET name = ''`
  })
})

describe('one purchase', () => {
  const read = (id: bigint | number | string) => get(`/v1/escrow/${id}`)

  it('is shown with votes, review, cashback and settlement', async () => {
    const { m, buyer, others } = v
    const { status, body } = await read(done.escrowId)
    expect(status).toBe(200)
    const listed = (await get('/v1/activity')).body.purchases[2]
    expect(body).toEqual({
      ...listed,
      state: 'settled',
      window_end: expect.toSatisfy((text) => Date.parse(text) === Number(done.windowEnd) * 1_000),
      fallback_at: expect.toSatisfy(
        (text) => Date.parse(text) === (Number(done.windowEnd) + 10 * DAY) * 1_000,
      ),
      buyer_review: {
        internal_id: expect.any(Number),
        on_chain_id: expect.any(Number),
        published_at: expect.any(String),
        satisfaction_score: 0.75,
      },
      votes: [
        {
          review_internal_id: others[1].internalId,
          review_id: Number(others[1].reviewId),
          author_agent_id: Number(others[1].agentId),
          reasoning: 'It was exact.',
          qualifies: true,
          cast_at: expect.any(String),
        },
        expect.objectContaining({ review_internal_id: others[0].internalId }),
      ],
      cashback: { amount: 40_000, status: 'released', released_at: expect.any(String), transaction: null },
      held_back: {
        amount: 25_000,
        status: 'released',
        settled_at: expect.any(String),
        recipient: 'reviewer',
        transaction: null,
      },
      review_outcome: 'pending',
    })
    expect(Date.parse(body.cashback.released_at)).toBeLessThan(Date.parse(body.held_back.settled_at))
    const review = await must(m.call('GET', `/v1/review/${body.buyer_review.on_chain_id}`))
    expect(review).toMatchObject({
      internal_id: body.buyer_review.internal_id,
      agent_id: Number(buyer.agentId),
      published_at: body.buyer_review.published_at,
    })
  })

  it('names the treasury where the reviewer got nothing', async () => {
    const { body } = await read(lost.escrowId)
    expect(body).toMatchObject({
      state: 'settled',
      buyer_review: null,
      votes: [],
      cashback: { amount: 0, status: 'none', released_at: null, transaction: null },
      held_back: { amount: 90_000, status: 'window_closed', recipient: 'treasury' },
    })
  })

  it('shows what is still held, and for whom it waits', async () => {
    const { body } = await read(open.escrowId)
    expect(body).toMatchObject({
      state: 'holding',
      buyer_review: null,
      votes: [],
      cashback: { amount: 40_000, status: 'pending_buyer_review', released_at: null, transaction: null },
      held_back: { amount: 25_000, status: 'pending', settled_at: null, recipient: null, transaction: null },
    })
  })

  it('shows the transaction of the oracle where it was the oracle’s', async () => {
    const { m } = v
    const hash = Buffer.alloc(32, 7)
    const [intent] = await m.sql<[{ id: bigint }]>`
      INSERT INTO sender.intents (chain_id, key, from_address, to_address, data, value, mined_hash, state, nonce)
      VALUES (${m.chainId}, 'test', ${Buffer.alloc(20)}, ${Buffer.alloc(20)}, ''::bytea, 0, ${hash}, 'confirmed', 0) RETURNING id`
    for (const kind of ['release', 'settle']) {
      await m.sql`
        INSERT INTO market.escrow_decisions (chain_id, contract, payer, nonce, kind, attempt, escrow_id, contradicted, cashback_earned,
          inputs, decided_at, transaction_id)
        SELECT chain_id, contract, payer, nonce, ${kind}, 1, escrow_id, false, true, '{}', now(), ${intent.id}
        FROM chain.escrows`
    }
    const shown = `0x${hash.toString('hex')}`
    expect((await read(done.escrowId)).body).toMatchObject({
      cashback: { transaction: shown },
      held_back: { transaction: shown },
    })
    // What is not on the chain yet is not shown as paid, whatever was decided.
    expect((await read(open.escrowId)).body).toMatchObject({
      state: 'holding',
      cashback: { transaction: null },
      held_back: { status: 'pending', transaction: null },
    })
  })

  it('does without the moment of the fallback when the chain cannot be read', async () => {
    const { m } = v
    m.clock.aheadMs += 60_000
    m.nodes.isDown = true
    try {
      expect((await read(open.escrowId)).body).toMatchObject({ state: 'holding', fallback_at: null })
    } finally {
      m.nodes.isDown = false
    }
    expect((await read(open.escrowId)).body.fallback_at).not.toBeNull()
  })

  it('is refused when it is unknown or no id', async () => {
    expect(await read(UNKNOWN)).toMatchObject({ status: 404, body: { error: 'not found' } })
    for (const id of ['0', '-1', 'x', '1.5']) {
      expect(await read(id)).toMatchObject({ status: 400, body: { error: 'invalid escrow id' } })
    }
  })
})

describe('the figures of the market', () => {
  it('count what there is', async () => {
    expect((await get('/v1/stats')).body).toEqual({
      agents: 6,
      merchants: 1,
      products: 0,
      reviews: 5,
      purchases: 3,
      volume_usdc: 4_000_000,
      commission_usdc: 400_000,
      cashback_usdc: 80_000,
    })
  })

  it('are five seconds old at most', async () => {
    const { m } = v
    const before = await m.atOnce(async () => {
      const { body } = await get('/v1/stats')
      await m.sql`UPDATE market.trade_totals SET purchases = purchases + 1`
      expect((await m.call('GET', '/v1/stats')).body).toEqual(body)
      return body
    })
    m.clock.aheadMs += 5_000
    expect((await m.call('GET', '/v1/stats')).body.purchases).toBe(before.purchases + 1)
    await m.sql`UPDATE market.trade_totals SET purchases = purchases - 1`
  })
})

describe('the earnings of an agent by day', () => {
  const daily = (agentId: bigint | number | string, query = '') =>
    get(`/v1/agent/${agentId}/earnings/daily${query}`)
  const dayAt = (seconds: number | bigint) => new Date(Number(seconds) * 1_000).toISOString().slice(0, 10)
  const soldOn = ({ windowEnd }: EscrowDeposit) => dayAt(Number(windowEnd) - 60 * DAY)
  const all = '?from=2001-01-01T00:00:00Z'
  const until = (day: string) => `?to=${day}T23:59:59Z`
  const NONE = { commission_immediate: 0, commission_settled: 0, cashback: 0, sales: 0 }

  it('count each amount on the day it was paid', async () => {
    const sold = soldOn(done)
    const settled = soldOn(open)
    expect((await daily(v.link.agentId, until(settled))).body).toEqual({
      days: [
        { ...NONE, day: sold, commission_immediate: 25_000 + 90_000, sales: 2 },
        { ...NONE, day: settled, commission_immediate: 25_000, commission_settled: 25_000, sales: 1 },
      ],
    })
    expect((await daily(v.buyer.agentId, until(settled))).body).toEqual({
      days: [{ ...NONE, day: sold, cashback: 40_000 }],
    })
  })

  it('are those of the last 90 days when no period is given, and of days that only the chain has reached', async () => {
    const days = async () => (await daily(v.link.agentId)).body.days.map(({ day }: { day: string }) => day)
    expect(await days()).toEqual([soldOn(done), soldOn(open)])
    const { clock } = v.m
    clock.aheadMs += 89 * DAY * 1_000
    expect(await days()).toEqual([soldOn(done), soldOn(open)])
    clock.aheadMs += DAY * 1_000
    expect(await days()).toEqual([soldOn(open)])
    clock.aheadMs -= 90 * DAY * 1_000
  })

  it('are those of a period, whose end is not part of it', async () => {
    const sold = soldOn(done)
    const next = dayAt(Number(done.windowEnd) - 59 * DAY)
    const days = async (query: string) =>
      (await daily(v.link.agentId, query)).body.days.map(({ day }: { day: string }) => day)
    expect(await days(`?from=${sold}T23:00:00Z&to=${next}T00:00:00Z`)).toEqual([sold])
    expect(await days(`?from=${next}T00:00:00Z&to=${next}T12:00:00Z`)).toEqual([])
    expect(await days(`?to=${sold}T00:00:00Z`)).toEqual([])
    expect(await days(`${all}&to=${sold}T00:00:01Z`)).toEqual([sold])
    // Of a longer period than a year the last year is read.
    const later = dayAt(Number(done.windowEnd) - 60 * DAY + 366 * DAY)
    expect(await days(`${all}&to=${later}T00:00:00Z`)).toContain(sold)
    expect(await days(`${all}&to=${later}T12:00:00Z`)).not.toContain(sold)
  })

  it('take every moment that there is', async () => {
    for (const query of [
      '?to=0000-01-01T00:00:00Z',
      '?from=9999-12-31T23:59:59Z',
      '?to=0001-01-01T00:00:00Z',
    ]) {
      expect(await daily(v.link.agentId, query)).toMatchObject({ status: 200, body: { days: [] } })
    }
  })

  it('are refused for an unknown agent, and for a period that is none', async () => {
    expect(await daily(UNKNOWN)).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await daily('x')).toMatchObject({ status: 400, body: { error: 'invalid agent id' } })
    for (const name of ['from', 'to']) {
      expect(await daily(v.link.agentId, `?${name}=2026-01-01`)).toMatchObject({
        status: 400,
        body: { error: `invalid ${name}: must be RFC3339: invalid input` },
      })
    }
  })
})
