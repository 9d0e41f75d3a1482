import { publishWithProof } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import { generic, newAgent } from './market.ts'
import { promisedTexts } from './promised.ts'
import { startTradedMarket, type Traded } from './traded.ts'

/** One more than a digest shows at most. */
const WRITTEN = 101

let m: Traded
/** Has registered itself and written many reviews. */
let writer: number
/** Known only from the chain. */
let buyer: number
/** The writer's reviews as in the public list, newest first. */
let written: { internal_id: number; on_chain_id: number; ref_link: string }[]

beforeAll(async () => {
  m = await startTradedMarket()
  writer = m.reviewerAgentId
  buyer = m.buyerAgentId
  const { reviewer } = m.market.accounts
  const content = generic(5, 'Good')
  // So that internal ids differ from on-chain ids.
  await m.sql`ALTER TABLE market.reviews ALTER COLUMN internal_id RESTART WITH 7000`
  const onChain: bigint[] = []
  // Two exist already.
  for (let proofId = 3n; proofId <= WRITTEN; proofId += 1n) {
    const review = { agentId: BigInt(writer), product: m.zero.product, content, proofId }
    onChain.push((await publishWithProof(m.market, reviewer, review)).reviewId)
  }
  await m.indexed()
  const texts = onChain.map((id) => ({ review_id: Number(id), escrow_id: 0, content_json: content }))
  await Promise.all(texts.map((body) => must(m.call('POST', '/v1/review/register', { as: reviewer, body }))))
  written = (await must(m.call('GET', '/v1/review?limit=500'))).reviews
  expect(written).toHaveLength(WRITTEN)
})
afterAll(() => m.close())

const get = (id: bigint | number | string, query = '', as = m.market.accounts.treasury) =>
  m.call('GET', `/v1/agent/${id}/context${query}`, { as })
const digestOf = async (id: bigint | number, query = '') => (await get(id, query)).body

describe('GET /v1/agent/{id}/context', () => {
  it('refuses a request without a signature [CTX-01]', async () => {
    const { status, body } = await m.call('GET', `/v1/agent/${writer}/context`)
    expect([status, body.error]).toEqual([401, 'unauthorized'])
  })

  it('answers whoever signs, the owner of the agent or not [CTX-02]', async () => {
    const { reviewer, treasury } = m.market.accounts
    const own = await get(writer, '', reviewer)
    expect(own.body.agent_id).toBe(writer)
    expect(await get(writer, '', treasury)).toMatchObject({ status: 200, text: own.text })
  })

  it('takes agent 0 [CTX-03]', async () => {
    const { status, body } = await get('0')
    expect([status, body.agent_id, body.registered]).toEqual([200, 0, true])
    expect(body.identity.owner_address).toBe(m.market.accounts.merchant.address)
  })

  it.each([
    ['-1', 'CTX-04'],
    ['-9007199254740991', 'CTX-04'],
    ['abc', 'CTX-05'],
    ['1.5', 'CTX-05'],
    ['0x1', 'CTX-05'],
    ['9007199254740993', 'CTX-05'],
  ])('refuses the agent %s [%s]', async (id) => {
    const { status, body } = await get(id)
    expect([status, body]).toEqual([400, { error: 'invalid agent id' }])
  })

  it('promises `not found` and no other text for what is not there [CTX-10]', async () => {
    expect(await promisedTexts(m, '/v1/agent/{id}/context', 404)).toEqual(['not found'])
  })

  it.each(['agents', 'reviews', 'proofs', 'votes', 'cashback_rates', 'earnings', 'review_ranks'])(
    'answers 500 while %s cannot be read [CTX-11]',
    async (table) => {
      const { status, body } = await m.withoutTable(`market.${table}`, () => get(writer))
      expect([status, body]).toEqual([500, { error: 'internal error' }])
    },
  )

  it('answers for the chain that is asked for, and refuses one that is not served [CTX-19, CTX-58]', async () => {
    expect(await digestOf(writer)).toMatchObject({ chain_id: 31_337, registered: true })
    expect(await digestOf(writer, '?chain_id=31337')).toMatchObject({ chain_id: 31_337, registered: true })
    expect(await digestOf(writer, '?chain_id=1337')).toMatchObject({ chain_id: 1_337, registered: false })
    const { status, body } = await get(writer, '?chain_id=999999999')
    expect([status, body]).toEqual([400, { error: 'chain_id not configured' }])
  })
})

describe('the digest of an agent', () => {
  it('without an identity has nothing, and says so [CTX-12, CTX-13, CTX-14, CTX-15, CTX-16, CTX-17]', async () => {
    const { status, body } = await get('999999')
    const { hints: _hints, ...digest } = body
    expect(status).toBe(200)
    expect(digest).toEqual({
      agent_id: 999_999,
      chain_id: 31_337,
      registered: false,
      identity: {},
      global_cashback_of_commission_bps: 0,
      counts: { reviews_authored: 0, votes_cast: 0, review_backlog: 0, pending_proofs: 0 },
      actionable: {
        review_backlog: [],
        pending_proofs: [],
        escrow_pending: { held_back: 0, cashback: 0, total: 0 },
      },
      earnings: {
        commission_realized: 0,
        commission_potential: 0,
        cashback_total: 0,
        cashback_count: 0,
        total_earnings: 0,
      },
      recent_reviews: [],
    })
  })

  it('has these keys and no other [CTX-18, CTX-19, CTX-20, CTX-26, CTX-27, CTX-28, CTX-29, CTX-30]', async () => {
    const digest = await digestOf(writer)
    expect(Object.keys(digest).sort()).toEqual([
      'actionable',
      'agent_id',
      'chain_id',
      'counts',
      'earnings',
      'global_cashback_of_commission_bps',
      'hints',
      'identity',
      'recent_reviews',
      'registered',
    ])
    expect(digest).toMatchObject({ agent_id: writer, chain_id: 31_337, registered: true })
    expect(digest.counts).toEqual({
      reviews_authored: WRITTEN,
      votes_cast: 0,
      review_backlog: 0,
      pending_proofs: 1,
    })
    expect(Object.keys(digest.actionable)).toEqual(['review_backlog', 'pending_proofs', 'escrow_pending'])
  })

  it('tells the same four hints to everybody [CTX-57]', async () => {
    const [known, unknown, elsewhere] = await Promise.all([
      digestOf(writer),
      digestOf(999_999),
      digestOf(buyer, '?chain_id=1337'),
    ])
    expect(known.hints).toEqual(Array(4).fill(expect.stringMatching(/./)))
    expect(new Set(known.hints).size).toBe(4)
    for (const { hints } of [unknown, elsewhere]) expect(hints).toEqual(known.hints)
  })
})

