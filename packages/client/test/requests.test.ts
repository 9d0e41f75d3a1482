// Requests to a whole service, by an account that signs them, by wallets, and by nobody.
import { createWalletClient, custom, type EIP1193Provider, type LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newAgent, SILENT_BOT, startTestMarket, type TestMarket } from '../../service/test/http/market.ts'
import { ROUTES } from '../src/generated/routes.ts'
import { ReferrerError } from '../src/index.ts'
import { clientOf, type TestClient, thrown } from './world.ts'

let m: TestMarket
let owner: LocalAccount
let agentId: number

beforeAll(async () => {
  m = await startTestMarket({ chainIds: [31_337, 31_338], env: SILENT_BOT })
  owner = m.market.accounts.reviewer
  agentId = Number(await newAgent(m, owner))
})
afterAll(() => m?.close())
afterEach(() => {
  m.clock.aheadMs = 0
})

const contextOf = (market: TestClient) =>
  market.get('/v1/agent/{id}/context', { params: { path: { id: agentId } } })
const capsOf = (market: TestClient) =>
  market.get('/v1/spending-limits', { params: { query: { chain_id: m.chainId } } })
const setCap = (market: TestClient, per_tx_cap_usdc: number) =>
  market.post('/v1/spending-limits', { body: { chain_id: m.chainId, per_tx_cap_usdc } })
const isSigned = ({ headers }: TestClient['asked'][number]) => 'x-agent-signature' in headers
const hasToken = ({ headers }: TestClient['asked'][number]) => 'authorization' in headers

describe('a client of nobody', () => {
  it('reads what is for everybody, and sends nothing to say who reads', async () => {
    const market = clientOf(m)
    const { agents } = await market.get('/v1/agent', { params: { query: { owner: owner.address } } })
    expect(agents.map(({ agent_id }) => agent_id)).toEqual([agentId])
    expect(await market.get('/skill.md')).toContain('# ')
    expect((await market.get('/.well-known/referrer-agent')).chains[0]?.chainId).toBe(m.chainId)
    expect(market.asked.filter((asked) => isSigned(asked) || hasToken(asked))).toEqual([])
  })

  it('says what is missing where somebody is asked for, and sends nothing', async () => {
    const market = clientOf(m)
    for (const work of [contextOf(market), setCap(market, 1), market.signIn()]) {
      expect(await thrown(work)).toMatchObject({
        name: 'ReferrerError',
        status: 0,
        detail: 'give createReferrerClient an account, a wallet or a session',
      })
    }
    expect(market.asked).toEqual([])
  })

  it('throws what the market said', async () => {
    const error = await thrown(clientOf(m).get('/v1/agent/{id}', { params: { path: { id: 4_040 } } }))
    expect(error).toBeInstanceOf(ReferrerError)
    expect(error).toMatchObject({ status: 404, reason: 'agent not found', route: 'GET /v1/agent/{id}' })
    expect(error.message).toBe('agent not found (404, GET /v1/agent/{id})')
  })

  it('names the chain that it is for, and another one where the request does', async () => {
    const market = clientOf(m, { chainId: 31_338 })
    await market.get('/v1/stats/mean-rank')
    await market.get('/v1/stats/mean-rank', { params: { query: { chain_id: 31_337 } } })
    await market.get('/v1/auth/nonce')
    expect(market.asked.map(({ path }) => path)).toEqual([
      '/v1/stats/mean-rank?chain_id=31338',
      '/v1/stats/mean-rank?chain_id=31337',
      '/v1/auth/nonce',
    ])
  })

  it('cannot be led to another route by what stands in a path', async () => {
    const market = clientOf(m)
    for (const given of ['..', '.', '', ['..'], { a: '..' }, null, undefined]) {
      const token = given as string
      await expect(market.get('/r/{token}', { params: { path: { token } } })).rejects.toThrow('cannot be')
    }
    await thrown(market.get('/r/{token}', { params: { path: { token: '../v1/agent?x#y' } } }))
    expect(market.asked.map(({ path }) => path)).toEqual(['/r/..%2Fv1%2Fagent%3Fx%23y'])
  })
})

