import { escrowDeposits, settlePurchases } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../http/caller.ts'
import { DAY, transfer, travel } from '../http/chain.ts'
import { vote } from '../http/commitments.ts'
import { act } from '../http/escrows.ts'
import { buy } from '../http/market.ts'
import { asAdmin, buyThrough, edit, newProduct, quiet, tell, write } from '../http/town.ts'
import { mineBlocks, signTogether } from '../oracle/world.ts'
import { verified } from './receiver.ts'
import {
  announceAll,
  CONFIRMATIONS,
  deliver,
  type Hook,
  messagesOf,
  newHook,
  newPerson,
  sendAll,
  startWorld,
  typesOf,
  type World,
} from './world.ts'

let world: World

beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

describe('a purchase', () => {
  it('is told to the owners of the merchant, the reviewer and the buyer, as the REST interface tells it', async () => {
    const { m, link } = world
    const { merchant, stranger } = m.market.accounts
    const buyer = await newPerson(world)
    const hooks = {
      merchant: await newHook(world, merchant),
      reviewer: await newHook(world, link.author.owner),
      buyer: await newHook(world, buyer.owner),
      stranger: await newHook(world, stranger),
    }
    await buyThrough(m, buyer, link)
    await deliver(world)
    const { purchases } = await must(
      m.call('GET', `/v1/agent/${buyer.agentId}/purchases`, { as: buyer.owner }),
    )
    // What the list of an owner adds to a purchase.
    const { escrow: _, review_status: __, ...rest } = purchases[0]
    for (const role of ['merchant', 'reviewer', 'buyer'] as const) {
      const [message, ...more] = messagesOf(world, hooks[role])
      expect(more).toEqual([])
      expect(message).toMatchObject({ type: 'purchase.settled', timestamp: rest.happened_at })
      const { roles, chain_id, ...data } = message?.data ?? {}
      expect([roles, chain_id]).toEqual([[role], m.chainId])
      expect(rest).toMatchObject(data)
    }
    expect(typesOf(world, hooks.stranger)).toEqual([])
  })

  it('of a wallet without an agent is told to the wallet', async () => {
    const { m, link } = world
    const buyer = await newPerson(world)
    const hook = await newHook(world, buyer.owner)
    const { product, reviewId, author } = link
    await buy(m, buyer.owner, { product, reviewId, reviewerAgentId: author.agentId })
    await deliver(world)
    expect(messagesOf(world, hook)).toMatchObject([{ data: { buyer_agent_id: null, roles: ['buyer'] } }])
  })

  it('is told once to an owner who has two parts in it, and of one part where the webhook has a scope', async () => {
    const { m, merchantId } = world
    const { merchant } = m.market.accounts
    const author = await newPerson(world)
    const link = await write(m, author, await newProduct(world))
    await transfer(m, author.owner, merchant.address, author.agentId)
    const all = await newHook(world, merchant)
    const ofMerchant = await newHook(world, merchant, { merchant_id: Number(merchantId) })
    const ofAgent = await newHook(world, merchant, { agent_id: Number(author.agentId) })
    const ofOthers = await newHook(world, world.link.author.owner, {
      agent_id: Number(world.link.author.agentId),
    })
    const onlyVotes = await newHook(world, merchant, { events: ['vote.cast'] })
    await buyThrough(m, await newPerson(world), link)
    await deliver(world)
    // The review itself is a minute old at most, and is announced, too.
    const rolesOf = (hook: Hook) =>
      messagesOf(world, hook)
        .filter(({ type }) => type === 'purchase.settled')
        .map(({ data }) => data.roles)
    expect([all, ofMerchant, ofAgent, ofOthers, onlyVotes].map(rolesOf)).toEqual([
      [['merchant', 'reviewer']],
      [['merchant']],
      [['reviewer']],
      [],
      [],
    ])
  })

  it('of an agent that was sold is told to its new owner only', async () => {
    const { m, link } = world
    const buyer = await newPerson(world)
    const later = await newPerson(world)
    const before = await newHook(world, buyer.owner, { agent_id: Number(buyer.agentId) })
    const after = await newHook(world, later.owner)
    await buyThrough(m, buyer, link)
    await transfer(m, buyer.owner, later.owner.address, buyer.agentId)
    await deliver(world)
    expect([typesOf(world, before), typesOf(world, after)]).toEqual([[], ['purchase.settled']])
  })

  it('that was made before the webhook is not told when it changes', async () => {
    const { m, link } = world
    const buyer = await newPerson(world)
    await newHook(world, buyer.owner)
    const deposit = await buyThrough(m, buyer, link)
    m.clock.aheadMs += 3_600_000
    const late = await newHook(world, buyer.owner)
    await deliver(world)
    expect(typesOf(world, late)).toEqual([])
    expect(deposit.escrowId).toBeGreaterThan(0n)
    m.clock.aheadMs = 0
  })
})