describe('the identity in a digest', () => {
  it('has the payment wallet of an agent that registered itself; an agent seen on the chain has an owner alone [CTX-20, CTX-21, CTX-22]', async () => {
    const { reviewer, buyer: owner } = m.market.accounts
    const own = await digestOf(writer)
    expect([own.registered, own.identity]).toEqual([
      true,
      { owner_address: reviewer.address, payment_wallet: reviewer.address },
    ])
    const seen = await digestOf(buyer)
    expect([seen.registered, seen.identity]).toEqual([true, { owner_address: owner.address }])
  })

  it('has the ranks that were computed [CTX-23, CTX-24]', async () => {
    const { guardian } = m.market.accounts
    const owner = { owner_address: guardian.address }
    const [repeat, oneOff] = [await newAgent(m, guardian), await newAgent(m, guardian)]
    await m.sql`
      INSERT INTO market.review_ranks (chain_id, agent_id, repeat, one_off)
      VALUES (${m.chainId}, ${repeat}, 0.75, NULL), (${m.chainId}, ${oneOff}, NULL, 0)`
    expect((await digestOf(repeat)).identity).toEqual({ ...owner, review_rank_repeat: 0.75 })
    expect((await digestOf(oneOff)).identity).toEqual({ ...owner, review_rank_one_off: 0 })
  })

  it('says that an agent is flagged while it is [CTX-25]', async () => {
    const agent = await newAgent(m, m.market.accounts.guardian)
    const { identity } = await digestOf(agent)
    expect(identity).not.toHaveProperty('flagged')
    await must(m.call('POST', `/admin/agents/${agent}/flag`, { token: m.tokens.admin }))
    const ranks = { review_rank_repeat: 0, review_rank_one_off: 0 }
    expect((await digestOf(agent)).identity).toEqual({ ...identity, ...ranks, flagged: true })
    await must(m.call('POST', `/admin/agents/${agent}/unflag`, { token: m.tokens.admin }))
    expect((await digestOf(agent)).identity).toEqual(identity)
  })
})

describe('the recent reviews in a digest', () => {
  it.each([
    ['', 10, 'CTX-06'],
    ['?recent_limit=-3', 1, 'CTX-07'],
    ['?recent_limit=0', 1, 'CTX-07'],
    ['?recent_limit=1', 1, 'CTX-07'],
    ['?recent_limit=12', 12, 'CTX-06'],
    ['?recent_limit=100', 100, 'CTX-08'],
    ['?recent_limit=101', 100, 'CTX-08'],
    ['?recent_limit=1000', 100, 'CTX-08'],
  ])('/context%s shows the newest %i, newest first [%s, CTX-59]', async (query, count) => {
    const { recent_reviews } = await digestOf(writer, query)
    const ids = recent_reviews.map((review: { on_chain_review_id: number }) => review.on_chain_review_id)
    expect(ids).toHaveLength(count)
    expect(ids).toEqual(written.slice(0, count).map(({ on_chain_id }) => on_chain_id))
    expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a))
  })

  it('are refused for a recent_limit that is no integer [CTX-09]', async () => {
    for (const given of ['abc', '1.5', '1e1', '0x5', '9007199254740993']) {
      const { status, body } = await get(writer, `?recent_limit=${given}`)
      expect([given, status, body]).toEqual([given, 400, { error: 'invalid recent_limit' }])
    }
  })

  it('have these six fields [CTX-51, CTX-52, CTX-53, CTX-54, CTX-55, CTX-56]', async () => {
    const [review] = written
    expect(review?.ref_link).toMatch(/^https:\/\/market\.test\/r\/[\w-]+$/)
    expect((await digestOf(writer)).recent_reviews[0]).toEqual({
      internal_review_id: review?.internal_id,
      on_chain_review_id: review?.on_chain_id,
      merchant_id: 0,
      product_id: m.zero.product.productId,
      status: 'published',
      ref_link: review?.ref_link,
    })
  })

  it('have a null id while they are not on the chain [CTX-52, CTX-55]', async () => {
    const agent = await newAgent(m, m.market.accounts.guardian)
    const { productId } = m.zero.product
    const [row] = await m.sql<{ internal_id: bigint }[]>`
      INSERT INTO market.reviews
        (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, content)
      VALUES (${m.chainId}, ${agent}, 0, ${Buffer.from(productId.slice(2), 'hex')}, '', 1, 5000, 0, '{}')
      RETURNING internal_id`
    const { counts, recent_reviews } = await digestOf(agent)
    expect(recent_reviews).toEqual([
      {
        internal_review_id: Number(row?.internal_id),
        on_chain_review_id: null,
        merchant_id: 0,
        product_id: productId,
        status: 'pending',
        ref_link: '',
      },
    ])
    expect(counts.reviews_authored).toBe(0)
  })
})
