import { type EscrowDeposit, publishWithProof, registerIdentity } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call } from '../calls.ts'
import { DAY, send, travel } from './chain.ts'
import { act, buyMany, openShop, type Shop } from './escrows.ts'
import { buy, generic, NO_WORK, startTestMarket, type TestMarket } from './market.ts'
import { promisedTexts } from './promised.ts'

const KEYS = ['escrow_id', 'role', 'held_back', 'cashback', 'window_end', 'fallback_available']
const MANY = 205

interface Listed {
  escrow_id: number
  role: string
  fallback_available: boolean
}

let m: TestMarket
let shop: Shop
/** Alternately bought through the reviewer's link and sold through a link of its own. */
let mixed: { agent: bigint; deposits: EscrowDeposit[] }
/** Bought many times. */
let regular: { agent: bigint; deposits: EscrowDeposit[] }

beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  shop = await openShop(m)
  const { market } = m
  const { buyer, stranger } = market.accounts
  const { sold } = shop
  const review = { agentId: shop.buyer, product: sold.product, content: generic(4, 'Well made'), proofId: 2n }
  const own = {
    ...sold,
    reviewId: (await publishWithProof(market, buyer, review)).reviewId,
    reviewerAgentId: shop.buyer,
  }
  mixed = { agent: shop.buyer, deposits: [] }
  for (let round = 0; round < 2; round++) {
    mixed.deposits.push(await buy(m, buyer, { ...sold, buyerAgentId: shop.buyer }))
    mixed.deposits.push(await buy(m, stranger, own))
  }
  const buyerAgentId = await registerIdentity(market, stranger)
  regular = {
    agent: buyerAgentId,
    deposits: await buyMany(m, stranger, sold, { buyerAgentId, count: MANY }),
  }
  await m.indexed()
})
afterAll(() => m.close())

const list = (agentId: bigint | number | string, query = '', as: LocalAccount = m.market.accounts.stranger) =>
  m.call('GET', `/v1/agent/${agentId}/escrows${query}`, { as })
const listed = async (agentId: bigint, query = ''): Promise<Listed[]> =>
  (await list(agentId, query)).body.escrows
const idsOf = (escrows: Listed[]) => escrows.map(({ escrow_id }) => escrow_id)
const newestFirst = (deposits: EscrowDeposit[]) => deposits.map(({ escrowId }) => Number(escrowId)).reverse()

