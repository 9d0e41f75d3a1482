import { type EscrowDeposit, publishWithProof, registerIdentity } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../calls.ts'
import { must } from './caller.ts'
import { DAY, send, travel } from './chain.ts'
import { vote } from './commitments.ts'
import { act, CASHBACK, HELD_BACK, openShop, publishBuyerReview, type Shop } from './escrows.ts'
import { type Bought, buy, generic, NO_WORK, startTestMarket, type TestMarket } from './market.ts'

const KEYS = ['escrow_id', 'role', 'state', 'held_back', 'cashback', 'window_end', 'fallback_available']
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

let m: TestMarket
let shop: Shop
/** Bought by the buyer's agent through the reviewer's link, and not changed by any test. */
let open: EscrowDeposit
/** An agent that is no party of the escrow. */
let third: bigint

beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  shop = await openShop(m)
  third = await registerIdentity(m.market, m.market.accounts.stranger)
  open = await bought()
  await m.indexed()
})
afterAll(() => m.close())

const bought = (more: Partial<Bought> = {}) =>
  buy(m, m.market.accounts.buyer, { ...shop.sold, buyerAgentId: shop.buyer, ...more })

const ask = (
  escrowId: bigint | number | string,
  query: string,
  as: LocalAccount = m.market.accounts.stranger,
) => m.call('GET', `/v1/escrow/${escrowId}/status${query}`, { as })

/** Waits for the indexer, then reads the status. */
async function status({ escrowId }: EscrowDeposit, agentId: bigint) {
  await m.indexed()
  const { status, body, text } = await ask(escrowId, `?agent_id=${agentId}`)
  expect(status, text).toBe(200)
  return body
}

