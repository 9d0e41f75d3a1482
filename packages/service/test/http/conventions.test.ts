import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/app/routes.ts'
import type { Answer } from './caller.ts'
import { type Example, exampleOf, pauseOf } from './examples.ts'
import { EXPECTED_ROUTES as all, type ExpectedRoute, ROUTES_OF_WEBHOOKS } from './expected-routes.ts'
import { startTradedMarket, type Traded } from './traded.ts'

let m: Traded

beforeAll(async () => {
  m = await startTradedMarket()
})
afterAll(() => m.close())

const ofChains = all.filter(([, { chain }]) => chain === 'query' || chain === 'required')
const reads = all.filter(([name]) => name.startsWith('GET '))

/** The request of the example, with more in its query. */
async function ask(name: string, query: Record<string, string> = {}, given?: Example): Promise<Answer> {
  const { path, ...rest } = given ?? (await exampleOf(m, name))
  m.clock.aheadMs += pauseOf(name)
  const [before = '', own = ''] = path.split('?')
  const merged = new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(own)), ...query })
  return m.call(name.split(' ')[0] ?? '', `${before}${merged.size > 0 ? `?${merged}` : ''}`, rest)
}

/** Every key of an answer with its value, at any depth, except inside the contents of reviewers and merchants. */
function* entriesOf(value: unknown): Generator<[string, unknown]> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) yield [key, inner]
    if (key !== 'content_json' && key !== 'proof_data') yield* entriesOf(inner)
  }
}

const isPage = ({ status, headers }: Answer) =>
  status === 302 || headers.get('content-type')?.startsWith('text/html')

const integersOf = ({ integers = {} }: ExpectedRoute) => Object.entries(integers)

describe('every route', () => {
  it('is one of those expected, which have a version but for a few, and all of those are served [VER-01 otherwise]', () => {
    const { config } = m.service.context
    const webhooks = config.webhookKeys.length > 0 ? ROUTES_OF_WEBHOOKS : []
    const served = routes
      .filter(({ isServed }) => isServed?.(config) ?? true)
      .map(({ method, path }) => `${method} ${path}`)
    expect(served.sort()).toEqual([...all.map(([name]) => name), ...webhooks].sort())
  })

  it.each(all)('%s answers under the base address [CONV-18]', async (name, { status = 200 }) => {
    const answer = await ask(name)
    expect(answer.status, answer.text).toBe(status)
  })

  it.each(all.filter(([, { auth }]) => auth === 'none'))(
    '%s needs no credentials [CONV-21]',
    async (name) => {
      const { path, body } = await exampleOf(m, name)
      expect((await m.call(name.split(' ')[0] ?? '', path, { body })).status).toBe(200)
    },
  )

  it.each(all.filter(([, { auth }]) => auth !== 'none'))('%s is refused unsigned [CONV-22]', async (name) => {
    const { path, body } = await exampleOf(m, name)
    expect(await m.call(name.split(' ')[0] ?? '', path, { body })).toMatchObject({
      status: 401,
      body: { error: 'unauthorized' },
    })
  })

  it.each(all.filter(([name]) => name.includes(' /v1/')))(
    '%s is not served without its version [VER-01 otherwise]',
    async (name) => {
      const { path, ...rest } = await exampleOf(m, name)
      const answer = await m.call(name.split(' ')[0] ?? '', path.replace('/v1/', '/'), rest)
      // Where the console is served, its pages may have this path.
      if (isPage(answer)) expect(isPage(await m.call('GET', '/'))).toBe(true)
      else expect(answer).toMatchObject({ status: 404, body: { error: 'not found' } })
    },
  )

  it('pushes nothing to callers but webhooks, where there are any: no stream is offered [ERR-03 otherwise]', async () => {
    const { body } = await m.call('GET', '/openapi.json')
    const { webhookKeys } = m.service.context.config
    expect((await m.call('POST', '/v1/webhooks')).status).toBe(webhookKeys.length > 0 ? 401 : 404)
    expect(JSON.stringify(body)).not.toMatch(/"callbacks"|text\/event-stream|websocket/i)
    for (const path of ['/v1/events', '/v1/stream', '/v1/subscribe', '/ws']) {
      expect((await m.call('GET', path)).status).toBe(404)
      expect((await m.call('POST', path)).status).toBe(404)
    }
  })
})

