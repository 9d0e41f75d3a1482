// The answer of a poll: the intents that an agent's owner queued, and the remaining budget.
import {
  listProduct,
  mintUsdc,
  openMerchant,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { must } from '../http/caller.ts'
import { DAY, transfer, travel } from '../http/chain.ts'
import { buy, generic, newAgent, productOf, startTestMarket, type TestMarket } from '../http/market.ts'
import { connectMcp, type McpCaller } from './client.ts'
import { intentsOf, later, MARKED, PAYLOAD, POLL, SKIPPED_AS } from './intents.ts'
import { signedArgs } from './two-steps.ts'

const HOUR = 3_600
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

let m: TestMarket
let mcp: McpCaller
let owner: LocalAccount
let agentId: bigint
/** Wallets that have spent nothing yet. */
let unused: LocalAccount[]
let bought: Omit<Parameters<typeof buy>[2], 'buyerAgentId' | 'price'>

beforeAll(async () => {
  m = await startTestMarket()
  mcp = await connectMcp(m)
  const { market } = m
  const { merchant, reviewer, buyer, walletBuyer, stranger, guardian, treasury, admin } = market.accounts
  unused = [buyer, walletBuyer, stranger, guardian, treasury, admin]
  const product = { merchantId: await openMerchant(market, merchant), productId: productOf(1) }
  await listProduct(market, merchant, product)
  const reviewerAgentId = await registerIdentity(market, reviewer)
  const review = { agentId: reviewerAgentId, product, content: generic(5, 'Good'), proofId: 1n }
  const { reviewId } = await publishWithProof(market, reviewer, review)
  bought = { product, reviewId, reviewerAgentId }
  for (const { address } of unused) await mintUsdc(market, address, 1_000_000n)
})
afterAll(async () => {
  await mcp.close()
  await m.close()
})

const failure = (text: string) => ({ isError: true, text })

describe('get_pending_intents', () => {
  let its: ReturnType<typeof intentsOf>

  beforeEach(async () => {
    owner = m.market.accounts.reviewer
    its = intentsOf(m, mcp, owner)
    agentId = await newAgent(m, owner)
  })

  it('gives what the owner queued, oldest first and as it was queued [MCP-41, MCP-42, MCP-43, MCP-44, MCP-45, MCP-46, MCP-47, MCP-48, MCP-49, MCP-50, MCP-51, MCP-52, MCP-53, MCP-54]', async () => {
    const first = await its.queue(agentId)
    const second = await later(m, 1, () => its.queue(agentId))
    // Unusual JSON of another program: it is returned exactly as stored.
    const odd = '{"b":1.0,  "a":123456789012345678901234567890,"b":2}'
    await m.sql`UPDATE market.intents SET payload = ${odd} WHERE intent_id = ${second}`
    const { isError, text, structured } = await its.poll(agentId)
    expect(isError).toBe(false)
    expect(Object.keys(structured)).toEqual([
      'status',
      'intents',
      'remaining_budget',
      'per_tx_cap_usdc',
      'budget_enforced',
    ])
    expect(structured.status).toBe('ok')
    expect(structured.intents.map(({ intent_id }: { intent_id: string }) => intent_id)).toEqual([
      first,
      second,
    ])
    expect(structured.intents[0]).toEqual({
      intent_id: first,
      chain_id: m.chainId,
      agent_id: Number(agentId),
      type: 'buy_product',
      payload: JSON.parse(PAYLOAD),
      created_at: expect.stringMatching(RFC3339),
      expires_at: expect.stringMatching(RFC3339),
    })
    expect(text).toContain(`"payload":${PAYLOAD},`)
    expect(text).toContain(`"payload":${odd},`)
  })

  it('gives those of the named agent alone [MCP-105]', async () => {
    const other = await newAgent(m, owner)
    const ids = [await its.queue(agentId), await its.queue(other)]
    expect([await its.polledIds(agentId), await its.polledIds(other)]).toEqual(ids.map((id) => [id]))
  })

  it('gives the next owner nothing of the one before', async () => {
    const { treasury } = m.market.accounts
    const old = await its.queue(agentId)
    await transfer(m, owner, treasury.address, agentId)
    expect(await intentsOf(m, mcp, treasury).polledIds(agentId)).toEqual([])
    expect(await intentsOf(m, mcp, treasury).execute(agentId, old)).toMatchObject(MARKED(false))
  })

  it('gives none that has expired; what was bought in time and is told late is kept all the same [MCP-63]', async () => {
    const intentId = await its.queue(agentId, { expires_in: 600 })
    await later(m, 500, async () => expect(await its.polledIds(agentId)).toEqual([intentId]))
    await later(m, 601, async () => {
      expect(await its.polledIds(agentId)).toEqual([])
      expect(await its.skip(agentId, intentId)).toMatchObject(SKIPPED_AS(false))
      expect(await its.statusOf(agentId, intentId)).toMatchObject({ status: 'expired' })
      expect(await its.execute(agentId, intentId)).toMatchObject(MARKED(true))
      expect(await its.statusOf(agentId, intentId)).toMatchObject({ status: 'executed' })
      expect(await its.execute(agentId, intentId)).toMatchObject(MARKED(false))
    })
  })

  it('passes over one whose payload cannot be decoded [MCP-62]', async () => {
    const [broken, whole] = [await its.queue(agentId), await its.queue(agentId)]
    await m.sql`UPDATE market.intents SET payload = '{"ref_link":' WHERE intent_id = ${broken}`
    expect(await its.polledIds(agentId)).toEqual([whole])
  })

  it('gives a hundred at once', async () => {
    await m.sql`
      INSERT INTO market.intents (intent_id, chain_id, agent_id, owner, type, payload, created_at, expires_at)
      SELECT md5(${String(agentId)} || number), ${m.chainId}, ${agentId}, decode(${owner.address.slice(2)}, 'hex'), 'buy_product', '{}',
        now() + number * INTERVAL '1 second', now() + INTERVAL '1 hour'
      FROM generate_series(1, 101) AS number`
    const ids = await its.polledIds(agentId)
    const oldest = await m.sql<{ intent_id: string }[]>`
      SELECT intent_id FROM market.intents WHERE agent_id = ${agentId} ORDER BY created_at LIMIT 100`
    expect(ids).toEqual(oldest.map(({ intent_id }) => intent_id))
  })

  it('may be sent again within its hour, and not after [MCP-31]', async () => {
    const signed = await signedArgs(mcp, POLL, owner, { agent_id: Number(agentId) })
    for (const seconds of [0, 0, HOUR - 60]) {
      const { structured } = await later(m, seconds, () => mcp.call(POLL, signed))
      expect(structured.status).toBe('ok')
    }
    expect(await later(m, HOUR + 1, () => mcp.call(POLL, signed))).toMatchObject(
      failure('commitment expired'),
    )
  })

  it('says so when intents cannot be read [MCP-86]', async () => {
    const signed = await signedArgs(mcp, POLL, owner, { agent_id: Number(agentId) })
    await m.withoutTable('market.intents', async () => {
      expect(await mcp.call(POLL, signed)).toMatchObject(failure('get pending intents'))
    })
    expect((await mcp.call(POLL, signed)).isError).toBe(false)
  })
})

describe('the budget', () => {
  beforeAll(noonTomorrow)
  beforeEach(async () => {
    const next = unused.pop()
    if (!next) throw new Error('there is no owner left for the test')
    owner = next
    agentId = await newAgent(m, owner)
  })

  /** For the service and the chain alike, so that midnight does not fall into a test. */
  async function noonTomorrow(): Promise<void> {
    const now = Date.now() + m.clock.aheadMs
    const noon = (Math.floor(now / 1_000 / DAY) + 1.5) * DAY * 1_000
    m.clock.aheadMs += noon - now
    await travel(m, Math.floor((noon - now) / 1_000))
  }

  /** `price` is in base units; by default the owner's agent buys. Null: a wallet without an agent. */
  async function spend(
    price: bigint,
    { payer = owner, of = agentId }: { payer?: LocalAccount; of?: bigint | null } = {},
  ) {
    await buy(m, payer, { ...bought, price, ...(of !== null && { buyerAgentId: of }) })
    await m.indexed()
  }

  const setCaps = (caps: object, as = owner) =>
    must(m.call('POST', '/v1/spending-limits', { as, body: { chain_id: m.chainId, ...caps } }))

  async function budget(of = agentId, signer = owner) {
    const { structured } = await intentsOf(m, mcp, signer).poll(of)
    expect(structured.status).toBe('ok')
    return [structured.remaining_budget, structured.per_tx_cap_usdc, structured.budget_enforced]
  }

  it('is the least that the daily and the total cap leave [MCP-56, SPEND-02]', async () => {
    await setCaps({ daily_cap_usdc: 1_000, total_cap_usdc: 1_500 })
    expect(await budget()).toEqual([1_000, null, true])
    await spend(300n)
    expect(await budget()).toEqual([700, null, true])
    await noonTomorrow()
    // Yesterday's spending does not count today.
    expect(await budget()).toEqual([1_000, null, true])
    await spend(400n)
    expect(await budget()).toEqual([600, null, true])
    await noonTomorrow()
    expect(await budget()).toEqual([800, null, true])
    await setCaps({ daily_cap_usdc: 1_000 })
    expect(await budget()).toEqual([1_000, null, true])
    await setCaps({ total_cap_usdc: 1_000 })
    expect(await budget()).toEqual([300, null, true])
  })

  it('is nothing when more was spent, and holds no intent back [MCP-57, MCP-61]', async () => {
    const its = intentsOf(m, mcp, owner)
    const intentId = await its.queue(agentId)
    await spend(300n)
    await setCaps({ per_tx_cap_usdc: 0, daily_cap_usdc: 0, total_cap_usdc: 100 })
    expect(await budget()).toEqual([0, 0, true])
    expect(await its.polledIds(agentId)).toEqual([intentId])
    expect(await its.execute(agentId, intentId)).toMatchObject(MARKED(true))
  })

  it('is unknown without a cap for a day or in all, and the cap for one purchase stands beside it [MCP-58, MCP-59]', async () => {
    expect(await budget()).toEqual([null, null, false])
    await spend(300n)
    await setCaps({ per_tx_cap_usdc: 50 })
    expect(await budget()).toEqual([null, 50, false])
    await setCaps({ per_tx_cap_usdc: 50, daily_cap_usdc: 1_000 })
    expect(await budget()).toEqual([700, 50, true])
  })

  it('is unknown when it cannot be read, and the poll goes on [MCP-60]', async () => {
    await setCaps({ per_tx_cap_usdc: 50, daily_cap_usdc: 1_000 })
    for (const table of ['market.spending_limits', 'market.spent']) {
      await m.withoutTable(table, async () => expect(await budget()).toEqual([null, null, false]))
    }
    expect(await budget()).toEqual([1_000, 50, true])
  })

  it('counts what the wallet paid and what its agents bought, each purchase once [MCP-56]', async () => {
    const [other] = unused
    if (!other) throw new Error('there is nobody else')
    const [second, foreign] = [await newAgent(m, owner), await newAgent(m, other)]
    await setCaps({ daily_cap_usdc: 10_000, total_cap_usdc: 20_000 })
    await spend(1n)
    await spend(10n, { of: second })
    await spend(100n, { of: null })
    await spend(1_000n, { payer: other })
    await spend(5_000n, { payer: other, of: foreign })
    expect(await budget()).toEqual([10_000 - 1_111, null, true])
    await setCaps({ total_cap_usdc: 20_000 })
    expect(await budget()).toEqual([20_000 - 1_111, null, true])
    expect(await budget(second)).toEqual([20_000 - 1_111, null, true])
    // A purchase counts for the owner of the agent at that time, and for the wallet that paid.
    await transfer(m, owner, other.address, agentId)
    expect(await budget(second)).toEqual([20_000 - 1_111, null, true])
    await setCaps({ total_cap_usdc: 20_000 }, other)
    expect(await budget(agentId, other)).toEqual([20_000 - 6_000, null, true])
  })
})
