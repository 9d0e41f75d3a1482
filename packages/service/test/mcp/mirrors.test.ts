// Tools that answer the same as a route: both are called in the same market, which has at least one record of every
// kind.
import { registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Ask, must } from '../http/caller.ts'
import { exampleOf } from '../http/examples.ts'
import { newAgent } from '../http/market.ts'
import { startTradedMarket } from '../http/traded.ts'
import { type CheckedCaller, connectChecked } from './checked.ts'
import { MIRRORS, proofOf, REFUSED, type World } from './mirrored.ts'

let m: World
let mcp: CheckedCaller

beforeAll(async () => {
  const traded = await startTradedMarket()
  const { ref_link: refLink } = await must(traded.call('GET', `/v1/review/${traded.review.reviewId}`))
  const { body } = await exampleOf(traded, 'POST /v1/merchant/product/readiness')
  m = { ...traded, refLink, endpoint: String(body?.resource) }
  // This makes its listings.
  await exampleOf(m, 'GET /v1/discover')
  mcp = await connectChecked(m)
})
/** The rate limits of tools use this clock. */
beforeEach(() => {
  m.clock.aheadMs += 1_000
})
afterAll(async () => {
  await mcp.close()
  await m.close()
})

const ask = (path: string, body?: object) => {
  const signed: Ask = { as: m.market.accounts.reviewer, ...(body && { body }) }
  return m.call(body ? 'POST' : 'GET', path, signed)
}

/** The interface's rule for each of these tools. */
const RULES: Record<string, string> = {
  get_agent_context: 'MCP-93',
  get_reviewable_products: 'MCP-94',
  get_earnings: 'MCP-95',
  list_escrows: 'MCP-96',
  get_escrow_status: 'MCP-97',
  get_review_rank: 'MCP-98',
  get_proof_status: 'MCP-91',
}
const titled = MIRRORS.map(([title, tool, ...rest]) => {
  const rule = RULES[tool]
  return [rule ? `${title} [${rule}]` : title, tool, ...rest] as const
})

describe('a tool answers as its route does', () => {
  it.each(titled)('with %s', async (_title, tool, args, route, shows) => {
    const { untrusted_text: _, ...answer } = await mcp.ok(tool, args(m))
    const { status, body } = await ask(...route(m))
    expect(status).toBe(200)
    expect(answer).toEqual(body)
    expect(answer).toMatchObject(shows)
  })

  it('a proof is that of its own agent: to others it does not exist [PROOF-49]', async () => {
    const { structured } = await mcp.call('submit_proof', proofOf(m))
    const { proof_id } = structured
    expect(await mcp.ok('get_proof_status', { agent_id: m.reviewerAgentId, proof_id })).toEqual({
      status: 'pending',
    })
    expect(await mcp.call('get_proof_status', { agent_id: m.buyerAgentId, proof_id })).toMatchObject({
      isError: true,
      text: `proof with proof_id ${proof_id} not found: not found`,
    })
  })

  it('a proof of an agent that nobody has registered on the chain is refused [PROOF-47]', async () => {
    expect(await mcp.call('submit_proof', proofOf(m, { agent_id: 99_999_999 }))).toMatchObject({
      isError: true,
      text: 'agent 99999999 not found on-chain',
    })
  })

  it('of proofs that the owner did not sign an agent has ten at most, and an admin sees that it did not', async () => {
    const proof = proofOf(m, { agent_id: m.buyerAgentId })
    const answers = []
    for (let count = 0; count < 11; count += 1) {
      m.clock.aheadMs += 1_000
      answers.push((await mcp.call('submit_proof', proof)).text)
    }
    expect(answers.slice(0, 10).every((text) => text.includes('"status":"pending"'))).toBe(true)
    expect(answers[10]).toMatch(/^agent \d+ has 10 pending proofs that its owner did not sign; .*: conflict$/)
    await must(m.call('POST', '/v1/proof', { as: m.market.accounts.buyer, body: proof }))
    const { body } = await m.call('GET', '/admin/proofs?limit=20', { token: m.tokens.admin })
    const ofBuyer = body.proofs.filter((one: { agent_id: number }) => one.agent_id === m.buyerAgentId)
    expect(ofBuyer.filter((one: { by_owner: boolean }) => !one.by_owner)).toHaveLength(10)
    expect(ofBuyer.filter((one: { by_owner: boolean }) => one.by_owner).length).toBeGreaterThan(0)
  })

  it('once an admin has decided on a proof too [MCP-91]', async () => {
    const { path } = await exampleOf(m, 'POST /admin/proofs/{id}/approve')
    await must(m.call('POST', path, { token: m.tokens.admin }))
    const proof_id = Number(path.split('/')[3])
    const answer = await mcp.ok('get_proof_status', { agent_id: m.reviewerAgentId, proof_id })
    expect(answer).toEqual({ status: 'approved', reviewed_at: expect.any(String) })
    expect(answer).toEqual((await ask(`/v1/proof/${proof_id}?agent_id=${m.reviewerAgentId}`)).body)
  })

  it('with what the contract wants to be told of an escrow', async () => {
    const terms = await mcp.ok('get_escrow_terms', { escrow_id: m.escrowId })
    expect(terms).toMatchObject({
      contract: m.market.addresses.CommissionEscrow,
      payer: m.market.accounts.buyer.address,
      escrow_id: String(m.escrowId),
      buyer_agent_id: String(m.buyerAgentId),
    })
    expect((await ask(`/v1/escrow/${m.escrowId}/terms`)).body).toEqual(terms)
  })

  it('when it makes an agent known, once', async () => {
    const { buyer } = m.market.accounts
    const agent_id = Number(await registerIdentity(m.market, buyer))
    expect(await mcp.ok('register_agent', { agent_id })).toEqual({ agent_id, owner_address: buyer.address })
    expect(await mcp.refusal('register_agent', { agent_id })).toBe('agent already registered')
    const again = await m.call('POST', '/v1/agent/register', { as: buyer, body: { agent_id } })
    expect(again).toMatchObject({ status: 409, body: { error: 'agent already registered' } })
  })
})