describe('chain_id', () => {
  it.each(reads.filter(([, { chain }]) => chain === 'query'))(
    '%s takes the first chain when none is named [CONV-01]',
    async (name) => {
      const example = await exampleOf(m, name)
      const { text } = await ask(name, {}, example)
      expect((await ask(name, { chain_id: String(m.chainId) }, example)).text).toBe(text)
    },
  )

  it('names the chain of the answer [CONV-01]', async () => {
    const second = String(m.chains[1]?.chain.chain.id)
    expect((await m.call('GET', '/v1/review')).body.total).toBeGreaterThan(0)
    expect((await m.call('GET', `/v1/review?chain_id=${second}`)).body.total).toBe(0)
    expect((await m.call('GET', '/v1/agent')).body.total).toBeGreaterThan(0)
    expect((await m.call('GET', `/v1/agent?chain_id=${second}`)).body.total).toBe(0)
  })

  it.each(ofChains)('%s refuses a chain that is not served [CONV-03]', async (name) => {
    expect(await ask(name, { chain_id: '999999999' })).toMatchObject({
      status: 400,
      body: { error: 'chain_id not configured' },
    })
  })

  it.each(all.filter(([, { chain }]) => chain === 'body'))(
    '%s refuses a chain in its body that is not served [CONV-03]',
    async (name) => {
      const example = await exampleOf(m, name)
      const answer = await ask(name, {}, { ...example, body: { ...example.body, chain_id: 999_999_999 } })
      expect(answer).toMatchObject({ status: 400, body: { error: 'chain_id not configured' } })
    },
  )

  it.each(ofChains)('%s refuses a chain that is no number [CONV-24]', async (name, { chain }) => {
    for (const given of ['abc', '', '1.5', '0x1', '99999999999999999999']) {
      const error = chain === 'required' && given === '' ? 'chain_id required' : 'invalid chain_id'
      expect(await ask(name, { chain_id: given })).toMatchObject({ status: 400, body: { error } })
    }
  })
})

describe('optional integers', () => {
  const withIntegers = reads.filter(([, { integers }]) => integers)

  it.each(withIntegers)('%s refuses one that is none [CONV-04]', async (name, route) => {
    for (const [key] of integersOf(route)) {
      for (const value of ['abc', '', '1.5', '1e2', ' 1', '99999999999999999999']) {
        const answer = await ask(name, { [key]: value })
        expect(answer, `${key}=${value}`).toMatchObject({ status: 400, body: { error: `invalid ${key}` } })
      }
    }
  })

  it.each(withIntegers)('%s takes the default for one that is absent [CONV-05]', async (name, route) => {
    const example = await exampleOf(m, name)
    const { text } = await ask(name, {}, example)
    for (const [key, value] of integersOf(route)) {
      expect((await ask(name, { [key]: String(value) }, example)).text).toBe(text)
    }
  })

  it.each(withIntegers)('%s fits one that is out of range [CONV-06]', async (name, route) => {
    for (const [key] of integersOf(route)) {
      for (const value of ['999999', '9007199254740991', '0', '-1', '-9007199254740991']) {
        const answer = await ask(name, { [key]: value })
        expect(answer.status, `${key}=${value}: ${answer.text}`).toBe(200)
      }
    }
  })
})

describe('product_id', () => {
  const digits = () => m.shop.product.productId.slice(2)
  const proofOf = (product: string) => ({
    agent_id: m.reviewerAgentId,
    merchant_id: m.shop.merchantId,
    product_id: product,
    proof_data: { receipt: product.length },
  })

  it('is the same product with and without its prefix [CONV-07, CONV-08]', async () => {
    for (const path of ['/v1/review', '/v1/merchant/product']) {
      const read = (product: string) =>
        m.call('GET', `${path}?merchant_id=${m.shop.merchantId}&product_id=${product}`)
      const prefixed = await read(`0x${digits()}`)
      expect(prefixed.status).toBe(200)
      expect((await read(digits())).text).toBe(prefixed.text)
      expect((await read(digits().toUpperCase())).text).toBe(prefixed.text)
    }
    const { reviewer, merchant } = m.market.accounts
    for (const product of [digits(), `0x${digits()}`]) {
      expect((await m.call('POST', '/v1/proof', { as: reviewer, body: proofOf(product) })).status).toBe(201)
      const { body } = await exampleOf(m, 'POST /v1/merchant/product')
      const described = await m.call('POST', '/v1/merchant/product', {
        as: merchant,
        body: { ...body, product_id: product },
      })
      expect(described).toMatchObject({ status: 200, body: { product_id: `0x${digits()}` } })
    }
  })

  it('is always prefixed and in lower case in answers [CONV-09]', async () => {
    let seen = 0
    for (const [name] of all) {
      for (const [key, value] of entriesOf((await ask(name)).body)) {
        const ids = key === 'product_id' ? [value] : key === 'product_ids' ? (value as unknown[]) : []
        for (const id of ids) expect(id, name).toMatch(/^0x[0-9a-f]{64}$/)
        seen += ids.length
      }
    }
    expect(seen).toBeGreaterThan(5)
  })

  it('is refused when it is not 32 bytes of hex [CONV-10]', async () => {
    const { reviewer, merchant } = m.market.accounts
    const { body: described } = await exampleOf(m, 'POST /v1/merchant/product')
    for (const product of [
      digits().slice(2),
      `${digits()}00`,
      'zz'.repeat(32),
      '0x',
      `0x${digits()}0`,
      '5',
    ]) {
      const query = `merchant_id=${m.shop.merchantId}&product_id=${product}`
      expect(await m.call('GET', `/v1/review?${query}`)).toMatchObject({
        status: 400,
        body: { error: 'invalid product_id: must be 32-byte hex' },
      })
      expect((await m.call('GET', `/v1/merchant/product?${query}`)).status).toBe(400)
      expect((await m.call('POST', '/v1/proof', { as: reviewer, body: proofOf(product) })).status).toBe(400)
      const body = { ...described, product_id: product }
      expect((await m.call('POST', '/v1/merchant/product', { as: merchant, body })).status).toBe(400)
    }
  })
})

