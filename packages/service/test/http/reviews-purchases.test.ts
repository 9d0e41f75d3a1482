import {
  type EscrowDeposit,
  escrowTerms,
  mintUsdc,
  type Product,
  registerIdentity,
} from '@referrer/contracts/local'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { type LocalAccount, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../calls.ts'
import { must } from './caller.ts'
import { send } from './chain.ts'
import { vote } from './commitments.ts'
import { buy, generic, productOf, startTestMarket, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { ENDPOINT, publish, register, registered, sell } from './reviews.ts'

const NOT_FOUND = [404, { error: 'not found' }]

let m: TestMarket
let owners: { reviewer: LocalAccount; buyer: LocalAccount; third: LocalAccount }
let agents: { reviewer: bigint; buyer: bigint; third: bigint }
/** Reviewed only by the owners of the reviewer and of the buyer. */
let plain: { product: Product; reviewId: number }
/** Reviewed by the reviewer, and in some tests by a third owner. */
let discussed: { product: Product; reviewId: number }

beforeAll(async () => {
  m = await startTestMarket({ keepsTime: true })
  const { market } = m
  const { reviewer, buyer, stranger } = market.accounts
  owners = { reviewer, buyer, third: stranger }
  const merchantId = await openRecorded(m)
  const newAgent = (owner: LocalAccount) => registerIdentity(market, owner)
  agents = {
    reviewer: await newAgent(reviewer),
    buyer: await newAgent(buyer),
    third: await newAgent(stranger),
  }
  for (const payer of [buyer, stranger]) await mintUsdc(market, payer.address, 100_000_000n)
  async function reviewed(number: number) {
    const product = await sell(m, merchantId, number, ENDPOINT)
    const { reviewId } = await write(reviewer, agents.reviewer, product)
    return { product, reviewId }
  }
  plain = await reviewed(1)
  discussed = await reviewed(2)
  await write(reviewer, await newAgent(reviewer), plain.product)
  await write(buyer, await newAgent(buyer), plain.product)
})
afterAll(() => m.close())

/** Publishes a review and registers its text. */
async function write(owner: LocalAccount, agentId: bigint, product: Product) {
  const content = generic(5, 'Quick and right')
  const reviewId = await publish(m.market, { owner, agentId, product, content })
  await m.indexed()
  return { reviewId, internalId: await registered(m, reviewId, content) }
}

type Who = 'buyer' | 'third'

/** Buys through the reviewer's link. */
const bought = ({ product, reviewId } = plain, who: Who = 'buyer') =>
  buy(m, owners[who], {
    product,
    reviewId: BigInt(reviewId),
    reviewerAgentId: agents.reviewer,
    buyerAgentId: agents[who],
  })

const hashOf = (deposit: EscrowDeposit, content: string, change = {}) =>
  ContentHash.contentHash({
    agentId: deposit.buyerAgentId,
    merchantId: deposit.merchantId,
    productId: deposit.productId,
    content,
    ...change,
  })

/** Publishes the buyer's review of a purchase on the chain. Returns the body that registers its text. */
async function reviewOf(deposit: EscrowDeposit, content: string, hash = hashOf(deposit, content)) {
  const terms = [m.market.addresses.CommissionEscrow, escrowTerms(deposit), hash]
  const { logs } = await send(m, call(m, owners.buyer, 'ReviewRegistry', 'publishWithEscrow', terms))
  const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
  if (!event) throw new Error('nothing was published')
  const [review_id, escrow_id] = [Number(event.args.reviewId), Number(deposit.escrowId)]
  return { review_id, escrow_id, content_json: content }
}

/** Edits a review on the chain. Returns the time in seconds. */
async function edit(reviewId: number, hash: string): Promise<bigint> {
  const { logs } = await send(
    m,
    call(m, owners.buyer, 'ReviewRegistry', 'editContent', [BigInt(reviewId), hash]),
  )
  const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewContentEdited', logs })
  if (!event) throw new Error('nothing was edited')
  return event.args.editedAt
}

const read = async (reviewId: number) => (await m.call('GET', `/v1/review/${reviewId}`)).body
const answerOf = async (body: unknown) => {
  const answer = await register(m, body)
  return [answer.status, answer.body]
}

describe('the review of a purchase', () => {
  it("is registered as the buyer's, beside those of reviewers [REV-86, REV-87, REV-88, REV-90, REV-91, REV-93]", async () => {
    const body = await reviewOf(await bought(), generic(2, 'Late'))
    const [status, answer] = await answerOf(body)
    expect(status).toBe(200)
    const review = await read(body.review_id)
    expect(answer).toEqual({
      ref_link: review.ref_link,
      review_id: review.internal_id,
      status: 'buyer_review_registered',
    })
    expect(answer.ref_link).toContain('/r/')
    expect(review).toMatchObject({
      status: 'published',
      agent_id: Number(agents.buyer),
      product_id: plain.product.productId,
      satisfaction_score: 0.25,
      content_json: { rating: 2, description: 'Late' },
    })
    const { merchantId, productId } = plain.product
    const { reviews } = (await m.call('GET', `/v1/review?merchant_id=${merchantId}&product_id=${productId}`))
      .body
    const ids = reviews.map(({ on_chain_id }: { on_chain_id: number }) => on_chain_id)
    expect(ids).toEqual(expect.arrayContaining([body.review_id, plain.reviewId]))
    expect(await answerOf(body)).toEqual([200, answer])
  })

  it('is not registered with the purchase of another agent [REV-79]', async () => {
    const body = await reviewOf(await bought(), generic(4, 'Mine'))
    const { escrowId } = await bought(plain, 'third')
    await m.indexed()
    expect(await answerOf({ ...body, escrow_id: Number(escrowId) })).toEqual([
      403,
      { error: 'not authorized' },
    ])
    expect((await read(body.review_id)).status).not.toBe('published')
    expect((await answerOf(body))[0]).toBe(200)
  })

  it('is not registered with a purchase that it is not about, or none [REV-81]', async () => {
    const earlier = await bought()
    const body = await reviewOf(await bought(), generic(4, 'Of this one'))
    const [later, elsewhere] = [await bought(), await bought(discussed)]
    await m.indexed()
    const others = [earlier, later, elsewhere].map(({ escrowId }) => Number(escrowId))
    for (const escrow_id of [99_999_999, 0, ...others])
      expect(await answerOf({ ...body, escrow_id }), String(escrow_id)).toEqual(NOT_FOUND)
    const ofReviewer = { review_id: plain.reviewId, content_json: generic(5, 'Quick and right') }
    expect(await answerOf({ ...ofReviewer, escrow_id: body.escrow_id })).toEqual(NOT_FOUND)
    expect((await answerOf(body))[0]).toBe(200)
  })

  it('waits until the purchase is indexed [REV-82]', async () => {
    await m.indexed()
    m.nodes.only = 'eth_getLogs'
    let body: Awaited<ReturnType<typeof reviewOf>>
    try {
      body = await reviewOf(await bought(), generic(4, 'At once'))
      expect(await answerOf(body)).toEqual(NOT_FOUND)
    } finally {
      m.nodes.only = undefined
    }
    await m.indexed()
    expect((await answerOf(body))[0]).toBe(200)
  })

  it.each([
    ['agent', () => ({ agentId: agents.reviewer })],
    ['merchant', () => ({ merchantId: 77n })],
    ['product', () => ({ productId: productOf(77) })],
  ])(
    'is refused when it was hashed for another %s than the chain knows [REV-73, REV-74]',
    async (_what, change) => {
      const deposit = await bought()
      const content = generic(4, 'As told')
      const body = await reviewOf(deposit, content, hashOf(deposit, content, change()))
      const [status, { error }] = await answerOf(body)
      expect(status).toBe(400)
      expect(error).toMatch(/^content hash mismatch: .*: invalid input$/)
      await edit(body.review_id, hashOf(deposit, content))
      expect((await answerOf(body))[0]).toBe(200)
    },
  )

  it('tells when its text was edited on the chain [REV-17, REV-18]', async () => {
    const deposit = await bought()
    const [before, after] = [generic(5, 'At first'), generic(1, 'In the end')]
    const body = await reviewOf(deposit, before)
    const [, { review_id: internalId }] = await answerOf(body)
    const unedited = await read(body.review_id)
    expect(unedited.edited_at).toBeNull()
    await m.market.client.increaseTime({ seconds: 3_600 })
    const editedAt = await edit(body.review_id, hashOf(deposit, after))
    const edited = { ...body, content_json: after }
    expect(await answerOf(edited)).toMatchObject([
      200,
      { review_id: internalId, status: 'buyer_review_registered' },
    ])
    const review = await read(body.review_id)
    expect(review).toEqual({
      ...unedited,
      satisfaction_score: 0,
      content_json: { rating: 1, description: 'In the end' },
      edited_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
      ref_link: expect.stringContaining('/r/'),
    })
    expect(Date.parse(review.edited_at)).toBe(Number(editedAt) * 1_000)
    expect(editedAt * 1_000n).toBeGreaterThan(BigInt(Date.parse(review.published_at)))
    const { merchantId, productId } = plain.product
    const { reviews } = (await m.call('GET', `/v1/review?merchant_id=${merchantId}&product_id=${productId}`))
      .body
    expect(reviews).toContainEqual(review)
    expect((await answerOf(body))[0]).toBe(400)
  })
})

describe('the vote that a purchase needs', () => {
  const cast = ({ escrowId }: EscrowDeposit, ...votes: number[]) =>
    vote(m, owners.buyer, { agentId: agents.buyer, escrowId, votes })

  it('is asked for once a third owner had reviewed the product when it was bought [REV-84, REV-94]', async () => {
    const early = await bought(discussed)
    const third = await write(owners.third, agents.third, discussed.product)
    const own = await write(owners.buyer, agents.buyer, discussed.product)
    const late = await bought(discussed)
    const other = await bought(discussed)
    const [first, second] = [
      await reviewOf(early, generic(3, 'Bought early')),
      await reviewOf(late, generic(3, 'Bought late')),
    ]
    await m.indexed()
    expect((await answerOf(first))[0]).toBe(200)
    const conflict = [
      409,
      {
        error: `purchase ${late.escrowId} needs a vote on a review of its product before its own review is registered; cast it and retry: conflict`,
      },
    ]
    expect(await answerOf(second)).toEqual(conflict)
    await must(cast(other, third.internalId))
    expect(await answerOf(second), 'a vote of another purchase').toEqual(conflict)
    expect((await cast(late, own.internalId)).status, 'votes of which none qualifies').toBe(409)
    expect(await answerOf(second)).toEqual(conflict)
    expect((await read(second.review_id)).status).not.toBe('published')
    await must(cast(late, own.internalId, third.internalId))
    expect(await answerOf(second)).toMatchObject([200, { status: 'buyer_review_registered' }])
    expect((await read(second.review_id)).status).toBe('published')
    await m.sql`DELETE FROM market.votes WHERE voter_agent_id = ${agents.buyer}`
    const edited = { ...second, content_json: generic(2, 'On second thoughts') }
    await edit(second.review_id, hashOf(late, edited.content_json))
    expect((await answerOf(edited))[0], 'an edit of a text that was taken').toBe(200)
  })

  it('is asked for by the order of the chain, whatever its seconds [REV-84, REV-94]', async () => {
    const { client } = m.market
    const product = await sell(m, discussed.product.merchantId, 4, ENDPOINT)
    const { reviewId } = await write(owners.reviewer, agents.reviewer, product)
    const timestamp = (await client.getBlock()).timestamp + 5n
    async function inThatSecond<T>(work: () => Promise<T>): Promise<T> {
      await client.setNextBlockTimestamp({ timestamp })
      const done = await work()
      expect((await client.getBlock()).timestamp).toBe(timestamp)
      return done
    }
    const content = generic(2, 'Between two purchases')
    const review = { owner: owners.third, agentId: agents.third, product, content }
    const before = await inThatSecond(() => bought({ product, reviewId }))
    const between = await inThatSecond(() => publish(m.market, review))
    const after = await inThatSecond(() => bought({ product, reviewId }))
    const first = await inThatSecond(() => reviewOf(before, generic(3, 'Bought before')))
    const second = await inThatSecond(() => reviewOf(after, generic(3, 'Bought after')))
    await m.indexed()
    const internalId = await registered(m, between, content)
    expect((await answerOf(first))[0]).toBe(200)
    expect((await answerOf(second))[0]).toBe(409)
    await must(cast(after, internalId))
    expect((await answerOf(second))[0]).toBe(200)
  })

  it('is not asked of those who review on an approved proof [REV-84, REV-89]', async () => {
    const product = await sell(m, discussed.product.merchantId, 3, ENDPOINT)
    await write(owners.third, agents.third, product)
    await write(owners.reviewer, agents.reviewer, product)
    const content = generic(4, 'By proof')
    const review_id = await publish(m.market, {
      owner: owners.buyer,
      agentId: agents.buyer,
      product,
      content,
    })
    await m.indexed()
    const [status, answer] = await answerOf({ review_id, escrow_id: 0, content_json: content })
    expect(status).toBe(200)
    expect(Object.keys(answer)).toEqual(['ref_link', 'review_id'])
  })
})
