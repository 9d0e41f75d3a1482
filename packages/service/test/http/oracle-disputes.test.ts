// The oracle's findings on a review, the author's dispute, and the effect on the money.
import { type EscrowDeposit, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { settleEscrows } from '../../src/derived/oracle/schedule.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { must, sessionOf } from './caller.ts'
import { DAY, travel } from './chain.ts'
import { HELD_BACK, openShop, publishBuyerReview, type Shop } from './escrows.ts'
import { buy, generic, publishReview, startTestMarket, type TestMarket } from './market.ts'

let m: TestMarket
let shop: Shop
/** Reviews of the reviewer, rated 1 where three buyers rate 4: one for each test that changes its review. */
let reviews: { reviewId: bigint; internalId: number }[]

beforeAll(async () => {
  m = await startTestMarket()
  shop = await openShop(m)
  const { reviewer, buyer, walletBuyer, stranger } = m.market.accounts
  reviews = []
  for (const proofId of [11n, 12n, 13n, 14n]) {
    const content = generic(1, `Slow and wrong, ${proofId}`)
    reviews.push(
      await publishReview(m, reviewer, {
        agentId: shop.reviewer,
        product: shop.sold.product,
        content,
        proofId,
      }),
    )
  }
  const buyers = [
    { owner: buyer, buyerAgentId: shop.buyer },
    { owner: walletBuyer, buyerAgentId: await registerIdentity(m.market, walletBuyer) },
    { owner: stranger, buyerAgentId: await registerIdentity(m.market, stranger) },
  ]
  const bought: { owner: typeof buyer; deposit: EscrowDeposit }[] = []
  for (const { owner, buyerAgentId } of buyers) {
    bought.push({ owner, deposit: await buy(m, owner, { ...shop.sold, buyerAgentId }) })
  }
  for (const { owner, deposit } of bought) {
    const body = await publishBuyerReview(m, owner, deposit)
    await m.indexed()
    await must(m.call('POST', '/v1/review/register', { as: owner, body }))
  }
  for (const { reviewId } of reviews) await outcomeIs(reviewId, 'contradicted')
})
afterAll(() => m.close())

const comparisonOf = (reviewId: bigint | string) => m.call('GET', `/v1/review/${reviewId}/comparison`)

async function outcomeIs(reviewId: bigint, outcome: string): Promise<void> {
  await until(
    async () => (await comparisonOf(reviewId)).body.comparison_outcome === outcome,
    `review ${reviewId} being ${outcome}`,
  )
}

const dispute = (
  reviewId: bigint | string,
  body: unknown = { reason: 'They were late.' },
  as = m.market.accounts.reviewer,
) => m.call('POST', `/v1/review/${reviewId}/dispute`, { as, body })

const at = (index: number) => reviews[index] as { reviewId: bigint; internalId: number }

async function tick(): Promise<void> {
  await m.indexed()
  await settleEscrows(m.service.context).run({ signal: AbortSignal.timeout(60_000), sql: m.sql })
}

const decisionsOf = async ({ escrowId }: EscrowDeposit) =>
  (await must(m.call('GET', `/v1/escrow/${escrowId}/decisions`))).decisions

describe('what the oracle found', () => {
  it('is told to anybody, with all that it rests on', async () => {
    const { reviewer, buyer, walletBuyer, stranger } = m.market.accounts
    const { status, body } = await comparisonOf(at(0).reviewId)
    expect(status).toBe(200)
    const opinions = [buyer, walletBuyer, stranger].map(({ address: owner }) => ({
      owner,
      review_id: expect.any(Number),
      satisfaction: 750_000,
      size: 1_000_000,
      weight: 1_000_000,
    }))
    const sums = { weight: 3_000_000, weighted: 2_250_000_000_000 }
    const comparison = {
      comparison_id: expect.any(Number),
      made_at: expect.any(String),
      count: 3,
      size: 3_000_000,
      ...sums,
      opinions: expect.toSatisfy((told) => told.length === 3),
    }
    const finding = {
      outcome: 'contradicted',
      satisfaction: 0,
      mean: 750_000,
      others: 3,
      ...sums,
      size: 1_000_000,
    }
    expect(body).toEqual({
      internal_id: at(0).internalId,
      author_owner: reviewer.address,
      comparison_outcome: 'contradicted',
      findings: [{ ...finding, found_at: expect.any(String), comparison }],
    })
    expect(body.findings[0].comparison.opinions).toEqual(expect.arrayContaining(opinions))
  })

  it('is empty for a review that could not be compared, and not found where there is none', async () => {
    const [review] = await m.sql<{ review_id: bigint }[]>`
      SELECT c.review_id FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id) WHERE m.content IS NULL`
    expect((await comparisonOf(review?.review_id ?? 0n)).body).toMatchObject({
      comparison_outcome: 'pending',
      findings: [],
    })
    expect(await comparisonOf('99999')).toMatchObject({ status: 404, body: { error: 'review not found' } })
    expect(await comparisonOf('0')).toMatchObject({ status: 400, body: { error: 'invalid review id' } })
  })
})

describe('a dispute', () => {
  it('is opened by the owner of the author, once', async () => {
    const { reviewId, internalId } = at(0)
    expect(await m.call('POST', `/v1/review/${reviewId}/dispute`, { body: { reason: 'x' } })).toMatchObject({
      status: 401,
    })
    expect(await dispute(reviewId, undefined, m.market.accounts.stranger)).toMatchObject({
      status: 403,
      body: { error: 'caller does not own this agent' },
    })
    expect(await dispute('99999')).toMatchObject({ status: 404, body: { error: 'review not found' } })
    for (const body of [{}, { reason: '' }, { reason: ' ' }, { reason: 'x'.repeat(2_001) }, { reason: 7 }]) {
      expect(await dispute(reviewId, body)).toMatchObject({ status: 400, body: { error: 'invalid request' } })
    }
    const answers = await Promise.all(['one', 'two', 'three'].map((reason) => dispute(reviewId, { reason })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(answers.find(({ status }) => status === 200)?.body).toEqual({
      review_id: internalId,
      comparison_outcome: 'disputed',
    })
    expect(answers.find(({ status }) => status === 409)?.body).toEqual({
      error: 'review is not contradicted',
    })
    const { body } = await m.call('GET', `/v1/review/${reviewId}`)
    expect(body.comparison_outcome).toBe('disputed')
    const token = await sessionOf(m.call, m.market.accounts.admin)
    const { disputes } = await must(m.call('GET', '/admin/disputes', { token }))
    expect(disputes).toMatchObject([
      {
        internal_id: internalId,
        reason: expect.stringMatching(/one|two|three/),
        disputed_at: expect.any(String),
      },
    ])
  })

  it('cannot be opened while nodes are silent: who owns the agent is asked there', async () => {
    m.nodes.isDown = true
    try {
      expect((await dispute(at(3).reviewId)).status).toBe(500)
    } finally {
      m.nodes.isDown = false
    }
    expect((await comparisonOf(at(3).reviewId)).body.comparison_outcome).toBe('contradicted')
  })
})

describe('the money that is held back', () => {
  /** A purchase through the review of that number. */
  const boughtThrough = ({ reviewId }: { reviewId: bigint }) =>
    buy(m, m.market.accounts.buyer, { ...shop.sold, buyerAgentId: shop.buyer, reviewId })

  async function legOf({ escrowId }: EscrowDeposit, agentId: bigint) {
    const as = m.market.accounts.stranger
    const listed = await must(m.call('GET', `/v1/agent/${agentId}/escrows?limit=200`, { as }))
    return listed.escrows.find((escrow: { escrow_id: number }) => escrow.escrow_id === Number(escrowId))
      .held_back
  }

  async function resolve({ internalId }: { internalId: number }, body: object): Promise<void> {
    const token = await sessionOf(m.call, m.market.accounts.admin)
    await must(
      m.call('POST', `/admin/disputes/${internalId}/resolve`, { token, body: { note: 'n', ...body } }),
    )
  }

  it('goes to the reviewer or to the treasury as the oracle found, and a dispute is waited for', async () => {
    const [upheld, rejected, plain] = [at(1), at(2), at(3)]
    const [ofUpheld, ofRejected, ofPlain] = [
      await boughtThrough(upheld),
      await boughtThrough(rejected),
      await boughtThrough(plain),
    ]
    await m.indexed()
    const eligible_at = expect.any(String)
    expect(await legOf(ofPlain, shop.reviewer)).toEqual({
      amount: HELD_BACK,
      status: 'pending',
      action_needed: expect.stringContaining('dispute'),
      eligible_at,
    })
    expect(await legOf(ofPlain, shop.buyer)).toEqual({ amount: HELD_BACK, status: 'pending', eligible_at })
    for (const { reviewId } of [upheld, rejected]) await must(dispute(reviewId))
    expect(await legOf(ofUpheld, shop.reviewer)).toEqual({
      amount: HELD_BACK,
      status: 'pending',
      eligible_at,
    })

    await travel(m, 60 * DAY + 60)
    await tick()
    expect(await decisionsOf(ofPlain)).toMatchObject([
      { kind: 'settle', contradicted: true, inputs: { comparison_outcome: 'contradicted', upheld: null } },
    ])
    expect(await legOf(ofPlain, shop.reviewer)).toEqual({ amount: HELD_BACK, status: 'window_closed' })
    for (const waiting of [ofUpheld, ofRejected]) expect(await decisionsOf(waiting)).toEqual([])

    await resolve(upheld, { upheld: true })
    await resolve(rejected, {})
    await tick()
    expect(await decisionsOf(ofUpheld)).toMatchObject([
      { contradicted: true, inputs: { comparison_outcome: 'resolved', upheld: true } },
    ])
    expect(await decisionsOf(ofRejected)).toMatchObject([
      { contradicted: false, inputs: { comparison_outcome: 'resolved', upheld: false } },
    ])
    for (const [deposit, toTreasury] of [
      [ofUpheld, HELD_BACK],
      [ofRejected, 0],
      [ofPlain, HELD_BACK],
    ] as const) {
      await until(async () => {
        const [row] = await m.sql`
          SELECT held_back_to_treasury FROM chain.escrows WHERE escrow_id = ${deposit.escrowId} AND settled_at IS NOT NULL`
        return row?.held_back_to_treasury === BigInt(toTreasury)
      }, `escrow ${deposit.escrowId} being settled`)
    }
    const [decision] = await decisionsOf(ofRejected)
    expect(Object.keys(decision)).toEqual([
      'kind',
      'attempt',
      'contradicted',
      'cashback_earned',
      'inputs',
      'decided_at',
      'transaction',
    ])
    expect(decision.transaction).toMatchObject({ hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
  })

  it('is not kept from the reviewer by a dispute that nobody ends, from eight days after the window on', async () => {
    const deposit = await boughtThrough(at(0))
    await travel(m, 68 * DAY - 3_600)
    await tick()
    expect(await decisionsOf(deposit)).toEqual([])
    await travel(m, 3_700)
    await tick()
    expect(await decisionsOf(deposit)).toMatchObject([
      { contradicted: false, inputs: { comparison_outcome: 'disputed' } },
    ])
  })

  it('has no decisions of an escrow that is not there', async () => {
    expect(await m.call('GET', '/v1/escrow/99999/decisions')).toMatchObject({
      status: 404,
      body: { error: 'not found' },
    })
    expect(await m.call('GET', '/v1/escrow/x/decisions')).toMatchObject({
      status: 400,
      body: { error: 'invalid escrow id' },
    })
  })
})