describe('a client with an account', () => {
  it('signs what has to be signed: reads, bodies, and requests without a body', async () => {
    const market = clientOf(m, { account: owner })
    expect((await contextOf(market)).agent_id).toBe(agentId)
    expect((await setCap(market, 21)).per_tx_cap_usdc).toBe(21)
    expect(await market.post('/v1/messenger/link/status')).toEqual({ linked: false })
    const { intent_id } = await market.post('/v1/intents', {
      body: {
        chain_id: m.chainId,
        agent_id: agentId,
        type: 'buy_product',
        payload: { ref_link: 'https://market.test/r/abc', max_amount: '1000000', idempotency_key: 'one' },
      },
    })
    expect(await market.delete('/v1/intents/{id}', { params: { path: { id: intent_id } } })).toBeUndefined()
    // A signature covers neither method nor path nor host, so the body does.
    expect(JSON.parse(market.asked.at(-1)?.body ?? '')).toEqual({
      action: `DELETE /v1/intents/${intent_id}`,
      domain: 'market.test',
    })
    expect(market.asked.every(isSigned)).toBe(true)
    expect(market.asked.some(hasToken)).toBe(false)
  })

  it('never signs the same request twice with one timestamp, whichever client of the account sends it', async () => {
    const moment = Date.now()
    const options = { account: owner, now: () => moment, retries: 0 }
    const [market, another] = [clientOf(m, options), clientOf(m, options)]
    for (const client of [market, another, market, another]) {
      expect((await setCap(client, 22)).per_tx_cap_usdc).toBe(22)
    }
    // Each answer shows the cap of whichever was written last.
    await Promise.all([22, 22, 23].map((cap) => setCap(market, cap)))
    const present = Math.floor(moment / 1_000)
    const aheadOf = ({ headers }: TestClient['asked'][number]) =>
      Number(headers['x-agent-timestamp']) - present
    const inOrder = (one: number, other: number) => one - other
    expect(market.asked.map(aheadOf).toSorted(inOrder)).toEqual([0, 0, 2, 4, 5])
    expect(another.asked.map(aheadOf)).toEqual([1, 3])
  })

  it('signs reads with the present time, however many there are', async () => {
    const moment = Date.now()
    const market = clientOf(m, { account: owner, now: () => moment })
    await Promise.all([contextOf(market), contextOf(market)])
    expect(new Set(market.asked.map(({ headers }) => headers['x-agent-timestamp'])).size).toBe(1)
  })

  it('signs again when another process has signed the same in the same second', async () => {
    const moment = Date.now()
    const clientOfProcess = () => clientOf(m, { account: { ...owner }, now: () => moment })
    const clients = [clientOfProcess(), clientOfProcess(), clientOfProcess()]
    for (const client of clients) expect((await setCap(client, 24)).per_tx_cap_usdc).toBe(24)
    expect(clients.map(({ asked }) => asked.length)).toEqual([1, 2, 3])
  })

  it('waits rather than sign for a time that the market would refuse', async () => {
    let passed = 0
    const moment = Date.now() - (Date.now() % 1_000) + 900
    const now = () => moment + passed
    const market = clientOf(m, { account: owner, now, retries: 0 })
    const sent = Array.from({ length: 32 }, () => setCap(market, 25))
    await Promise.all(sent.slice(0, 31))
    expect(market.asked.length).toBe(31)
    passed = 100
    expect((await sent.at(-1))?.per_tx_cap_usdc).toBe(25)
  })

  it('says what the market has against its clock', async () => {
    const market = clientOf(m, { account: owner, now: () => Date.now() - 600_000 })
    expect(await thrown(contextOf(market))).toMatchObject({ status: 401, detail: 'timestamp out of range' })
    expect(market.asked.length).toBe(1)
  })

  it('opens a session by itself where a route takes nothing else', async () => {
    const market = clientOf(m, { account: m.market.accounts.admin })
    expect((await market.get('/admin/proofs')).proofs).toEqual([])
    const checklists = await market.put('/admin/checklists/{category}', {
      params: { path: { category: 'books' } },
      body: { items: ['Is it up to date?'] },
    })
    expect(checklists).toMatchObject({ category: 'books' })
    expect(market.asked.filter(({ path }) => path === '/v1/auth/session').length).toBe(1)
  })
})

