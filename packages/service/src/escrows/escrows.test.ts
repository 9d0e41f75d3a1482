import {
  confirmed,
  type EscrowDeposit,
  escrowTerms,
  listProduct,
  mintUsdc,
  openMerchant,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import { commissionEscrowAbi, identityRegistryAbi, reviewRegistryAbi } from '@referrer/protocol/abi'
import { type LocalAccount, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Bought,
  buy,
  generic,
  productOf,
  startTestMarket,
  type TestMarket,
} from '../../test/http/market.ts'

const DAY = 24 * 60 * 60
/** Of a million, at 10 %: 10 % of it fee, 40 % cashback, half of the rest held back. */
const AMOUNTS = { held_back: 25_000, cashback: 40_000 }

let m: TestMarket
let reviewer: bigint
let buyer: bigint
let sold: Omit<Bought, 'buyerAgentId'>

beforeAll(async () => {
  m = await startTestMarket()
  const { market } = m
  const { accounts } = market
  const product = { merchantId: await openMerchant(market, accounts.merchant), productId: productOf(1) }
  await listProduct(market, accounts.merchant, product)
  reviewer = await registerIdentity(market, accounts.reviewer)
  buyer = await registerIdentity(market, accounts.buyer)
  for (const payer of [accounts.buyer, accounts.walletBuyer])
    await mintUsdc(market, payer.address, 10n ** 12n)
  const review = { agentId: reviewer, product, content: generic(5, 'good'), proofId: 1n }
  const { reviewId } = await publishWithProof(market, accounts.reviewer, review)
  sold = { product, reviewId, reviewerAgentId: reviewer, cashbackOfCommissionBps: 4_000 }
})
afterAll(() => m.close())

async function act(
  account: LocalAccount,
  functionName: 'bind' | 'releaseCashback' | 'settle' | 'settleFallback' | 'pause' | 'unpause',
  args: readonly unknown[],
): Promise<void> {
  const call = {
    account,
    address: m.market.addresses.CommissionEscrow,
    abi: commissionEscrowAbi,
    functionName,
    args,
  }
  await confirmed(m.market, await m.market.client.writeContract(call as never))
}

async function publish(deposit: EscrowDeposit): Promise<void> {
  const { client, addresses, accounts } = m.market
  const hash = await client.writeContract({
    account: accounts.buyer,
    address: addresses.ReviewRegistry,
    abi: reviewRegistryAbi,
    functionName: 'publishWithEscrow',
    args: [addresses.CommissionEscrow, escrowTerms(deposit), numberToHex(deposit.escrowId, { size: 32 })],
  })
  await confirmed(m.market, hash)
}

const bringText = (deposit: EscrowDeposit) =>
  m.sql`UPDATE market.reviews SET content = '{}' WHERE proof_kind = 2 AND proof_id = ${deposit.escrowId}`

async function travel(seconds: number): Promise<void> {
  await m.market.client.increaseTime({ seconds })
  await m.market.client.mine({ blocks: 1 })
}

const as = () => ({ as: m.market.accounts.stranger })
async function status({ escrowId }: EscrowDeposit, agentId: bigint) {
  await m.indexed()
  return (await m.call('GET', `/v1/escrow/${escrowId}/status?agent_id=${agentId}`, as())).body
}
async function list(agentId: bigint, query = '') {
  await m.indexed()
  return (await m.call('GET', `/v1/agent/${agentId}/escrows${query}`, as())).body.escrows
}

describe('an escrow', () => {
  let deposit: EscrowDeposit
  let windowEnd: string

  it('is seen by its reviewer and by its buyer, who is told what to do', async () => {
    deposit = await buy(m, m.market.accounts.buyer, { ...sold, buyerAgentId: buyer })
    windowEnd = new Date(Number(deposit.windowEnd) * 1_000).toISOString().replace('.000', '')
    const seen = {
      escrow_id: Number(deposit.escrowId),
      held_back: { amount: AMOUNTS.held_back, status: 'pending', eligible_at: windowEnd },
      cashback: { amount: AMOUNTS.cashback, status: 'pending_buyer_review' },
      window_end: windowEnd,
      fallback_available: false,
    }
    expect(await status(deposit, reviewer)).toEqual({ ...seen, role: 'reviewer', state: 'holding' })
    expect(await list(reviewer)).toEqual([{ ...seen, role: 'reviewer' }])
    const action_needed = 'To earn the cashback: publish a review of this purchase, then register the review.'
    const cashback = { ...seen.cashback, action_needed }
    expect(await status(deposit, buyer)).toEqual({ ...seen, cashback, role: 'buyer', state: 'holding' })
    expect(await list(buyer)).toEqual([{ ...seen, cashback, role: 'buyer' }])
  })

  it('is answered from the records while no node answers', async () => {
    m.nodes.isDown = true
    try {
      const { body } = await m.call('GET', `/v1/escrow/${deposit.escrowId}/status?agent_id=${buyer}`, as())
      expect(Object.keys(body)).toEqual([
        'escrow_id',
        'role',
        'held_back',
        'cashback',
        'window_end',
        'fallback_available',
      ])
      expect(body).toMatchObject({ role: 'buyer', fallback_available: false })
    } finally {
      m.nodes.isDown = false
    }
  })

  it('pays its cashback once the review is published here and on the chain', async () => {
    await publish(deposit)
    expect((await status(deposit, buyer)).cashback).toMatchObject({
      status: 'pending_buyer_review',
      action_needed: 'To earn the cashback: register the review.',
    })
    await bringText(deposit)
    const claimable = { amount: AMOUNTS.cashback, status: 'claimable' }
    expect((await status(deposit, buyer)).cashback).toEqual(claimable)
    expect((await list(reviewer))[0].cashback).toEqual(claimable)
    await act(m.market.accounts.oracle, 'releaseCashback', [escrowTerms(deposit)])
    expect((await status(deposit, buyer)).cashback).toEqual({ ...claimable, status: 'released' })
  })

  it('without cashback has none to earn', async () => {
    const plain = await buy(m, m.market.accounts.buyer, {
      ...sold,
      buyerAgentId: buyer,
      cashbackOfCommissionBps: 0,
    })
    expect((await status(plain, buyer)).cashback).toEqual({ amount: 0, status: 'none' })
    const found = await list(buyer)
    expect(found.map(({ escrow_id }: { escrow_id: number }) => escrow_id)).toEqual(
      [plain, deposit].map(({ escrowId }) => Number(escrowId)),
    )
    expect(await list(buyer, '?limit=1&offset=1')).toEqual([found[1]])
  })

  it('belongs to nobody but its reviewer until it is bound to the agent of the wallet that paid', async () => {
    const { walletBuyer, reviewer: owner } = m.market.accounts
    const { client, addresses } = m.market
    const unbound = await buy(m, walletBuyer, sold)
    expect(await status(unbound, buyer)).toEqual({ error: 'not found' })
    expect((await status(unbound, reviewer)).cashback).toEqual({
      amount: AMOUNTS.cashback,
      status: 'pending_buyer_review',
    })
    const hash = await client.writeContract({
      account: owner,
      address: addresses.IdentityRegistry,
      abi: identityRegistryAbi,
      functionName: 'transferFrom',
      args: [owner.address, walletBuyer.address, reviewer],
    })
    await confirmed(m.market, hash)
    await act(walletBuyer, 'bind', [escrowTerms(unbound), reviewer])
    const [bound] = await list(reviewer)
    expect(bound).toMatchObject({ escrow_id: Number(unbound.escrowId), role: 'reviewer+buyer' })
    expect(bound.cashback.action_needed).toContain('publish')
  })

  it('stays open when its window ends, and can be settled by anybody ten days later, not during a pause', async () => {
    const late = await buy(m, m.market.accounts.buyer, { ...sold, buyerAgentId: buyer })
    const { guardian, stranger } = m.market.accounts
    await travel(60 * DAY)
    expect(await status(late, buyer)).toMatchObject({
      state: 'holding',
      held_back: { status: 'pending' },
      cashback: { status: 'pending_buyer_review' },
      fallback_available: false,
    })
    await travel(10 * DAY)
    expect((await status(late, buyer)).fallback_available).toBe(true)
    expect((await list(buyer))[0].fallback_available).toBe(false)
    await act(guardian, 'pause', [])
    expect(await status(late, buyer)).toMatchObject({ state: 'holding', fallback_available: false })
    await act(guardian, 'unpause', [])
    await travel(10 * DAY)
    await act(stranger, 'settleFallback', [escrowTerms(late)])
    expect(await status(late, buyer)).toMatchObject({
      state: 'settled',
      held_back: { amount: AMOUNTS.held_back, status: 'window_closed' },
      cashback: { amount: AMOUNTS.cashback, status: 'window_closed' },
      fallback_available: false,
    })
  })

  it('ends as the oracle decides', async () => {
    const { oracle } = m.market.accounts
    await act(oracle, 'settle', [escrowTerms(deposit), false, true])
    expect(await status(deposit, reviewer)).toEqual({
      escrow_id: Number(deposit.escrowId),
      role: 'reviewer',
      state: 'settled',
      held_back: { amount: AMOUNTS.held_back, status: 'released' },
      cashback: { amount: AMOUNTS.cashback, status: 'released' },
      window_end: windowEnd,
      fallback_available: false,
    })
    const earned = await buy(m, m.market.accounts.buyer, { ...sold, buyerAgentId: buyer })
    await travel(60 * DAY)
    await act(oracle, 'settle', [escrowTerms(earned), true, true])
    expect(await status(earned, buyer)).toMatchObject({
      held_back: { status: 'window_closed' },
      cashback: { status: 'released' },
    })
  })

  it('asks for a vote first where there was another review to read', async () => {
    const { market, sql } = m
    const author = await registerIdentity(market, market.accounts.stranger)
    const review = { agentId: author, product: sold.product, content: generic(4, 'fine'), proofId: 2n }
    await publishWithProof(market, market.accounts.stranger, review)
    await m.indexed()
    await sql`UPDATE market.reviews SET content = ${review.content} WHERE agent_id = ${author}`
    const voted = await buy(m, market.accounts.buyer, { ...sold, buyerAgentId: buyer })
    const actionOf = async () => (await status(voted, buyer)).cashback.action_needed
    const publishIt = 'publish a review of this purchase, then register the review.'
    expect(await actionOf()).toBe(
      `To earn the cashback: vote on other reviews of the product, then ${publishIt}`,
    )
    await publish(voted)
    await m.indexed()
    await bringText(voted)
    const [{ cashback }] = await list(buyer)
    expect(cashback).toMatchObject({
      status: 'pending_buyer_review',
      action_needed: 'To earn the cashback: vote on other reviews of the product.',
    })
    await sql`
      INSERT INTO market.votes (chain_id, escrow_contract, escrow_id, voter_agent_id, review_internal_id, reasoning, qualifies)
      SELECT e.chain_id, e.contract, e.escrow_id, ${buyer}, r.internal_id, 'well said', true
      FROM chain.escrows AS e, market.reviews AS r WHERE e.escrow_id = ${voted.escrowId} AND r.agent_id = ${author}`
    expect((await status(voted, buyer)).cashback).toEqual({ amount: AMOUNTS.cashback, status: 'claimable' })
  })
})
