// What is sold in the marketplace, told by the facilitator.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { lintDocument, operationsOf } from '@referrer/process/openapi/testing'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { withBazaar } from '@x402/extensions/bazaar'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { send } from './asking.ts'
import { startTestFacilitator, type TestFacilitator } from './harness.ts'

const LISTED = {
  x402Version: 2,
  items: [{ resource: 'https://shop.test/buy', type: 'http', x402Version: 2, accepts: [], lastUpdated: '' }],
  pagination: { limit: 20, offset: 0, total: 1 },
}
const FOUND = {
  x402Version: 2,
  resources: LISTED.items,
  partialResults: false,
  pagination: { limit: 1, cursor: null },
}

const start = Date.now()
let m: TestFacilitator
let marketplace: Server
let marketUrl: string
const asked: IncomingMessage[] = []
let answer: (request: IncomingMessage, response: ServerResponse) => void

beforeAll(async () => {
  marketplace = createServer((request, response) => {
    asked.push(request)
    answer(request, response)
  }).listen(0, '127.0.0.1')
  await once(marketplace, 'listening')
  marketUrl = `http://127.0.0.1:${(marketplace.address() as AddressInfo).port}`
  m = await startTestFacilitator({
    env: { MARKET_URL: marketUrl, TRUSTED_PROXIES: '127.0.0.1' },
    // What is kept for seconds is forgotten when a test says so, and no answer of ours comes too late on a busy machine.
    overrides: {
      clock: () => start + (m?.clock.aheadMs ?? 0),
      fetch: (input, init) => fetch(input, { ...init, signal: null }),
    },
  })
})
afterAll(async () => {
  await m?.close()
  marketplace.closeAllConnections()
  marketplace.close()
})
beforeEach(() => {
  asked.length = 0
  // Whatever was told before is forgotten by then.
  m.clock.aheadMs += 6_000
  answer = ({ url = '' }, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(url.startsWith('/discovery/search') ? FOUND : LISTED))
})

const list = (query = '') => m.call('GET', `/discovery/resources${query}`)

describe('the catalogue', () => {
  it('is read by the official client, with all that it can ask for', async () => {
    const { extensions } = withBazaar(new HTTPFacilitatorClient({ url: m.facilitator.url }))
    const filters = { type: 'http', payTo: '0x1', scheme: 'exact', network: 'eip155:1', extensions: 'bazaar' }
    expect(await extensions.bazaar.listResources()).toEqual(LISTED)
    expect(await extensions.bazaar.listResources({ ...filters, limit: 5, offset: 10 })).toEqual(LISTED)
    expect(await extensions.bazaar.search({ query: 'rain & sun' })).toEqual(FOUND)
    expect(await extensions.bazaar.search({ query: 'a', ...filters, limit: 5, cursor: '5' })).toEqual(FOUND)
    const questions = asked.map(({ url }) => {
      const { pathname, searchParams } = new URL(url ?? '', marketUrl)
      return [pathname, Object.fromEntries(searchParams)]
    })
    expect(questions).toEqual([
      ['/discovery/resources', {}],
      ['/discovery/resources', { ...filters, limit: '5', offset: '10' }],
      ['/discovery/search', { query: 'rain & sun' }],
      ['/discovery/search', { query: 'a', ...filters, limit: '5', cursor: '5' }],
    ])
  })

  it('is announced by what is supported, where there is a marketplace to ask', async () => {
    expect((await m.call('GET', '/supported')).body.extensions).toEqual([
      'attributionToken',
      'buyerAgentId',
      'bazaar',
    ])
    const alone = await m.startAnother({ MARKET_URL: '' })
    try {
      expect((await send(alone.url, 'GET', '/supported')).body.extensions).not.toContain('bazaar')
      expect((await send(alone.url, 'GET', '/discovery/resources')).status).toBe(404)
      expect((await send(alone.url, 'GET', '/openapi.json')).body.paths).not.toHaveProperty(
        '/discovery/search',
      )
    } finally {
      await alone.stop()
    }
  })

  it('is asked for once in a few seconds, whoever asks and in whatever order of fields', async () => {
    await Promise.all([list('?limit=1&type=http'), list('?type=http&limit=1')])
    await list('?limit=1&type=http&unknown=1')
    expect(asked).toHaveLength(1)
    m.clock.aheadMs += 6_000
    await list('?limit=1&type=http')
    expect(asked).toHaveLength(2)
  })

  it('is asked for in the name of who asks', async () => {
    await m.call('GET', '/discovery/resources', { headers: { 'x-forwarded-for': '10.1.2.3' } })
    expect(asked[0]?.headers['x-forwarded-for']).toBe('10.1.2.3')
  })

  it('is described as it is answered', async () => {
    const { body: document } = await m.call('GET', '/openapi.json')
    expect(await lintDocument(document)).toEqual([])
    for (const [path, query] of [
      ['/discovery/resources', ''],
      ['/discovery/search', '?query=x'],
    ]) {
      const operation = operationsOf(document).find(({ name }) => name === `GET ${path}`)
      const { status, headers, text } = await m.call('GET', `${path}${query}`)
      expect(status).toBe(200)
      expect(operation?.violation({ status, headers: Object.fromEntries(headers), text })).toBeUndefined()
    }
  })

  it('refuses what the marketplace refuses, in its words, and what cannot be asked', async () => {
    answer = (_request, response) => response.writeHead(400).end('{"error":"invalid limit"}')
    expect(await list('?limit=x')).toMatchObject({ status: 400, body: { error: 'invalid limit' } })
    expect(await list('?limit=1&limit=2')).toMatchObject({ status: 400, body: { error: 'invalid limit' } })
    expect(await m.call('GET', '/discovery/search')).toMatchObject({
      status: 400,
      body: { error: 'invalid query' },
    })
    expect(asked).toHaveLength(1)
  })
})