describe('what follows a purchase', () => {
  it('is told to those whom it concerns, each event once', async () => {
    const { m } = world
    const { merchant, oracle } = m.market.accounts
    const author = await newPerson(world)
    const buyer = await newPerson(world)
    const product = await newProduct(world)
    const link = await write(m, author, product)
    const other = await write(m, await newPerson(world), product)
    await deliver(world)
    const hooks = {
      merchant: await newHook(world, merchant),
      author: await newHook(world, author.owner),
      other: await newHook(world, other.author.owner),
      buyer: await newHook(world, buyer.owner),
    }
    const told = () =>
      Object.fromEntries(Object.entries(hooks).map(([name, hook]) => [name, typesOf(world, hook)]))
    const deposit = await buyThrough(m, buyer, link)
    const { escrowId } = deposit
    await must(vote(m, buyer.owner, { agentId: buyer.agentId, escrowId, votes: [other.internalId] }))
    await deliver(world)
    const bought = ['purchase.settled']
    expect(told()).toEqual({ merchant: bought, author: bought, other: ['vote.cast'], buyer: bought })
    expect(messagesOf(world, hooks.other)[0]?.data).toMatchObject({
      review_internal_id: other.internalId,
      review_id: Number(other.reviewId),
      voter_agent_id: Number(buyer.agentId),
      escrow_id: Number(escrowId),
      roles: ['author'],
    })

    const review = await tell(m, buyer, deposit, 1)
    await deliver(world)
    await edit(m, review, 2)
    await deliver(world)
    const reviewed = [...bought, 'review.published', 'review.updated']
    expect(told()).toEqual({ merchant: reviewed, author: bought, other: ['vote.cast'], buyer: reviewed })
    const {
      content_json: _,
      ref_link: __,
      status: ___,
      ...shown
    } = await must(m.call('GET', `/v1/review/${review.reviewId}`))
    const { roles, chain_id, ...data } = messagesOf(world, hooks.merchant)[2]?.data ?? {}
    expect(data).toEqual(shown)
    expect([roles, chain_id]).toEqual([['merchant'], m.chainId])

    // The oracle does not work in this market.
    await m.sql`UPDATE market.reviews SET comparison_outcome = 'contradicted' WHERE internal_id = ${link.internalId}`
    const reason = 'They used it wrongly.'
    await must(m.call('POST', `/v1/review/${link.reviewId}/dispute`, { as: author.owner, body: { reason } }))
    await deliver(world)
    expect(told().author?.at(-1)).toBe('dispute.opened')
    await must(asAdmin(m, `disputes/${link.internalId}/resolve`, { note: 'Looked at it.', upheld: true }))
    await deliver(world)
    const disputed = ['dispute.opened', 'dispute.resolved']
    // The review of the link is a minute old at most, and is announced as published when it changes.
    const without = (types: string[] = []) => types.filter((type) => type !== 'review.published')
    expect(without(told().author)).toEqual([...bought, ...disputed])
    expect(without(told().merchant)).toEqual([...without(reviewed), ...disputed])
    expect(messagesOf(world, hooks.author).at(-1)?.data).toMatchObject({
      internal_id: link.internalId,
      comparison_outcome: 'resolved',
      upheld: true,
    })
    // Only admins see what was said about it.
    expect(JSON.stringify(messagesOf(world, hooks.merchant))).not.toMatch(/used it wrongly|Looked at it/)

    await travel(m, 61 * DAY)
    await act(m, oracle, 'settle', deposit, false, false)
    m.clock.aheadMs = 61 * DAY * 1_000
    await deliver(world)
    for (const hook of [hooks.merchant, hooks.author, hooks.buyer]) {
      expect(typesOf(world, hook).filter((type) => type === 'escrow.settled')).toHaveLength(1)
      expect(typesOf(world, hook).filter((type) => type === 'purchase.settled')).toHaveLength(1)
    }
    const settled = messagesOf(world, hooks.author).at(-1)?.data
    expect(settled).toMatchObject({ escrow_id: Number(escrowId), held_back_to_treasury_usdc: 0 })
    expect(settled.held_back_to_reviewer_usdc).toBe(settled.held_back_usdc)
    m.clock.aheadMs = 0
  })
})

