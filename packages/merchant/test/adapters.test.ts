// Each framework as its users run it, on a real port.
import { once } from 'node:events'
import { createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expressHandler } from '../src/express.ts'
import { fastifyReferral } from '../src/fastify.ts'
import { honoHandler } from '../src/hono.ts'
import type { ReferralConfig, ReferralEndpoint } from '../src/index.ts'
import { nextHandlers } from '../src/next.ts'
import { nodeHandler } from '../src/node.ts'
import {
  bodyOf,
  headerOf,
  PRICE,
  pay,
  settledBy,
  shopOf,
  startWorld,
  TRANSACTION,
  type World,
} from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
// Hono's server replaces them in the whole process, as it does in a merchant's.
const { Request, Response } = globalThis
afterAll(async () => {
  Object.assign(globalThis, { Request, Response })
  await world?.close()
})
beforeEach(() => world.facilitator.says(settledBy()))

type Running = { url: string; close(): Promise<unknown> }
type Mount = (endpoint: ReferralEndpoint) => Promise<Running>

async function listening(server: ServerType | ReturnType<typeof createServer>): Promise<Running> {
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/shop/buy`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
const onNode = (listener: RequestListener) => listening(createServer(listener).listen(0, '127.0.0.1'))
const onHono = (app: { fetch(request: Request): Response | Promise<Response> }) =>
  listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }))

const MOUNTS: Record<string, Mount> = {
  'node:http': (endpoint) => onNode(nodeHandler(endpoint)),
  'bare fetch': (endpoint) => onHono(endpoint),
  Hono: (endpoint) => onHono(new Hono().on(['GET', 'POST'], '/shop/buy', honoHandler(endpoint))),
  Express: (endpoint) =>
    onNode(express().use('/shop', express.Router().all('/buy', expressHandler(endpoint)))),
  'Express with express.json': (endpoint) =>
    onNode(express().use(express.json()).all('/shop/buy', expressHandler(endpoint))),
  Fastify: async (endpoint) => {
    const app = fastify()
    await app.register(fastifyReferral, { prefix: '/shop', url: '/buy', endpoint })
    app.post('/other', async ({ body }) => body)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { ...(await listening(app.server)), close: () => app.close() }
  },
  // As Next calls the exports of a route file: by the method's name, with a web request.
  Next: (endpoint) => {
    const route: Record<string, (request: Request) => Promise<Response>> = nextHandlers(endpoint)
    return onHono({ fetch: (asked) => route[asked.method]?.(asked) ?? new Response(null, { status: 405 }) })
  },
}

async function running(mount: Mount, changes: Partial<ReferralConfig>, run: (url: string) => Promise<void>) {
  const { url, close } = await mount(shopOf(world, changes))
  try {
    await run(url)
  } finally {
    await close()
  }
}

describe.each(Object.entries(MOUNTS))('on %s', (_name, mount) => {
  it('GET and POST get the offer, with the URL that was asked for [REF-08]', () =>
    running(mount, {}, async (url) => {
      for (const [method, body] of [
        ['GET', undefined],
        ['POST', undefined],
        ['POST', '{"topic":"cats"}'],
      ] as const) {
        const response = await fetch(`${url}?a=1`, {
          method,
          headers: { 'X-Referrer-Token': 'abc', 'content-type': 'application/json' },
          ...(body && { body }),
        })
        expect(response.status).toBe(402)
        const offer = await bodyOf(response)
        expect(offer).toMatchObject({
          resource: { url: `${url}?a=1` },
          accepts: [{ amount: String(PRICE) }],
          extensions: { attributionToken: 'abc' },
        })
        expect(headerOf(response, 'PAYMENT-REQUIRED')).toEqual(offer)
      }
    }))

  it('a payment is served, and serve gets the body that was sent [REF-25, REF-30]', () =>
    running(mount, { serve: (asked) => asked.json() }, async (url) => {
      const { header } = await pay(world)
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'PAYMENT-SIGNATURE': header, 'content-type': 'application/json' },
        body: '{"topic":"cats","n":[1,2]}',
      })
      expect(response.status).toBe(200)
      expect(await bodyOf(response)).toEqual({ topic: 'cats', n: [1, 2], transaction: TRANSACTION })
      expect(headerOf(response, 'PAYMENT-RESPONSE')).toMatchObject({
        success: true,
        transaction: TRANSACTION,
      })
    }))

  it('a response of serve arrives with its status, its headers and its stream', () =>
    running(
      mount,
      {
        serve: () => {
          const headers = new Headers({ 'content-type': 'text/plain' })
          headers.append('set-cookie', 'a=1')
          headers.append('set-cookie', 'b=2')
          return new Response(new Blob(['x'.repeat(100_000), 'end']).stream(), { status: 203, headers })
        },
      },
      async (url) => {
        const { header } = await pay(world)
        const response = await fetch(url, { headers: { 'PAYMENT-SIGNATURE': header } })
        expect(response.status).toBe(203)
        expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
        expect(await response.text()).toBe(`${'x'.repeat(100_000)}end`)
      },
    ))

  it('a buyer that hangs up while its payment is settled is served when it comes again', async () => {
    const served: string[] = []
    const serve: ReferralConfig['serve'] = (_request, { id }) => {
      served.push(id)
      return {}
    }
    const reached = Promise.withResolvers<void>()
    const noticed = Promise.withResolvers<void>()
    const watched: Mount = (endpoint) =>
      mount({
        ...endpoint,
        fetch(asked) {
          asked.signal.addEventListener('abort', () => noticed.resolve())
          return endpoint.fetch(asked)
        },
      })
    await running(watched, { serve }, async (url) => {
      world.facilitator.says(async (asked) => {
        reached.resolve()
        await noticed.promise
        return settledBy()(asked)
      })
      const headers = { 'PAYMENT-SIGNATURE': (await pay(world)).header }
      const gone = new AbortController()
      const first = fetch(url, { headers, signal: gone.signal })
      await reached.promise
      gone.abort()
      await expect(first).rejects.toThrow()
      await expect.poll(async () => (await fetch(url, { headers })).status).toBe(200)
      expect(served).toHaveLength(1)
    })
  })
})

describe('on Express', () => {
  const bodies: [string, ReturnType<typeof express.json>, string, string, unknown][] = [
    ['express.raw', express.raw({ type: '*/*' }), 'text/csv', 'a,b', 'a,b'],
    ['express.text', express.text(), 'text/plain', 'hello', 'hello'],
    [
      'express.urlencoded',
      express.urlencoded(),
      'application/x-www-form-urlencoded',
      'a=1&b=2',
      '{"a":"1","b":"2"}',
    ],
    ['a parser of other types', express.json(), 'text/plain', 'hello', 'hello'],
    ['a body that no parser has kept', express.json(), 'application/json', '', ''],
  ]
  it.each(bodies)('serve gets the body after %s', (_name, parser, type, body, expected) => {
    const serve: ReferralConfig['serve'] = (asked) => asked.text()
    const mount: Mount = (endpoint) =>
      onNode(express().use(parser).all('/shop/buy', expressHandler(endpoint)))
    return running(mount, { serve }, async (url) => {
      const { header } = await pay(world)
      const headers = { 'PAYMENT-SIGNATURE': header, 'content-type': type }
      const response = await fetch(url, { method: 'POST', headers, body })
      expect(await bodyOf(response)).toEqual({ result: expected, transaction: TRANSACTION })
    })
  })
})

describe('on Fastify', () => {
  it('the rest of the application parses bodies as before', () =>
    running(MOUNTS.Fastify as Mount, {}, async (url) => {
      const response = await fetch(new URL('/other', url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"a":1}',
      })
      expect(await response.json()).toEqual({ a: 1 })
    }))
})

describe('on node:http', () => {
  const raw = (url: string, options: { path?: string; method?: string; host?: string }) =>
    new Promise<number>((resolve, reject) => {
      const { hostname, port } = new URL(url)
      const { path = '/shop/buy', method = 'GET', host = 'shop.test' } = options
      request({ hostname, port, path, method, headers: { host } }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
        .on('error', reject)
        .end()
    })

  it('a request line or a host that is no URL gets 400, and the whole address in the request line is taken', () =>
    running(MOUNTS['node:http'] as Mount, {}, async (url) => {
      expect(await raw(url, { path: '*' })).toBe(400)
      expect(await raw(url, { host: 'a b' })).toBe(400)
      expect(await raw(url, { path: 'http://shop.test/buy' })).toBe(402)
      expect(await raw(url, { path: '//elsewhere/buy' })).toBe(402)
      expect(await raw(url, { method: 'DELETE' })).toBe(405)
    }))
})