describe('a client with a wallet', () => {
  /** The local chain holds the keys of its accounts, as a wallet does. Counts how often it is asked to sign. */
  function walletOf() {
    const signed: string[] = []
    const request = (call: { method: string; params?: unknown }) => {
      if (/sign/i.test(call.method)) signed.push(call.method)
      return m.market.client.request(call as Parameters<typeof m.market.client.request>[0])
    }
    return { provider: { request } as unknown as EIP1193Provider, signed }
  }

  it.each(['a client of viem', 'a provider'])('asks its person once, for a session: %s', async (kind) => {
    const { provider, signed } = walletOf()
    const { address } = m.market.accounts.buyer
    const wallet =
      kind === 'a provider'
        ? { provider, address }
        : createWalletClient({ account: address, transport: custom(provider) })
    const market = clientOf(m, { wallet })
    await Promise.all([contextOf(market), setCap(market, 31), contextOf(market)])
    expect((await capsOf(market)).per_tx_cap_usdc).toBe(31)
    expect(signed).toEqual(['personal_sign'])
    expect((await capsOf(clientOf(m, { account: m.market.accounts.buyer }))).per_tx_cap_usdc).toBe(31)
  })

  it('has to be connected, and to be the only signer', () => {
    const { provider } = walletOf()
    const wallet = createWalletClient({ transport: custom(provider) })
    expect(() => clientOf(m, { wallet })).toThrow('the wallet has no account: connect it first')
    const connected = createWalletClient({ account: owner.address, transport: custom(provider) })
    expect(() => clientOf(m, { wallet: connected, account: owner })).toThrow('not both')
  })
})

describe('every route of the document', () => {
  const routes = Object.entries(ROUTES).filter(([, { auth }]) => auth !== 'sign-in' && auth !== 'console')

  it.each(routes)('%s takes what the client shows of its caller', async (route, { auth }) => {
    const [method = '', path = ''] = route.split(' ')
    const market = clientOf(m, { account: m.market.accounts.admin, retries: 0 })
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const request = {
      params: {
        path: Object.fromEntries(names.map((name) => [name, 'none'])),
        query: { intent: 'anything', agent_id: agentId, chain_id: m.chainId },
      },
      ...(method === 'POST' || method === 'PUT' ? { body: { code: 'none' } } : {}),
    }
    const call = market[method.toLowerCase() as 'get'] as (path: string, request: object) => Promise<unknown>
    const status = await call(path, request).then(
      () => 200,
      (error: ReferrerError) => error.status,
    )
    // Refused for what it asks, not for who asks.
    expect([200, 400, 403, 404, 409, 500, 503]).toContain(status)
    const last = market.asked.at(-1)
    expect([last && isSigned(last), last && hasToken(last)]).toEqual([auth === 'caller', auth === 'session'])
  })
})

it('a stranger is refused by name, not by signature', async () => {
  const market = clientOf(m, { account: privateKeyToAccount(generatePrivateKey()) })
  const body = { agent_id: agentId, merchant_id: 1, product_id: `0x${'11'.repeat(32)}`, proof_data: { a: 1 } }
  expect(await thrown(market.post('/v1/proof', { body }))).toMatchObject({
    status: 403,
    reason: 'caller does not own this agent',
  })
})
