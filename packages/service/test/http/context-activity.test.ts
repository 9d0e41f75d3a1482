// The activity and money in the digest of an agent.
import { mintUsdc } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import { setCashbackRate, vote } from './commitments.ts'
import { act, CASHBACK, HELD_BACK, publishBuyerReview } from './escrows.ts'
import { buy, generic, newAgent, publishReview } from './market.ts'
import { startTradedMarket, type Traded } from './traded.ts'

/** Of a commission of 100,000: half of what remains after the fee and the highest cashback. */
const IMMEDIATE = 25_000

let m: Traded
let proofs = 5_000n

beforeAll(async () => {
  m = await startTradedMarket([31_337])
})
afterAll(() => m.close())

/** A review of the product of merchant 0. */
function newReview(owner: LocalAccount, agentId: bigint) {
  proofs += 1n
  const review = { agentId, product: m.zero.product, content: generic(4, 'It works'), proofId: proofs }
  return publishReview(m, owner, review)
}

/** Buys for a commission of 100,000, through the only review of the product. */
const buyInShop = (buyerAgentId: bigint) =>
  buy(m, m.market.accounts.buyer, {
    product: m.shop.product,
    reviewId: BigInt(m.review.reviewId),
    reviewerAgentId: BigInt(m.reviewerAgentId),
    buyerAgentId,
    price: 100_000n,
    cashbackOfCommissionBps: 4_000,
  })

async function digestOf(id: bigint) {
  await m.indexed()
  return (await m.call('GET', `/v1/agent/${id}/context`, { as: m.market.accounts.treasury })).body
}

describe('the work in a digest', () => {
  it('begins with the pledge that is set now [CTX-26]', async () => {
    const { guardian } = m.market.accounts
    const agentId = await newAgent(m, guardian)
    expect((await digestOf(agentId)).global_cashback_of_commission_bps).toBe(0)
    for (const bps of [2_500, 4_000]) {
      await must(setCashbackRate(m, guardian, { agentId, bps }))
      expect((await digestOf(agentId)).global_cashback_of_commission_bps).toBe(bps)
    }
  })

  it('counts the votes that were cast [CTX-28, CTX-32]', async () => {
    const { buyer, reviewer } = m.market.accounts
    const agentId = await newAgent(m, buyer)
    expect((await digestOf(agentId)).counts.votes_cast).toBe(0)
    const author = BigInt(m.reviewerAgentId)
    const [bought, ...others] = [
      await newReview(reviewer, author),
      await newReview(reviewer, author),
      await newReview(reviewer, author),
    ]
    const { escrowId } = await buy(m, buyer, {
      product: m.zero.product,
      reviewId: bought.reviewId,
      reviewerAgentId: author,
      buyerAgentId: agentId,
    })
    await m.indexed()
    await must(vote(m, buyer, { agentId, escrowId, votes: others.map(({ internalId }) => internalId) }))
    expect((await digestOf(agentId)).counts.votes_cast).toBe(2)
    expect((await digestOf(author)).counts.votes_cast).toBe(0)
  })

  it('counts and lists proofs while they are pending [CTX-30, CTX-31, CTX-38, CTX-39, CTX-40, CTX-41]', async () => {
    const { guardian } = m.market.accounts
    const agent = await newAgent(m, guardian)
    const [first, second] = [m.zero, m.shop].map(({ merchantId, product }) => ({
      merchant_id: merchantId,
      product_id: product.productId,
    }))
    const submit = async (of = first) => {
      const body = { agent_id: Number(agent), ...of, proof_data: { receipt: 1 } }
      return { ...(await must(m.call('POST', '/v1/proof', { as: guardian, body }))), ...of }
    }
    const pending = async () => {
      const { counts, actionable } = await digestOf(agent)
      expect(counts.pending_proofs).toBe(actionable.pending_proofs.length)
      return actionable.pending_proofs
    }
    expect(await pending()).toEqual([])
    const one = await submit(first)
    expect(one).toEqual({ proof_id: expect.any(Number), ...first, status: 'pending' })
    expect(await pending()).toEqual([one])
    const two = await submit(second)
    expect(await pending()).toHaveLength(2)
    expect(await pending()).toEqual(expect.arrayContaining([one, two]))
    await must(m.call('POST', `/admin/proofs/${one.proof_id}/approve`, { token: m.tokens.admin }))
    expect(await pending()).toEqual([two])
  })

  it('counts and lists products that were bought, until they are reviewed [CTX-29, CTX-33, CTX-34, CTX-35, CTX-36, CTX-37]', async () => {
    const { buyer: owner } = m.market.accounts
    const agent = await newAgent(m, owner)
    const backlog = async () => {
      const { counts, actionable } = await digestOf(agent)
      expect(counts.review_backlog).toBe(actionable.review_backlog.length)
      return actionable.review_backlog
    }
    expect(await backlog()).toEqual([])
    const deposit = await buyInShop(agent)
    const entry = {
      merchant_id: m.shop.merchantId,
      product_id: m.shop.product.productId,
      name: 'A product',
      category: 'books',
      escrow_id: Number(deposit.escrowId),
    }
    expect(await backlog()).toEqual([entry])
    const body = await publishBuyerReview(m, owner, deposit)
    await m.indexed()
    await must(m.call('POST', '/v1/review/register', { as: owner, body }))
    expect(await backlog()).toEqual([])
  })
})

