// Both sides are stock mppx, and neither has our library: its server has the credential settled at /mpp/charge.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mintUsdc, SANDBOX_TOKEN } from '@referrer/contracts/local'
import { X402 } from '@referrer/protocol'
import { Credential, Receipt } from 'mppx'
import { evm as buying, Mppx as Client } from 'mppx/client'
import { Mppx as Shop, evm as selling } from 'mppx/server'
import type { Hash } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBooks } from '../../facilitator/test/abuse/books.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../../facilitator/test/harness.ts'

let m: TestFacilitator
let server: Server
let url: string

beforeAll(async () => {
  m = await startTestFacilitator({ keepsTime: true })
  await mintUsdc(m.market, m.market.accounts.buyer.address, 10n * PRICE)
  server = createServer(async (incoming, outgoing) => {
    const headers = new Headers(incoming.headers as Record<string, string>)
    const response = await sell(new Request(`http://shop.test${incoming.url}`, { headers }))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/buy`
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await m?.close()
})

async function sell(request: Request): Promise<Response> {
  const shop = Shop.create({
    realm: 'shop.test',
    secretKey: 'a secret of thirty-two characters',
    methods: [
      selling({
        currency: m.till.usdc,
        recipient: m.till.router,
        chainId: m.chainId,
        decimals: 6,
        authorization: SANDBOX_TOKEN,
        async settle({ credential }) {
          const { link } = X402.decodeHeader(credential.challenge.opaque) as { link: string }
          const { body } = await m.call('POST', '/mpp/charge', {
            body: {
              attributionToken: link,
              chainId: m.chainId,
              amount: String(PRICE),
              credential: Credential.serialize(credential),
            },
          })
          if (!body.success) throw new Error(body.errorMessage)
          return { reference: body.transaction }
        },
      }),
    ],
  })
  const link = request.headers.get('X-Referrer-Token') ?? ''
  const answer = await shop.charge({ amount: '1', meta: { link } })(request)
  return answer.status === 402 ? answer.challenge : answer.withReceipt(Response.json({ joke: 'a good one' }))
}

it('stock mppx sells to stock mppx through a ref link, split and escrowed', async () => {
  const { buyer } = m.market.accounts
  const books = await openBooks(m)
  const { fetch: pay } = Client.create({
    methods: [
      buying({
        account: buyer,
        networks: [m.chainId],
        currencies: [m.till.usdc],
        authorization: SANDBOX_TOKEN,
      }),
    ],
    polyfill: false,
  })
  const response = await pay(url, { headers: { 'X-Referrer-Token': m.till.attributionToken } })
  expect(response.status).toBe(200)
  const { reference } = Receipt.fromResponse(response)
  const [escrow] = await m.escrowsIn(reference as Hash)
  expect(escrow).toMatchObject({ payer: buyer.address, price: PRICE, reviewId: m.reviewer.reviewId })
  await books.audit()
})