describe('the status of an escrow', () => {
  it('is for those who sign, whoever they are [ESC-35, ESC-36]', async () => {
    const path = `/v1/escrow/${open.escrowId}/status?agent_id=${shop.buyer}`
    expect(await m.call('GET', path)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    const own = await m.call('GET', path, { as: m.market.accounts.buyer })
    expect(own.status).toBe(200)
    expect(await m.call('GET', path, { as: m.market.accounts.stranger })).toMatchObject({
      status: 200,
      text: own.text,
    })
  })

  it.each(['', '?agent_id=', '?agent_id=-1', '?agent_id=x', '?agent_id=1.5', '?agent_id=9007199254740992'])(
    'needs the id of an agent: not %j [ESC-37, ESC-38, ESC-39]',
    async (query) => {
      expect(await ask(open.escrowId, query)).toMatchObject({
        status: 400,
        body: { error: 'agent_id required' },
      })
    },
  )

  it('is told to agent 0 [ESC-40]', async () => {
    const { status, body } = await ask(open.escrowId, '?agent_id=0')
    expect(status).toBe(200)
    expect(body).toMatchObject({ escrow_id: Number(open.escrowId), role: 'reviewer' })
  })

  it.each(['-1', 'abc', '1.5', '1e3', '0x1', '9007199254740992'])(
    'is refused for the escrow %s [ESC-41, ESC-42]',
    async (id) => {
      expect(await ask(id, '?agent_id=1')).toMatchObject({
        status: 400,
        body: { error: 'invalid escrow id' },
      })
    },
  )

  it('is refused for escrow 0 in words of its own [ESC-43]', async () => {
    expect(await ask(0, '?agent_id=1')).toMatchObject({
      status: 400,
      body: { error: 'escrow_id is required: invalid input' },
    })
  })

  it('is not found where there is no escrow, or none of this agent [ESC-44, ESC-45]', async () => {
    const notFound = { status: 404, body: { error: 'not found' } }
    expect(await ask(99_999_999, `?agent_id=${shop.buyer}`)).toMatchObject(notFound)
    expect(await ask(open.escrowId, `?agent_id=${third}`)).toMatchObject(notFound)
    expect(await ask(open.escrowId, '?agent_id=4242')).toMatchObject(notFound)
    const ofWallet = await buy(m, m.market.accounts.walletBuyer, shop.sold)
    expect((await status(ofWallet, shop.reviewer)).cashback).toEqual({
      amount: CASHBACK,
      status: 'pending_buyer_review',
    })
    expect(await ask(ofWallet.escrowId, `?agent_id=${shop.buyer}`)).toMatchObject(notFound)
  })

  it('is not told without the database, nor of a chain that is not served [ESC-46, ESC-51]', async () => {
    const query = `?agent_id=${shop.buyer}`
    await m.withoutTable('chain.escrows', async () => {
      expect(await ask(open.escrowId, query)).toMatchObject({
        status: 500,
        body: { error: 'internal error' },
      })
    })
    expect(await ask(open.escrowId, `${query}&chain_id=999999999`)).toMatchObject({
      status: 400,
      body: { error: 'chain_id not configured' },
    })
    expect((await ask(open.escrowId, `${query}&chain_id=${m.chainId}`)).status).toBe(200)
  })

  it('is one escrow, with its state on the chain and the end of its window [ESC-22, ESC-33, ESC-34, ESC-47, ESC-48 otherwise]', async () => {
    const deposit = await bought()
    const escrow = await status(deposit, shop.buyer)
    expect(Object.keys(escrow)).toEqual(KEYS)
    expect(escrow).toMatchObject({
      escrow_id: Number(deposit.escrowId),
      state: 'holding',
      fallback_available: false,
    })
    expect(escrow.window_end).toMatch(RFC3339)
    expect(Date.parse(escrow.window_end)).toBe(Number(deposit.windowEnd) * 1_000)
  })

  it('tells each side its role [ESC-23, ESC-24]', async () => {
    expect((await status(open, shop.reviewer)).role).toBe('reviewer')
    expect((await status(open, shop.buyer)).role).toBe('buyer')
  })

  it('comes from the records while no node answers, and does not say so [ESC-49]', async () => {
    const deposit = await bought()
    await travel(m, 71 * DAY)
    const { state, ...rest } = await status(deposit, shop.buyer)
    expect({ state, available: rest.fallback_available }).toEqual({ state: 'holding', available: true })
    m.nodes.isDown = true
    try {
      const answer = await ask(deposit.escrowId, `?agent_id=${shop.buyer}`)
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({ ...rest, fallback_available: false })
    } finally {
      m.nodes.isDown = false
    }
  })

  it('leaves the state out while the records are behind the chain, so that the legs do not contradict it [ESC-48 otherwise]', async () => {
    const deposit = await bought()
    await travel(m, 60 * DAY)
    await act(m, m.market.accounts.oracle, 'settle', deposit, false, false)
    expect((await status(deposit, shop.buyer)).state).toBe('settled')
    await m.sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      await tx`UPDATE chain.escrows SET settled_at = NULL WHERE escrow_id = ${deposit.escrowId}`
    })
    const behind = await status(deposit, shop.buyer)
    expect(behind).not.toHaveProperty('state')
    expect(behind).toMatchObject({ held_back: { status: 'pending' }, fallback_available: false })
  })

  it('says that anybody may settle from ten days after the window on, until somebody has [ESC-34, ESC-48 otherwise, ESC-50]', async () => {
    const { client, accounts } = m.market
    const deposit = await bought()
    /** The status as of a block at this second. */
    const at = async (timestamp: bigint) => {
      await client.setNextBlockTimestamp({ timestamp })
      await client.mine({ blocks: 1 })
      return status(deposit, shop.buyer)
    }
    const fallback = deposit.windowEnd + BigInt(10 * DAY)
    const legs = { held_back: { status: 'pending' }, cashback: { status: 'pending_buyer_review' } }
    const holding = { state: 'holding', fallback_available: false, ...legs }
    expect(await at(deposit.windowEnd + 1n)).toMatchObject(holding)
    expect(await at(fallback - 100n)).toMatchObject(holding)
    expect(await at(fallback)).toMatchObject({ ...holding, fallback_available: true })
    await send(m, call(m, accounts.guardian, 'CommissionEscrow', 'pause', []))
    expect(await status(deposit, shop.buyer)).toMatchObject(holding)
    await send(m, call(m, accounts.guardian, 'CommissionEscrow', 'unpause', []))
    // The pause restarts the whole delay.
    await travel(m, 10 * DAY)
    expect((await status(deposit, shop.buyer)).fallback_available).toBe(true)
    await act(m, accounts.stranger, 'settleFallback', deposit)
    expect(await status(deposit, shop.buyer)).toMatchObject({
      state: 'settled',
      held_back: { amount: HELD_BACK, status: 'window_closed' },
      cashback: { amount: CASHBACK, status: 'window_closed' },
      fallback_available: false,
    })
  })
})