describe('answers', () => {
  const AMOUNTS =
    /_usdc$|^(immediate|held_back_settled|held_back_pending|total_realized|total_potential|amount|total_earnings|commission_realized|commission_potential|cashback_total)$/
  const answers: [string, unknown][] = []

  beforeAll(async () => {
    for (const [name] of all) answers.push([name, (await ask(name)).body])
    const { reviewer } = m.market.accounts
    for (const part of ['context', 'earnings', 'escrows']) {
      answers.push([
        part,
        (await m.call('GET', `/v1/agent/${m.buyerAgentId}/${part}`, { as: reviewer })).body,
      ])
    }
  })

  function* found(wanted: (key: string) => boolean): Generator<[string, string, unknown]> {
    for (const [name, body] of answers) {
      for (const [key, value] of entriesOf(body)) if (wanted(key)) yield [name, key, value]
    }
  }

  it('give amounts as whole numbers of base units [CONV-11]', () => {
    const amounts = [...found((key) => AMOUNTS.test(key))]
    for (const [name, key, value] of amounts) {
      if (value !== null) expect(Number.isSafeInteger(value), `${key} of ${name} is ${value}`).toBe(true)
    }
    expect(amounts.filter(([, , value]) => Number(value) > 0).length).toBeGreaterThan(5)
    const pending = [...found((key) => key === 'escrow_pending')]
    for (const [, , legs] of pending)
      for (const leg of Object.values(legs as object)) expect(leg).toBeTypeOf('number')
    expect(pending.length).toBeGreaterThan(1)
  })

  it('give the balance of a wallet as a decimal string, alone of all amounts but those that a contract or x402 has so [CONV-12 otherwise]', () => {
    const balances = [...found((key) => key === 'usdc_wallet_balance')]
    expect(new Set(balances.map(([name]) => name))).toEqual(
      new Set(['GET /v1/agent/{id}/context', 'GET /v1/agent/{id}/earnings', 'context', 'earnings']),
    )
    for (const [, , value] of balances) expect(value).toMatch(/^\d+(\.\d+)?$/)
    const others = [...found((key) => /^(held_back|cashback)$/.test(key) || AMOUNTS.test(key))]
      .filter(([, , value]) => typeof value === 'string')
      .map(([name]) => name)
    expect(others).toContain('GET /v1/escrow/{id}/terms')
    for (const name of others) expect(name).toMatch(/^GET (\/v1\/escrow\/\{id\}\/terms|\/discovery\/\w+)$/)
  })

  it('name the token in the names of fields only [CONV-20]', () => {
    const keys = new Set([...found(() => true)].map(([, key]) => key))
    expect([...keys].filter((key) => /_usdc$/.test(key)).length).toBeGreaterThan(2)
    for (const key of keys) {
      if (/usdc/i.test(key) && key !== 'usdc_wallet_balance') expect(key).toMatch(/_usdc$/)
      expect(key).not.toMatch(/^(symbol|currency|token_symbol|token_address|asset|decimals)$/)
    }
  })

  it('give moments in UTC as RFC 3339 [CONV-17]', () => {
    // The terms of an escrow are the argument of a contract call, as the contract has it.
    const moments = [...found((key) => /_at$|^window_end$/.test(key))].filter(
      ([name]) => name !== 'GET /v1/escrow/{id}/terms',
    )
    for (const [name, key, value] of moments) {
      if (value === null) continue
      expect(value, `${key} of ${name}`).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
      expect(Number.isNaN(Date.parse(String(value)))).toBe(false)
    }
    expect(moments.length).toBeGreaterThan(8)
  })

  it('show no commission above the whole price [LIM-04]', () => {
    const shown = [...found((key) => key === 'commission_bps')].map(([, , value]) => Number(value))
    expect(Math.max(...shown)).toBe(10_000)
    expect(Math.min(...shown)).toBeGreaterThanOrEqual(0)
  })

  it('leave out what is said to be left out [CONV-13]', async () => {
    const { reviewer } = m.market.accounts
    const agents: Record<string, unknown>[] = (await m.call('GET', '/v1/agent')).body.agents
    const bare = agents.find((agent) => agent.agent_id === 0)
    for (const key of ['agent_uri', 'review_rank_repeat', 'review_rank_one_off'])
      expect(bare).not.toHaveProperty(key)
    expect(agents.find((agent) => agent.agent_id === m.reviewerAgentId)).toHaveProperty('agent_uri')
    const proof = await m.call('GET', `/v1/proof/${m.proofId}?agent_id=${m.reviewerAgentId}`, {
      as: reviewer,
    })
    expect(proof.body).toEqual({ status: 'pending' })
    const { body } = await m.call('GET', `/v1/agent/${m.reviewerAgentId}/escrows`, { as: reviewer })
    expect(body.escrows.length).toBeGreaterThan(0)
    for (const escrow of body.escrows) expect(escrow).not.toHaveProperty('state')
    const unknown = await m.call('GET', '/v1/agent/999999/context', { as: reviewer })
    expect(unknown.body.identity).toEqual({})
  })

  it('keep the key of what is said to be null [CONV-14]', async () => {
    const { reviewer } = m.market.accounts
    const review = (await m.call('GET', `/v1/review/${m.review.reviewId}`)).body
    expect(review).toHaveProperty('edited_at', null)
    const agent = (await m.call('GET', `/v1/agent/${m.reviewerAgentId}`)).body
    expect(agent).toHaveProperty('review_rank_repeat', null)
    expect(agent).toHaveProperty('review_rank_one_off', null)
    const rank = (await m.call('GET', `/v1/review-rank/${m.reviewerAgentId}`, { as: reviewer })).body
    expect(rank.repeat).toHaveProperty('rank', null)
    const limit = (await m.call('GET', `/v1/spending-limits?chain_id=${m.chainId}`, { as: reviewer })).body
    expect(limit).toHaveProperty('total_cap_usdc', null)
    const merchant = (await m.call('GET', `/v1/merchant/${m.shop.merchantId}`)).body
    expect(merchant).toHaveProperty('merchant_rank', null)
  })
})