describe('the money in a digest', () => {
  it('that is pending is what is held back of its commission and the cashback of what it bought [CTX-42, CTX-43, CTX-44]', async () => {
    const { buyer: owner, walletBuyer } = m.market.accounts
    const agent = await newAgent(m, owner)
    const pending = async () => (await digestOf(agent)).actionable.escrow_pending
    expect(await pending()).toEqual({ held_back: 0, cashback: 0, total: 0 })
    await buyInShop(agent)
    expect(await pending()).toEqual({ held_back: 0, cashback: CASHBACK, total: CASHBACK })
    const { reviewId } = await newReview(owner, agent)
    const sold = { product: m.zero.product, reviewId, reviewerAgentId: agent, cashbackOfCommissionBps: 4_000 }
    await buy(m, walletBuyer, sold)
    const total = HELD_BACK + CASHBACK
    expect(await pending()).toEqual({ held_back: HELD_BACK, cashback: CASHBACK, total })
  })

  it('that was earned is commission and cashback, as integers [CTX-45, CTX-46, CTX-47, CTX-48, CTX-49]', async () => {
    const { guardian, buyer, oracle } = m.market.accounts
    const [author, agent] = [await newAgent(m, guardian), await newAgent(m, buyer)]
    const sold = { product: m.zero.product, reviewerAgentId: author, cashbackOfCommissionBps: 4_000 }
    const { reviewId } = await newReview(guardian, author)
    const deposit = await buy(m, buyer, { ...sold, reviewId, buyerAgentId: agent })
    await publishBuyerReview(m, buyer, deposit)
    await act(m, oracle, 'releaseCashback', deposit)
    const earned = async (id: bigint) => {
      const { usdc_wallet_balance: _balance, ...earnings } = (await digestOf(id)).earnings
      return earnings
    }
    expect(await earned(author)).toEqual({
      commission_realized: IMMEDIATE,
      commission_potential: IMMEDIATE + HELD_BACK,
      cashback_total: 0,
      cashback_count: 0,
      total_earnings: IMMEDIATE,
    })
    expect(await earned(agent)).toEqual({
      commission_realized: 0,
      commission_potential: 0,
      cashback_total: CASHBACK,
      cashback_count: 1,
      total_earnings: CASHBACK,
    })
  })

  it('that its wallet holds is decimal text, left out while the chain cannot be read [CTX-50]', async () => {
    const { publisher } = m.market.accounts
    const agent = await newAgent(m, publisher)
    expect((await digestOf(agent)).earnings.usdc_wallet_balance).toBe('0')
    await mintUsdc(m.market, publisher.address, 1_500_001n)
    const { earnings, ...rest } = await digestOf(agent)
    expect(earnings.usdc_wallet_balance).toBe('1.500001')
    // The call `balanceOf`.
    m.nodes.only = '0x70a08231'
    try {
      const { usdc_wallet_balance: _balance, ...others } = earnings
      expect(await digestOf(agent)).toEqual({ ...rest, earnings: others })
    } finally {
      m.nodes.only = undefined
    }
  })
})