describe('the legs of an escrow', () => {
  const PUBLISH = 'publish a review of this purchase, then register the review.'
  const actionOf = async (deposit: EscrowDeposit) =>
    (await status(deposit, shop.buyer)).cashback.action_needed

  it('are amounts in base units and where they stand, with no more than applies [ESC-26, ESC-27, ESC-28, ESC-29, ESC-30, ESC-32]', async () => {
    const deposit = await bought()
    const ofReviewer = await status(deposit, shop.reviewer)
    expect(ofReviewer.held_back).toEqual({
      amount: HELD_BACK,
      status: 'pending',
      eligible_at: ofReviewer.window_end,
    })
    expect(ofReviewer.cashback).toEqual({ amount: CASHBACK, status: 'pending_buyer_review' })
    const { cashback, held_back } = await status(deposit, shop.buyer)
    expect(held_back).toEqual(ofReviewer.held_back)
    expect(cashback).toEqual({ ...ofReviewer.cashback, action_needed: expect.stringContaining('review') })
  })

  it('are `none` where nothing is set aside [ESC-29, ESC-31]', async () => {
    // A commission of 1 is too small to be divided.
    const deposit = await bought({ price: 10n, cashbackOfCommissionBps: 0 })
    expect(await status(deposit, shop.buyer)).toMatchObject({
      held_back: { amount: 0, status: 'none' },
      cashback: { amount: 0, status: 'none' },
    })
    const { held_back, cashback } = await status(deposit, shop.reviewer)
    expect([held_back, cashback].map((leg) => Object.keys(leg))).toEqual([
      ['amount', 'status'],
      ['amount', 'status'],
    ])
  })

  it('follow the buyer review: cashback is claimable when it is published here, and then released [ESC-28, ESC-31]', async () => {
    const { buyer, oracle } = m.market.accounts
    const deposit = await bought()
    expect(await actionOf(deposit)).toBe(`To earn the cashback: ${PUBLISH}`)
    const registration = await publishBuyerReview(m, buyer, deposit)
    expect((await status(deposit, shop.buyer)).cashback).toEqual({
      amount: CASHBACK,
      status: 'pending_buyer_review',
      action_needed: 'To earn the cashback: register the review.',
    })
    const registered = await m.call('POST', '/v1/review/register', { as: buyer, body: registration })
    expect(registered.status, registered.text).toBe(200)
    expect(await status(deposit, shop.buyer)).toMatchObject({ held_back: { status: 'pending' } })
    expect((await status(deposit, shop.buyer)).cashback).toEqual({ amount: CASHBACK, status: 'claimable' })
    await act(m, oracle, 'releaseCashback', deposit)
    expect((await status(deposit, shop.buyer)).cashback).toEqual({ amount: CASHBACK, status: 'released' })
  })

  const released = { status: 'released' }
  const elsewhere = { status: 'window_closed' }
  it.each([
    { contradicted: false, earned: true, held_back: released, cashback: released },
    { contradicted: false, earned: false, held_back: released, cashback: elsewhere },
    { contradicted: true, earned: true, held_back: elsewhere, cashback: released },
    { contradicted: true, earned: false, held_back: elsewhere, cashback: elsewhere },
  ])(
    'end as the oracle settles: contradicted $contradicted, cashback earned $earned [ESC-28, ESC-29, ESC-31]',
    async ({ contradicted, earned, held_back, cashback }) => {
      const deposit = await bought()
      await travel(m, 60 * DAY)
      expect((await status(deposit, shop.buyer)).held_back.status).toBe('pending')
      await act(m, m.market.accounts.oracle, 'settle', deposit, contradicted, earned)
      for (const agentId of [shop.reviewer, shop.buyer]) {
        const escrow = await status(deposit, agentId)
        expect(escrow.state).toBe('settled')
        expect(escrow.held_back).toEqual({ amount: HELD_BACK, ...held_back })
        expect(escrow.cashback).toEqual({ amount: CASHBACK, ...cashback })
      }
    },
  )

  it('are the same in the list [ESC-26, ESC-27, ESC-30, ESC-32]', async () => {
    const deposit = await bought()
    const { state: _, ...escrow } = await status(deposit, shop.buyer)
    const { body } = await m.call('GET', `/v1/agent/${shop.buyer}/escrows?limit=1`, {
      as: m.market.accounts.buyer,
    })
    expect(body.escrows).toEqual([escrow])
  })
  it('wait for a vote too where another had reviewed the product, as soon as that review can be read', async () => {
    const { buyer, stranger } = m.market.accounts
    const content = generic(3, 'So so')
    const review = { agentId: third, product: shop.sold.product, content, proofId: 2n }
    const { reviewId } = await publishWithProof(m.market, stranger, review)
    const [reviewed, deposit] = [await bought(), await bought()]
    const body = await publishBuyerReview(m, buyer, reviewed)
    await m.indexed()
    await must(m.call('POST', '/v1/review/register', { as: buyer, body }))
    expect((await status(reviewed, shop.buyer)).cashback.status).toBe('claimable')
    const other = { review_id: Number(reviewId), escrow_id: 0, content_json: content }
    const { review_id: votedFor } = await must(
      m.call('POST', '/v1/review/register', { as: stranger, body: other }),
    )
    const needed = 'To earn the cashback: vote on other reviews of the product'
    expect(await actionOf(reviewed)).toBe(`${needed}.`)
    expect(await actionOf(deposit)).toBe(`${needed}, then ${PUBLISH}`)
    const { escrowId } = reviewed
    await must(vote(m, buyer, { agentId: shop.buyer, escrowId, votes: [votedFor] }))
    expect((await status(reviewed, shop.buyer)).cashback).toEqual({ amount: CASHBACK, status: 'claimable' })
  })
})
