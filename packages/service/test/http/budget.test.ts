// The remaining budget of a wallet. Programs read it before they spend, so a wrong answer costs money.
import {
  listProduct,
  mintUsdc,
  openMerchant,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must, sessionOf } from './caller.ts'
import { transfer } from './chain.ts'
import { buy, generic, newAgent, productOf, startTestMarket, type TestMarket } from './market.ts'

const PATH = '/v1/spending-limits/budget'

let m: TestMarket
let bought: Omit<Parameters<typeof buy>[2], 'buyerAgentId' | 'price'>

beforeAll(async () => {
  m = await startTestMarket()
  const { market } = m
  const { merchant, reviewer, buyer, walletBuyer, stranger } = market.accounts
  const product = { merchantId: await openMerchant(market, merchant), productId: productOf(1) }
  await listProduct(market, merchant, product)
  const reviewerAgentId = await registerIdentity(market, reviewer)
  const review = { agentId: reviewerAgentId, product, content: generic(5, 'Good'), proofId: 1n }
  const { reviewId } = await publishWithProof(market, reviewer, review)
  bought = { product, reviewId, reviewerAgentId }
  for (const { address } of [buyer, walletBuyer, stranger]) await mintUsdc(market, address, 1_000_000n)
  await m.indexed()
})
afterAll(() => m.close())

const budget = (as: LocalAccount) => m.call('GET', `${PATH}?chain_id=${m.chainId}`, { as })
const setCaps = (as: LocalAccount, caps: object) =>
  must(m.call('POST', '/v1/spending-limits', { as, body: { chain_id: m.chainId, ...caps } }))
const newest = async () => Number(await m.market.client.getBlockNumber())

async function spend(payer: LocalAccount, price: bigint, buyerAgentId?: bigint) {
  await buy(m, payer, { ...bought, price, ...(buyerAgentId !== undefined && { buyerAgentId }) })
  await m.indexed()
}

describe('GET /v1/spending-limits/budget', () => {
  it('tells a wallet without caps that nothing is enforced', async () => {
    const { status, body } = await budget(m.market.accounts.treasury)
    expect(status).toBe(200)
    expect(body).toEqual({
      chain_id: m.chainId,
      per_tx_cap_usdc: null,
      remaining_budget: null,
      budget_enforced: false,
      as_of_block: await newest(),
    })
  })

  it('counts what the wallet paid, with an agent and without, up to the block that it names', async () => {
    const { buyer } = m.market.accounts
    const agentId = await newAgent(m, buyer)
    await setCaps(buyer, { per_tx_cap_usdc: 400, daily_cap_usdc: 1_000, total_cap_usdc: 5_000 })
    await spend(buyer, 100n, agentId)
    const before = await newest()
    await spend(buyer, 30n)
    const { body } = await budget(buyer)
    expect(body).toEqual({
      chain_id: m.chainId,
      per_tx_cap_usdc: 400,
      remaining_budget: 870,
      budget_enforced: true,
      as_of_block: before + 1,
    })
    const token = await sessionOf(m.call, buyer)
    expect((await m.call('GET', `${PATH}?chain_id=${m.chainId}`, { token })).body).toEqual(body)
  })

  it('leaves the new owner of an agent what he had, and the one before what he spent', async () => {
    const { walletBuyer: giver, stranger: heir } = m.market.accounts
    const agentId = await newAgent(m, giver)
    for (const owner of [giver, heir]) await setCaps(owner, { total_cap_usdc: 1_000 })
    await spend(giver, 900n, agentId)
    await transfer(m, giver, heir.address, agentId)
    expect((await budget(heir)).body.remaining_budget).toBe(1_000)
    expect((await budget(giver)).body.remaining_budget).toBe(100)
    // From now on the agent's purchases count for its new owner.
    await spend(heir, 50n, agentId)
    expect((await budget(heir)).body.remaining_budget).toBe(950)
    expect((await budget(giver)).body.remaining_budget).toBe(100)
  })

  it('has nothing left, and not less, when more was spent than a cap allows', async () => {
    const { buyer } = m.market.accounts
    await setCaps(buyer, { total_cap_usdc: 1 })
    expect((await budget(buyer)).body).toMatchObject({ remaining_budget: 0, budget_enforced: true })
    await setCaps(buyer, { per_tx_cap_usdc: 0 })
    expect((await budget(buyer)).body).toMatchObject({
      per_tx_cap_usdc: 0,
      remaining_budget: null,
      budget_enforced: false,
    })
  })

  it.each(['market.spending_limits', 'market.spent', 'indexer.checkpoints'])(
    'fails without %s: what is unknown is not unlimited',
    async (table) => {
      const { status, body } = await m.withoutTable(table, () => budget(m.market.accounts.buyer))
      expect([status, body]).toEqual([500, { error: 'get failed' }])
    },
  )

  it('is for the wallet that signed, on a chain of this service', async () => {
    const asked = async (query: string, as?: LocalAccount) => {
      const { status, body } = await m.call('GET', `${PATH}${query}`, as && { as })
      return [status, body.error]
    }
    const { buyer } = m.market.accounts
    expect(await asked(`?chain_id=${m.chainId}`)).toEqual([401, 'unauthorized'])
    expect(await asked('', buyer)).toEqual([400, 'chain_id required'])
    expect(await asked('?chain_id=x', buyer)).toEqual([400, 'invalid chain_id'])
    expect(await asked('?chain_id=999999999', buyer)).toEqual([400, 'chain_id not configured'])
  })
})