describe('a marketplace that cannot be asked', () => {
  const away = { status: 503, body: { error: 'the marketplace cannot be asked right now' } }

  it.each<[string, typeof answer]>([
    ['is dead', ({ socket }) => socket.destroy()],
    ['fails', (_request, response) => response.writeHead(500).end('{}')],
    ['has no such route', (_request, response) => response.writeHead(404).end('{}')],
    ['sends without end', (_request, response) => response.writeHead(200).end(Buffer.alloc(5 * 1024 * 1024))],
    ['refuses in words of its own', (_request, response) => response.writeHead(400).end('<html>')],
  ])('because it %s gives 503 with a time to wait, and payments go on', async (_what, now) => {
    answer = now
    const refused = await list()
    expect(refused).toMatchObject(away)
    expect(refused.headers.get('retry-after')).toBe('1')
    const [buyer] = m.buyers
    if (!buyer) throw new Error('nobody buys')
    expect((await m.verify(await m.payload(buyer))).body).toMatchObject({ isValid: true })
  })

  it('is not asked the same thing again within a second', async () => {
    answer = ({ socket }) => socket.destroy()
    await list()
    await list()
    expect(asked).toHaveLength(1)
    m.clock.aheadMs += 1_500
    await list()
    expect(asked).toHaveLength(2)
  })

  it.each([
    ['7', '7'],
    ['9999999', '60'],
    ['soon', '1'],
  ])('because it limits us for %s seconds is asked later', async (told, seconds) => {
    answer = (_request, response) => response.writeHead(429, { 'retry-after': told }).end()
    const refused = await list()
    expect(refused).toMatchObject(away)
    expect(refused.headers.get('retry-after')).toBe(seconds)
  })

  it('by one client because it limits that one answers the others, those who wait for the same answer too', async () => {
    const listAs = (client: string) =>
      m.call('GET', '/discovery/resources', { headers: { 'x-forwarded-for': client } })
    const limited: ServerResponse[] = []
    const isAsked = Promise.withResolvers<void>()
    const usual = answer
    answer = (request, response) => {
      if (request.headers['x-forwarded-for'] !== '10.0.0.1') return usual(request, response)
      limited.push(response.writeHead(429, { 'retry-after': '7' }))
      isAsked.resolve()
    }
    const first = listAs('10.0.0.1')
    await isAsked.promise
    const waiting = listAs('10.0.0.2')
    // Its request is on its way through our door: one that comes after it has come through.
    await m.call('GET', '/healthz')
    for (const response of limited) response.end()
    expect(await first).toMatchObject(away)
    expect(await waiting).toMatchObject({ status: 200, body: LISTED })
    expect(await listAs('10.0.0.3')).toMatchObject({ status: 200, body: LISTED })
    expect(asked.map(({ headers }) => headers['x-forwarded-for'])).toEqual(['10.0.0.1', '10.0.0.2'])
  })

  it('because it is silent holds no more than a few requests', async () => {
    const hanging: ServerResponse[] = []
    const all = Promise.withResolvers<void>()
    answer = (_request, response) => {
      hanging.push(response)
      if (hanging.length === 16) all.resolve()
    }
    const waiting = Array.from({ length: 16 }, (_, offset) => list(`?offset=${offset}`))
    await all.promise
    expect(await list('?offset=99')).toMatchObject(away)
    expect(asked).toHaveLength(16)
    for (const response of hanging) response.end(JSON.stringify(LISTED))
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200)
  })
})