describe('a tool refuses what its route refuses', () => {
  it.each(REFUSED)('%s', async (title, tool, args, route, status, routeText) => {
    const text = title.replace(/ \[.*/, '')
    expect(await mcp.refusal(tool, args(m))).toBe(text)
    expect(await ask(...route(m))).toMatchObject({ status, body: { error: routeText ?? text } })
  })

  it("another agent's proof, as if there were none [PROOF-49]", async () => {
    const args = { agent_id: m.buyerAgentId, proof_id: m.proofId }
    const text = `proof with proof_id ${m.proofId} not found: not found`
    expect(await mcp.refusal('get_proof_status', args)).toBe(text)
  })
})

describe('what models send', () => {
  it('may have null for whatever is left out', async () => {
    const args = { agent_id: m.reviewerAgentId, limit: null, offset: null, chain_id: null }
    expect(await mcp.ok('list_escrows', args)).toEqual(
      await mcp.ok('list_escrows', { agent_id: m.reviewerAgentId }),
    )
    expect(await mcp.refusal('list_escrows', { agent_id: null })).toBe('agent_id is required: invalid input')
  })

  it('may have an empty category for none', async () => {
    const args = { agent_id: m.buyerAgentId }
    expect(await mcp.ok('get_reviewable_products', { ...args, category: '' })).toEqual(
      await mcp.ok('get_reviewable_products', args),
    )
  })

  it('may have numbers and flags as text', async () => {
    const args = { agent_id: String(m.buyerAgentId), needs_review: 'true', limit: '1', chain_id: '31337' }
    expect(await mcp.ok('get_reviewable_products', args)).toEqual(
      await mcp.ok('get_reviewable_products', { agent_id: m.buyerAgentId, needs_review: true, limit: 1 }),
    )
  })

  it('may have fields that nobody reads', async () => {
    const agent = { agent_id: m.reviewerAgentId }
    const told = await mcp.ok('get_review_rank', { ...agent, because: 'I was told to' })
    expect(told).toEqual(await mcp.ok('get_review_rank', agent))
  })

  it.each([
    ['a fraction', 1.5],
    ['more than a double can hold', Number.MAX_SAFE_INTEGER + 1],
    ['more than a double can hold, as text', '9007199254740993'],
    ['words', 'seven'],
    ['hex', '0x7'],
    ['true', true],
    ['a list', [7]],
    ['an object', { id: 7 }],
  ])('is refused where an id is %s', async (_, agent_id) => {
    expect(await mcp.refusal('get_review_rank', { agent_id })).toBe('invalid agent_id: invalid input')
  })

  it('is refused where an id is missing, and says which', async () => {
    expect(await mcp.refusal('get_escrow_status', { agent_id: 1 })).toBe(
      'escrow_id is required: invalid input',
    )
  })

  it.each([
    ['submit_proof', '-1', -1],
    ['submit_proof', '-1 as text', '-1'],
    ['get_proof_status', '-1', -1],
  ])('is refused by %s where the agent is %s [PROOF-46]', async (tool, _, agent_id) => {
    const args = proofOf(m, { agent_id, proof_id: m.proofId })
    expect(await mcp.refusal(tool, args)).toBe('agent_id must not be negative: invalid input')
  })
})

describe('submit_proof', () => {
  const stored = async () => Number((await m.sql`SELECT count(*) AS count FROM market.proofs`)[0]?.count)

  it('takes a proof from anybody, where the route wants the owner [MCP-90, PROOF-03]', async () => {
    const { stranger } = m.market.accounts
    const refused = await m.call('POST', '/v1/proof', { as: stranger, body: proofOf(m) })
    expect(refused).toMatchObject({ status: 403, body: { error: 'caller does not own this agent' } })
    const before = await stored()
    const answer = await mcp.ok('submit_proof', proofOf(m))
    expect(answer).toEqual({ proof_id: expect.any(Number), status: 'pending' })
    expect(Object.keys(answer)).toEqual(Object.keys((await ask('/v1/proof', proofOf(m))).body))
    expect(await stored()).toBe(before + 2)
    const path = `/v1/proof/${answer.proof_id}?agent_id=${m.reviewerAgentId}`
    expect((await ask(path)).body).toEqual({ status: 'pending' })
  })

  it('registers an agent that was not registered [PROOF-52]', async () => {
    const agent_id = Number(await newAgent(m, m.market.accounts.stranger))
    const read = () => m.call('GET', `/v1/agent/${agent_id}`)
    // As if the indexer had not seen the agent.
    await m.sql`DELETE FROM market.agents WHERE agent_id = ${agent_id}`
    expect((await read()).status).toBe(404)
    await mcp.ok('submit_proof', proofOf(m, { agent_id }))
    expect(await read()).toMatchObject({ status: 200, body: { agent_id } })
  })

  it('says that the chain could not be read, keeps nothing, and works again [PROOF-48]', async () => {
    const before = await stored()
    m.nodes.isDown = true
    try {
      const text = `agent ${m.reviewerAgentId}: resolve owner on-chain`
      expect(await mcp.refusal('submit_proof', proofOf(m))).toBe(text)
    } finally {
      m.nodes.isDown = false
    }
    expect(await stored()).toBe(before)
    await mcp.ok('submit_proof', proofOf(m))
  })
})