describe('the escrows of an agent', () => {
  it('are for those who sign, whoever they are [ESC-01, ESC-02]', async () => {
    const path = `/v1/agent/${mixed.agent}/escrows`
    expect(await m.call('GET', path)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    const own = await list(mixed.agent, '', m.market.accounts.buyer)
    expect(own.status).toBe(200)
    expect(await list(mixed.agent)).toMatchObject({ status: 200, text: own.text })
  })

  it.each(['-1', 'abc', '1.5', '1e3', '0x1', '9007199254740992'])(
    'are refused for the id %s [ESC-03, ESC-04]',
    async (id) => {
      expect(await list(id)).toMatchObject({ status: 400, body: { error: 'invalid agent id' } })
    },
  )

  it('are those of agent 0 too, and none for an agent that nobody knows [ESC-05, ESC-16]', async () => {
    const { status, body } = await list(0)
    expect(status).toBe(200)
    expect(body.escrows[0]).toMatchObject({ role: 'reviewer' })
    expect(await list(4_242)).toMatchObject({ status: 200, text: '{"escrows":[]}' })
  })

  it('are a list of what is known of each, without its state [ESC-16, ESC-19]', async () => {
    const { body } = await list(mixed.agent)
    expect(Object.keys(body)).toEqual(['escrows'])
    expect(body.escrows).toHaveLength(4)
    for (const escrow of body.escrows) expect(Object.keys(escrow)).toEqual(KEYS)
  })

  it('are those in which it reviewed and those in which it bought, newest first [ESC-15, ESC-17, ESC-23, ESC-24]', async () => {
    const escrows = await listed(mixed.agent)
    expect(idsOf(escrows)).toEqual(newestFirst(mixed.deposits))
    expect(escrows.map(({ role }) => role)).toEqual(['reviewer', 'buyer', 'reviewer', 'buyer'])
    const bought = idsOf(escrows.filter(({ role }) => role === 'buyer'))
    const ofReviewer = await listed(shop.reviewer, `?limit=200&offset=${MANY}`)
    expect(idsOf(ofReviewer).filter((id) => bought.includes(id))).toEqual(bought)
    expect(new Set(ofReviewer.map(({ role }) => role))).toEqual(new Set(['reviewer']))
  })

  it('are not told without the database [ESC-14]', async () => {
    await m.withoutTable('chain.escrows', async () => {
      expect(await list(mixed.agent)).toMatchObject({ status: 500, body: { error: 'internal error' } })
    })
  })

  it('promise `not found` and no other text with a 404 [ESC-13]', async () => {
    expect(await promisedTexts(m, '/v1/agent/{id}/escrows', 404)).toEqual(['not found'])
  })
})

describe('a page of escrows', () => {
  it('has 50 from the newest on unless another is asked for [ESC-06, ESC-10, ESC-17]', async () => {
    expect(idsOf(await listed(regular.agent))).toEqual(newestFirst(regular.deposits).slice(0, 50))
    expect(idsOf(await listed(regular.agent, '?limit=3&offset=5'))).toEqual(
      newestFirst(regular.deposits).slice(5, 8),
    )
  })

  it.each([
    ['0', 1],
    ['-7', 1],
    ['1', 1],
    ['200', 200],
    ['201', 200],
    ['999', 200],
  ])('with a limit of %s has %d [ESC-07, ESC-08]', async (limit, length) => {
    expect(idsOf(await listed(regular.agent, `?limit=${limit}`))).toEqual(
      newestFirst(regular.deposits).slice(0, length),
    )
  })

  it('begins with the newest when the offset is negative, and is empty past the end [ESC-11]', async () => {
    const newest = newestFirst(regular.deposits)
    expect(idsOf(await listed(regular.agent, '?limit=2&offset=-1'))).toEqual(newest.slice(0, 2))
    expect(idsOf(await listed(regular.agent, `?offset=${MANY - 2}`))).toEqual(newest.slice(-2))
    expect(await listed(regular.agent, `?offset=${MANY}`)).toEqual([])
  })

  it.each(['limit', 'offset'])('is refused when its %s is no integer [ESC-09, ESC-12]', async (name) => {
    for (const value of ['x', '1.5', '1e2', '9007199254740992']) {
      expect(await list(regular.agent, `?${name}=${value}`), value).toMatchObject({
        status: 400,
        body: { error: `invalid ${name}` },
      })
    }
  })
})

describe('a purchase by a wallet', () => {
  it('shows in the list of the agent that it is bound to, as bought by it [ESC-24, ESC-52]', async () => {
    const { market } = m
    const { walletBuyer } = market.accounts
    const deposit = await buy(m, walletBuyer, shop.sold)
    const agent = await registerIdentity(market, walletBuyer)
    await m.indexed()
    expect(await listed(agent)).toEqual([])
    await act(m, walletBuyer, 'bind', deposit, agent)
    await m.indexed()
    expect(await listed(agent)).toMatchObject([{ escrow_id: Number(deposit.escrowId), role: 'buyer' }])
  })

  it('bound to the agent that wrote the review is in its list once, in both roles [ESC-25]', async () => {
    const { market } = m
    const { reviewer, walletBuyer } = market.accounts
    const agentId = await registerIdentity(market, reviewer)
    const review = { agentId, product: shop.sold.product, content: generic(5, 'Mine'), proofId: 3n }
    const { reviewId } = await publishWithProof(market, reviewer, review)
    const deposit = await buy(m, walletBuyer, { ...shop.sold, reviewId, reviewerAgentId: agentId })
    const handOver = [reviewer.address, walletBuyer.address, agentId]
    await send(m, call(m, reviewer, 'IdentityRegistry', 'transferFrom', handOver))
    await act(m, walletBuyer, 'bind', deposit, agentId)
    await m.indexed()
    expect(await listed(agentId)).toMatchObject([
      { escrow_id: Number(deposit.escrowId), role: 'reviewer+buyer' },
    ])
  })
})

describe('the list and the chain', () => {
  it('have nothing to do with each other: no escrow is looked up there [ESC-18]', async () => {
    const { text } = await list(mixed.agent)
    m.nodes.answered.length = 0
    expect((await list(mixed.agent)).text).toBe(text)
    expect(m.nodes.answered.filter((request) => request.includes('eth_call'))).toEqual([])
    m.nodes.isDown = true
    try {
      expect(await list(mixed.agent)).toMatchObject({ status: 200, text })
    } finally {
      m.nodes.isDown = false
    }
  })

  it('differ on whether anybody may settle: the list never says so [ESC-20, ESC-34]', async () => {
    const { market } = m
    const { buyer } = market.accounts
    const buyerAgentId = await registerIdentity(market, buyer)
    const { escrowId } = await buy(m, buyer, { ...shop.sold, buyerAgentId })
    await travel(m, 71 * DAY)
    await m.indexed()
    const path = `/v1/escrow/${escrowId}/status?agent_id=${buyerAgentId}`
    expect((await m.call('GET', path, { as: buyer })).body.fallback_available).toBe(true)
    for (const agentId of [buyerAgentId, shop.reviewer]) {
      const [newest] = await listed(agentId)
      expect(newest).toMatchObject({ escrow_id: Number(escrowId), fallback_available: false })
    }
  })
})

describe('the reads of earnings, escrows and ranks', () => {
  it('answer anybody who signs, and all alike [ESC-54]', async () => {
    const { buyer, walletBuyer } = m.market.accounts
    const [deposit] = mixed.deposits
    for (const path of [
      `/v1/agent/${mixed.agent}/earnings`,
      `/v1/agent/${mixed.agent}/escrows`,
      `/v1/escrow/${deposit?.escrowId}/status?agent_id=${mixed.agent}`,
      `/v1/review-rank/${mixed.agent}`,
    ]) {
      const own = await m.call('GET', path, { as: buyer })
      expect(own.status, path).toBe(200)
      expect(await m.call('GET', path, { as: walletBuyer }), path).toMatchObject({
        status: 200,
        text: own.text,
      })
    }
  })
})