describe('id 0', () => {
  it('is an agent like any other [CONV-15]', async () => {
    const { merchant, reviewer } = m.market.accounts
    const context = await m.call('GET', '/v1/agent/0/context', { as: reviewer })
    expect(context).toMatchObject({
      status: 200,
      body: { agent_id: 0, registered: true, identity: { owner_address: merchant.address } },
    })
    for (const path of [
      '/v1/agent/0/earnings',
      '/v1/agent/0/escrows',
      '/v1/agent/0/reviewable',
      '/v1/review-rank/0',
    ]) {
      expect((await m.call('GET', path, { as: reviewer })).status).toBe(200)
    }
    const body = { agent_id: 0, merchant_id: m.shop.merchantId, product_id: m.shop.product.productId }
    const proof = await m.call('POST', '/v1/proof', { as: merchant, body: { ...body, proof_data: { a: 0 } } })
    expect(proof.status).toBe(201)
    const read = await m.call('GET', `/v1/proof/${proof.body.proof_id}?agent_id=0`, { as: merchant })
    expect(read).toMatchObject({ status: 200, body: { status: 'pending' } })
  })

  it('is a merchant like any other [CONV-16]', async () => {
    const { reviewer } = m.market.accounts
    const { productId } = m.zero.product
    const reviews = await m.call('GET', `/v1/review?merchant_id=0&product_id=${productId}`)
    expect(reviews).toMatchObject({ status: 200, body: { merchant_id: 0, product_id: productId } })
    expect(reviews.body.reviews.length).toBeGreaterThan(0)
    const body = { agent_id: m.reviewerAgentId, merchant_id: 0, product_id: productId, proof_data: { a: 1 } }
    expect((await m.call('POST', '/v1/proof', { as: reviewer, body })).status).toBe(201)
  })
})

describe('owners', () => {
  it.each(['POST /v1/agent/register', 'POST /v1/proof', 'POST /v1/merchant/register'])(
    '%s is refused to who does not own the identity [CONV-23]',
    async (name) => {
      const { path, body } = await exampleOf(m, name)
      const { stranger } = m.market.accounts
      const answer = await m.call('POST', path, { as: stranger, body })
      expect(answer.status).toBe(403)
      expect(answer.body.error).toMatch(/^caller does not own this (agent|merchant)$/)
    },
  )
})
