import { confirmed } from '@referrer/contracts/local'
import { addressRegistryAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import fc from 'fast-check'
import { getAddress, keccak256, stringToBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import {
  bodyOf,
  configOf,
  ENDPOINT,
  headerOf,
  PRICE,
  PRODUCT_ID,
  SETUP_URL,
  shopOf,
  startWorld,
  supporting,
  tokenFor,
  told,
  type World,
} from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

const ask = (headers: Record<string, string> = {}, method = 'GET') =>
  new Request(ENDPOINT, { method, headers })
const offered = async (headers: Record<string, string> = {}, shop = shopOf(world)) =>
  bodyOf(await shop.fetch(ask(headers)))
const readToken = (functionName: 'name' | 'version') =>
  world.local.client.readContract({ address: world.market.addresses.USDC, abi: sandboxUSDCAbi, functionName })

describe('the offer', () => {
  it('is the same 402 for GET and POST on one URL [REF-08, REF-09]', async () => {
    const shop = shopOf(world)
    const [get, post] = await Promise.all([shop.fetch(ask()), shop.fetch(ask({}, 'POST'))])
    expect([get.status, post.status]).toEqual([402, 402])
    expect(await bodyOf(get)).toEqual(await bodyOf(post))
  })

  it('has not a byte more than before extensions could be configured', async () => {
    const response = await shopOf(world).fetch(
      ask({ 'X-Referrer-Token': 'abc', 'X-Referrer-Buyer-Agent-Id': '7' }),
    )
    const { USDC, SplitRouter } = world.market.addresses
    const text = `{"x402Version":2,"resource":{"url":"${ENDPOINT}"},"accepts":[{"scheme":"exact","network":"eip155:${world.local.chain.id}","asset":"${USDC}","amount":"250000","payTo":"${SplitRouter}","maxTimeoutSeconds":60,"extra":{"name":"${await readToken('name')}","version":"${await readToken('version')}","authorizationType":"ReceiveWithAuthorization"}}],"extensions":{"attributionToken":"abc","buyerAgentId":"7","setup_url":"${SETUP_URL}"}}`
    expect(await response.text()).toBe(text)
    expect(response.headers.get('PAYMENT-REQUIRED')).toBe(Buffer.from(text).toString('base64'))
  })

  it('leaves out the extensions that its header has no room for, the least important first', async () => {
    const shop = shopOf(world, {
      product: { output: { example: { text: 'x'.repeat(3_300) } } },
      receipts: { format: 'eip712', signer: `0x${'11'.repeat(32)}` },
    })
    const namesAt = async (chars: number) => {
      const response = await shop.fetch(ask({ 'X-Referrer-Token': 'x'.repeat(chars) }))
      expect(response.headers.get('PAYMENT-REQUIRED')?.length).toBeLessThan(12_300)
      const { extensions } = headerOf(response, 'PAYMENT-REQUIRED') as { extensions: object }
      return Object.keys(extensions)
    }
    expect(await namesAt(800)).toEqual(['attributionToken', 'setup_url', 'offer-receipt', 'bazaar'])
    expect(await namesAt(4_096)).toEqual(['attributionToken', 'setup_url', 'offer-receipt'])
  })

  it('holds what the chain says and what the configuration says, and nothing else [REF-10, REF-11, REF-12, REF-13, REF-14, REF-15, REF-16, REF-17, REF-18, REF-19, REF-23, VER-02]', async () => {
    const token = await tokenFor(world)
    expect(await offered({ 'X-Referrer-Token': token })).toEqual({
      x402Version: 2,
      resource: { url: ENDPOINT },
      accepts: [
        {
          scheme: 'exact',
          network: `eip155:${world.local.chain.id}`,
          asset: world.market.addresses.USDC,
          amount: '250000',
          payTo: world.market.addresses.SplitRouter,
          maxTimeoutSeconds: 60,
          extra: {
            name: await readToken('name'),
            version: await readToken('version'),
            authorizationType: 'ReceiveWithAuthorization',
          },
        },
      ],
      extensions: { attributionToken: token, setup_url: SETUP_URL },
    })
  })

  it('stands in the header PAYMENT-REQUIRED too, as padded base64, and is not for caches', async () => {
    const response = await shopOf(world).fetch(
      ask({ 'X-Referrer-Token': 'abc', 'X-Referrer-Buyer-Agent-Id': '7' }),
    )
    expect(response.headers.get('PAYMENT-REQUIRED')).toMatch(
      /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
    )
    expect(headerOf(response, 'PAYMENT-REQUIRED')).toEqual(await bodyOf(response))
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.has('PAYMENT-RESPONSE')).toBe(false)
  })

  it('echoes the token as it came, and an empty one when none came [REF-20]', async () => {
    for (const token of ['referrer-readiness-probe', await tokenFor(world), 'a b', 'x'.repeat(4096)]) {
      expect(await offered({ 'X-Referrer-Token': token })).toMatchObject({
        extensions: { attributionToken: token },
      })
    }
    expect(await offered()).toMatchObject({ extensions: { attributionToken: '' } })
  })

  it('echoes the buying agent as a string, however odd [REF-21]', async () => {
    for (const id of ['7', '007', '-1', 'seven', '']) {
      expect(await offered({ 'X-Referrer-Buyer-Agent-Id': id })).toMatchObject({
        extensions: { buyerAgentId: id },
      })
    }
  })

  it('names no buying agent when none was sent [REF-22]', async () => {
    const { extensions } = await offered({ 'X-Referrer-Token': 'abc' })
    expect(extensions).not.toHaveProperty('buyerAgentId')
  })

  it('names the product where the link leads to another one', async () => {
    const other = await tokenFor(world, { productId: `0x${'b2'.repeat(32)}` })
    const extraFor = async (token: string, shop = shopOf(world)) => {
      const { accepts } = await offered({ 'X-Referrer-Token': token }, shop)
      return (accepts as { extra: object }[])[0]?.extra
    }
    expect(await extraFor(other)).toHaveProperty('productId', PRODUCT_ID)
    for (const token of [await tokenFor(world), 'no token', '']) {
      expect(await extraFor(token)).not.toHaveProperty('productId')
    }
    expect(await extraFor(other, shopOf(world, { product: {} }))).not.toHaveProperty('productId')
  })

  it('describes the product and names the URL that buyers see', async () => {
    const product = { description: 'Ein Witz – täglich', mimeType: 'application/json' }
    const shop = shopOf(world, { product, publicUrl: 'https://shop.example/jokes' })
    const response = await shop.fetch(new Request('http://10.0.0.7:3000/x?topic=cats'))
    const resource = { url: 'https://shop.example/jokes?topic=cats', ...product }
    expect(headerOf(response, 'PAYMENT-REQUIRED')).toMatchObject({ resource })
  })

  it('leaves a query out that would not fit into a header', async () => {
    const response = await shopOf(world).fetch(new Request(`${ENDPOINT}?q=${'x'.repeat(9_000)}`))
    expect(await bodyOf(response)).toMatchObject({ resource: { url: ENDPOINT } })
    expect(response.headers.get('PAYMENT-REQUIRED')?.length).toBeLessThan(2_000)
  })
})

describe('the price', () => {
  const amountOf = async (price: Parameters<typeof shopOf>[1]) => {
    const { accepts } = await offered({}, shopOf(world, price))
    return (accepts as { amount: string }[])[0]?.amount
  }

  it('is taken in base units, in USDC, or from a function of the request', async () => {
    expect(await amountOf({ price: 1n })).toBe('1')
    expect(await amountOf({ price: '0.10' })).toBe('100000')
    expect(await amountOf({ price: async ({ url }) => (url === ENDPOINT ? '2' : '3') })).toBe('2000000')
  })

  it('may be read from a body that serve still gets', async () => {
    const shop = shopOf(world, { price: async (request) => BigInt((await request.json()).pages) })
    const request = new Request(ENDPOINT, { method: 'POST', body: '{"pages":12}' })
    expect(await bodyOf(await shop.fetch(request))).toMatchObject({ accepts: [{ amount: '12' }] })
    expect(await request.json()).toEqual({ pages: 12 })
  })

  it('may answer by itself before anybody pays', async () => {
    const shop = shopOf(world, { price: () => Response.json({ error: 'no such item' }, { status: 404 }) })
    expect((await shop.fetch(ask())).status).toBe(404)
  })

  it('answers 500 and tells the merchant where it cannot be told', async () => {
    for (const price of [
      () => Promise.reject(new Error('down')),
      () => 'ten',
      () => 0n,
      () => -1n,
      () => JSON.parse('null'),
    ]) {
      const shop = shopOf(world, { price })
      const response = await shop.fetch(ask())
      expect(response.status).toBe(500)
      expect(await bodyOf(response)).toEqual({ error: 'the price could not be told; nothing was charged' })
      expect(shop.events).toMatchObject([{ type: 'price_failed' }])
    }
  })
})

describe('the market', () => {
  const setRouter = async (address: `0x${string}`) => {
    const hash = await world.local.client.writeContract({
      account: world.market.accounts.admin,
      address: world.market.addresses.AddressRegistry,
      abi: addressRegistryAbi,
      functionName: 'setAddress',
      args: [keccak256(stringToBytes('SPLIT_ROUTER')), address],
    })
    await confirmed(world.market, hash)
  }
  /** Counts what is asked of the nodes, and lets a test break them. */
  const nodes = () => {
    const state = { calls: 0, isDown: false }
    const viaState: typeof fetch = async (...request) => {
      state.calls += 1
      if (state.isDown) throw new Error('the node is down')
      return fetch(...request)
    }
    return Object.assign(state, { fetch: viaState })
  }

  it('is read from the address registry, so that the router is never hardcoded [REF-32]', async () => {
    const { SplitRouter } = world.market.addresses
    // Another contract of the same code, so that whatever is read of it is there.
    const { client } = world.local
    const code = await client.getCode({ address: SplitRouter })
    const replaced = getAddress('0x00000000000000000000000000000000000000a7')
    await client.setCode({ address: replaced, bytecode: code ?? '0x' })
    try {
      await setRouter(replaced)
      expect(await offered()).toMatchObject({ accepts: [{ payTo: replaced }] })
    } finally {
      await setRouter(SplitRouter)
    }
    expect(await offered()).toMatchObject({ accepts: [{ payTo: SplitRouter }] })
  })

  it('is read once, by however many ask at once, and kept', async () => {
    const counted = nodes()
    const shop = shopOf(world, { fetch: counted.fetch })
    await Promise.all(Array.from({ length: 10 }, () => shop.fetch(ask())))
    const { calls } = counted
    expect(calls).toBeGreaterThan(0)
    await shop.fetch(ask())
    expect(counted.calls).toBe(calls)
    const alone = nodes()
    await shopOf(world, { fetch: alone.fetch }).fetch(ask())
    expect(calls).toBe(alone.calls)
  })

  it('answers 503 while it cannot be read, and 402 as soon as it can', async () => {
    const counted = nodes()
    counted.isDown = true
    const shop = shopOf(world, { fetch: counted.fetch })
    const response = await shop.fetch(ask())
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(await bodyOf(response)).toEqual(
      told('the market cannot be read right now; try again', 'settle_failed'),
    )
    expect(shop.events).toMatchObject([{ type: 'market_unavailable' }])
    await expect(shop.ready()).rejects.toThrow()
    counted.isDown = false
    expect((await shop.fetch(ask())).status).toBe(402)
    await shop.ready()
  })

  it('is read again when it has got old, and keeps the old answer while that fails', async () => {
    const { SplitRouter } = world.market.addresses
    const replaced = getAddress('0x00000000000000000000000000000000000000a8')
    const { client } = world.local
    await client.setCode({
      address: replaced,
      bytecode: (await client.getCode({ address: SplitRouter })) ?? '0x',
    })
    const counted = nodes()
    let now = Date.now()
    const shop = shopOf(world, { fetch: counted.fetch, now: () => now, refreshMs: 1_000 })
    const payTo = async () => ((await offered({}, shop)).accepts as { payTo: string }[])[0]?.payTo
    expect(await payTo()).toBe(SplitRouter)
    await setRouter(replaced)
    try {
      now += 999
      expect(await payTo()).toBe(SplitRouter)
      counted.isDown = true
      now += 1
      expect(await payTo()).toBe(SplitRouter)
      await expect.poll(() => shop.events).toMatchObject([{ type: 'market_unavailable' }])
      counted.isDown = false
      await expect.poll(payTo).toBe(replaced)
    } finally {
      await setRouter(SplitRouter)
    }
  })

  it('is not read from a node of another chain', async () => {
    const shop = shopOf(world, { chainId: 8453 })
    await expect(shop.ready()).rejects.toThrow(`rpcUrl serves chain ${world.local.chain.id}, not 8453`)
    expect((await shop.fetch(ask())).status).toBe(503)
  })

  it('is read from the next node when one does not answer', async () => {
    const shop = shopOf(world, { rpcUrl: ['http://127.0.0.1:3', configOf(world).rpcUrl as string] })
    expect((await shop.fetch(ask())).status).toBe(402)
  })
})

describe('strange requests', () => {
  it('with other methods get 405', async () => {
    for (const method of ['HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await shopOf(world).fetch(ask({}, method))
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST'])
    }
  })

  it('with headers too long or not printable get 400', async () => {
    for (const headers of [
      { 'X-Referrer-Token': 'x'.repeat(4097) },
      { 'X-Referrer-Token': 'tökén' },
      { 'X-Referrer-Buyer-Agent-Id': '7'.repeat(257) },
      { 'X-Referrer-Buyer-Agent-Id': '7\u0080' },
    ]) {
      const response = await shopOf(world).fetch(ask(headers))
      expect(response.status).toBe(400)
      expect(await bodyOf(response)).toHaveProperty('error')
    }
  })

  test('whatever the headers, the answer is 402 or 400', async () => {
    const shop = shopOf(world)
    const value = fc.oneof(
      fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)) }),
      fc.base64String(),
      fc.integer({ min: 0, max: 6_000 }).map((length) => 'e'.repeat(length)),
    )
    await fc.assert(
      fc.asyncProperty(value, value, async (token, agent) => {
        const headers = { 'X-Referrer-Token': token, 'X-Referrer-Buyer-Agent-Id': agent }
        const sent = new Headers(headers)
        const response = await shop.fetch(ask(headers))
        expect([400, 402]).toContain(response.status)
        if (response.status === 402) {
          expect((await bodyOf(response)).extensions).toMatchObject({
            attributionToken: sent.get('X-Referrer-Token'),
            buyerAgentId: sent.get('X-Referrer-Buyer-Agent-Id'),
          })
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('an endpoint', () => {
  it('is not ready with a price below the least amount that the facilitator settles', async () => {
    const readyWith = (extra?: object) => {
      world.facilitator.supports(supporting(extra))
      return shopOf(world).ready()
    }
    try {
      await readyWith()
      await readyWith({ leastAmount: String(PRICE) })
      await expect(readyWith({ leastAmount: String(PRICE + 1n) })).rejects.toThrow(
        'the price 0.25 USDC is below the least amount 0.250001 USDC that the facilitator settles: raise it',
      )
    } finally {
      world.facilitator.supports(supporting())
    }
  })

  it('makes no offer below the least amount once it is ready, where the price depends on the request', async () => {
    world.facilitator.supports(supporting({ leastAmount: '1000' }))
    const shop = shopOf(world, { price: ({ url }) => (url.endsWith('?cheap') ? 999n : 1_000n) })
    try {
      await shop.ready()
      expect((await shop.fetch(ask())).status).toBe(402)
      expect((await shop.fetch(new Request(`${ENDPOINT}?cheap`))).status).toBe(500)
      expect(shop.events).toMatchObject([{ type: 'price_failed' }])
      expect(String((shop.events[0] as { error: unknown }).error)).toContain('least amount 0.001 USDC')
    } finally {
      world.facilitator.supports(supporting())
    }
  })

  it('is not ready when the facilitator settles elsewhere, or does not answer', async () => {
    try {
      world.facilitator.supports({ kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:1' }] })
      await expect(shopOf(world).ready()).rejects.toThrow('does not settle on eip155:31337')
    } finally {
      world.facilitator.supports(supporting())
    }
    const nobody = shopOf(world, { facilitatorUrl: 'http://127.0.0.1:3' })
    await expect(nobody.ready()).rejects.toThrow('check facilitatorUrl')
  })
})
