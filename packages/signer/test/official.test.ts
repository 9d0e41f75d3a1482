// Buys from servers on the official x402 middleware: stock ones, which have never heard of ref links, and ones that were told to echo them.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import { type HTTPAdapter, HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server'
import type { ResourceServerExtension } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/server'
import { paymentMiddleware as expressMiddleware } from '@x402/express'
import {
  createEIP712OfferReceiptIssuer,
  createOfferReceiptExtension,
  declareOfferReceiptExtension,
  verifyReceiptSignatureEIP712,
} from '@x402/extensions/offer-receipt'
import { paymentMiddleware as honoMiddleware } from '@x402/hono'
import express from 'express'
import { Hono } from 'hono'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keyHash, openJournal } from '../src/purchase/journal.ts'
import { MAIN, startSigner, type TestSigner } from './signer.ts'
import { PRICE, startWorld, type World } from './world.ts'

let w: World
let signer: TestSigner
const servers: Server[] = []
/** What the shops were asked, newest last. */
const asked: IncomingMessage[] = []

beforeAll(async () => {
  w = await startWorld(9)
  signer = await startSigner(w.env, { program: fileURLToPath(MAIN) })
})
afterAll(async () => {
  await signer?.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
  await w?.close()
})
beforeEach(() => {
  asked.length = 0
})

/** The terms of sale, as any seller would put them; the token's address in lower case, as it may be anywhere. */
function routesOf(extensions?: Record<string, object>) {
  const { usdc, router: payTo, token: extra, chainId } = w.m.till
  const price = { asset: usdc.toLowerCase(), amount: String(PRICE), extra }
  const network = `eip155:${chainId}` as const
  return {
    'GET /thing': {
      accepts: { scheme: 'exact', network, payTo, price, maxTimeoutSeconds: 60 },
      description: 'A thing',
      ...(extensions && { extensions }),
    },
  }
}

const serverOf = () =>
  new x402ResourceServer(new HTTPFacilitatorClient({ url: w.m.facilitator.url })).register(
    `eip155:${w.m.chainId}`,
    new ExactEvmScheme(),
  )

/** Sends back what came in a header of the same request, and knows nothing of earlier ones. */
const echo = (key: string, header: string): ResourceServerExtension => ({
  key,
  enrichDeclaration: (_declaration, context) =>
    (context as { adapter: HTTPAdapter }).adapter.getHeader(header) ?? '',
})

const FRAMEWORKS: [
  string,
  (routes: ReturnType<typeof routesOf>, server: x402ResourceServer) => RequestListener,
][] = [
  [
    'Hono',
    (routes, server) => {
      const app = new Hono()
      app.use(honoMiddleware(routes, server))
      app.get('/thing', (c) => c.json({ thing: 1 }))
      return getRequestListener(app.fetch, { overrideGlobalObjects: false })
    },
  ],
  [
    'Express',
    (routes, server) => {
      const app = express()
      app.use(expressMiddleware(routes, server))
      app.get('/thing', (_request, response) => void response.json({ thing: 1 }))
      return app
    },
  ],
]

async function open(listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    asked.push(request)
    listener(request, response)
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return w.link({ merchantEndpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/thing` })
}

async function expectBought(ref_link: string, idempotency_key?: string) {
  const wallet = w.next()
  const paid = await signer.must('pay_for_product', {
    ref_link,
    agent_id: wallet.agentId,
    ...(idempotency_key && { idempotency_key }),
  })
  expect(JSON.parse(paid.resource.body)).toEqual({ thing: 1 })
  const [escrow] = await w.m.escrowsIn(paid.tx_hash)
  expect(escrow).toMatchObject({
    reviewerAgentId: w.m.reviewer.agentId,
    reviewId: w.m.reviewer.reviewId,
    buyerAgentId: BigInt(wallet.agentId),
    payer: wallet.account.address,
    price: PRICE,
  })
  // The tenth of a commission of a fifth that the link promises.
  expect(escrow?.cashback).toBe(PRICE / 50n)
  expect(await w.spent(wallet)).toBe(PRICE)
  return { paid, wallet }
}

describe.each(FRAMEWORKS)('a server on the official middleware for %s', (_, frameworkOf) => {
  it('sells as it is: its offer is in the header, and the payment brings the link along', async () => {
    await expectBought(await open(frameworkOf(routesOf(), serverOf())))
    expect(asked.map(({ headers }) => headers['payment-signature'] !== undefined)).toEqual([false, true])
    expect(asked[1]?.headers).not.toHaveProperty('x-referrer-token')
  })

  it('that misses the echo gets the same payment once more, with the headers [REF-37 otherwise]', async () => {
    const server = serverOf()
      .registerExtension(echo('attributionToken', 'x-referrer-token'))
      .registerExtension(echo('buyerAgentId', 'x-referrer-buyer-agent-id'))
    const routes = routesOf({ attributionToken: {}, buyerAgentId: {} })
    await expectBought(await open(frameworkOf(routes, server)))
    const [, refused, taken, ...more] = asked
    expect(more).toEqual([])
    expect(refused?.headers).not.toHaveProperty('x-referrer-token')
    expect(taken?.headers['payment-signature']).toBe(refused?.headers['payment-signature'])
    expect(taken?.headers).toMatchObject({
      'x-referrer-token': expect.any(String),
      'x-referrer-buyer-agent-id': expect.any(String),
      'x-referrer-attribution-salt': expect.any(String),
    })
  })

  it('signs a receipt, which the answer has and the journal keeps', async () => {
    const { merchant } = w.m.market.accounts
    const sign: Parameters<typeof createEIP712OfferReceiptIssuer>[1] = (typed) =>
      merchant.signTypedData(typed as Parameters<typeof merchant.signTypedData>[0])
    const issuer = createEIP712OfferReceiptIssuer(`did:pkh:eip155:1:${merchant.address}`, sign)
    const server = serverOf().registerExtension(createOfferReceiptExtension(issuer))
    const routes = routesOf(declareOfferReceiptExtension() as Record<string, object>)
    const { paid, wallet } = await expectBought(await open(frameworkOf(routes, server)), 'kept')
    const { signer: signedBy, payload } = await verifyReceiptSignatureEIP712(paid.receipt)
    expect(signedBy).toBe(merchant.address)
    expect(payload).toMatchObject({
      payer: wallet.account.address,
      resourceUrl: expect.stringMatching(/\/thing$/),
    })
    const journal = openJournal(signer.stateDir, w.m.chainId, wallet.account.address)
    expect((await journal.findByKey(keyHash('kept')))?.outcome).toMatchObject({ receipt: paid.receipt })
  })

  it('is quoted where it refuses for good', async () => {
    const wallet = w.next()
    const server = serverOf().onBeforeVerify(async () => ({ abort: true, reason: 'not_today' }))
    const ref_link = await open(frameworkOf(routesOf(), server))
    expect(await signer.refusal('pay_for_product', { ref_link, agent_id: wallet.agentId })).toMatch(
      /^phase 2: expected 200, got 402 \(the shop says "not_today"\)\. Nothing has been paid so far/,
    )
    expect(await w.spent(wallet)).toBe(0n)
  })
})