describe('a reorganisation', () => {
  it('before an event has its confirmations: nothing is told of it', async () => {
    const { m, link, receiver } = world
    const buyer = await newPerson(world)
    const hook = await newHook(world, buyer.owner)
    const before = await m.market.client.snapshot()
    await buyThrough(m, buyer, link)
    await mineBlocks(m, CONFIRMATIONS - 2)
    await announceAll(world)
    expect((await m.sql`SELECT FROM market.webhook_changes`).count).toBeGreaterThan(0)
    await m.market.client.revert({ id: before })
    await mineBlocks(m, 2 * CONFIRMATIONS)
    await deliver(world)
    expect(receiver.at(hook.path)).toEqual([])
    expect((await m.sql`SELECT FROM market.webhook_changes`).count).toBe(0)
  })

  it('with just enough confirmations it is told', async () => {
    const { m, link } = world
    const buyer = await newPerson(world)
    const hook = await newHook(world, buyer.owner)
    await buyThrough(m, buyer, link)
    await mineBlocks(m, CONFIRMATIONS - 1)
    await announceAll(world)
    await sendAll(world)
    expect(typesOf(world, hook)).toEqual(['purchase.settled'])
  })

  it('after it was told: it is neither taken back, nor told again when it comes back by another number', async () => {
    const { m, link, receiver } = world
    const [first, second] = [await newPerson(world), await newPerson(world)]
    const hook = await newHook(world, first.owner)
    const signed = await signTogether(m, link, [first, second])
    const settle = async (order: readonly number[]) => {
      const ids: bigint[] = []
      for (const at of order) {
        const purchase = signed[at]
        const [deposit] = purchase ? escrowDeposits(await settlePurchases(m.market, [purchase])) : []
        ids[at] = deposit?.escrowId ?? 0n
      }
      return ids
    }
    const before = await m.market.client.snapshot()
    const ids = await settle([0, 1])
    await deliver(world)
    expect(receiver.at(hook.path)).toHaveLength(1)
    await m.market.client.revert({ id: before })
    await m.market.client.mine({ blocks: 1 })
    await quiet(m)
    const again = await settle([1, 0])
    expect(again).not.toEqual(ids)
    await deliver(world)
    expect(receiver.at(hook.path)).toHaveLength(1)
    const [got] = receiver.at(hook.path)
    expect(got && verified(hook.secret, got).data.escrow_id).toBe(Number(ids[0]))
  })
})

it('without an enabled webhook of the chain the follower keeps nothing', async () => {
  const { m, link } = world
  await m.sql`UPDATE market.webhooks SET disabled_at = now(), disabled_reason = 'test'`
  await buyThrough(m, await newPerson(world), link)
  await quiet(m)
  expect((await m.sql`SELECT FROM market.webhook_changes`).count).toBe(0)
})
