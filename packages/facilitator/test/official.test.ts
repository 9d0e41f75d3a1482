// Sellers and buyers that have never heard of us: official middleware and client, with our facilitator in between.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme as ClientScheme } from '@x402/evm/exact/client'
import { ExactEvmScheme as ServerScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'

let m: TestFacilitator
let buyer: LocalAccount
let shop: Server
let shopUrl: string

beforeAll(async () => {
  m = await startTestFacilitator()
  buyer = await m.newBuyer()
  const network = `eip155:${m.chainId}` as const
  const { usdc: asset, router: payTo, token: extra, attributionToken } = m.till
  const facilitator = new HTTPFacilitatorClient({ url: m.facilitator.url })
  const server = new x402ResourceServer(facilitator).register(network, new ServerScheme())
  const price = { asset, amount: String(PRICE), extra }
  const app = express()
  app.use(
    paymentMiddleware(
      {
        'GET /thing': {
          accepts: { scheme: 'exact', network, payTo, price, maxTimeoutSeconds: 3_600 },
          description: 'A thing',
          extensions: { attributionToken } as unknown as Record<string, object>,
        },
      },
      server,
    ),
  )
  app.get('/thing', (_request, response) => void response.json({ thing: 1 }))
  shop = createServer(app).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/thing`
})
afterAll(async () => {
  shop.close()
  shop.closeAllConnections()
  await m.close()
})

function clientOf(account: LocalAccount): x402HTTPClient {
  const schemes = [{ network: `eip155:${m.chainId}` as const, client: new ClientScheme(account) }]
  return new x402HTTPClient(x402Client.fromConfig({ schemes, spendControls: false }))
}

/** Asks, pays what is asked for, and asks again. */
async function buy(account: LocalAccount): Promise<Response> {
  const client = clientOf(account)
  const offer = await fetch(shopUrl)
  expect(offer.status).toBe(402)
  const required = client.getPaymentRequiredResponse((name) => offer.headers.get(name), await offer.json())
  const payload = await client.createPaymentPayload(required)
  return fetch(shopUrl, { headers: client.encodePaymentSignatureHeader(payload) })
}

describe('the official middleware and client', () => {
  test('sell and buy through us, and the payment is split', async () => {
    const before = await m.balanceOf(m.merchant.account.address)
    const response = await buy(buyer)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ thing: 1 })
    const receipt = clientOf(buyer).getPaymentSettleResponse((name) => response.headers.get(name))
    expect(receipt).toMatchObject({ success: true, payer: buyer.address, network: `eip155:${m.chainId}` })
    const [escrow] = await m.escrowsIn(receipt.transaction as `0x${string}`)
    expect(escrow).toMatchObject({ payer: buyer.address, merchantId: m.merchant.merchantId, price: PRICE })
    expect(await m.balanceOf(m.merchant.account.address)).toBeGreaterThan(before)
  })

  test('refuse a buyer that has no money, before the thing is served', async () => {
    const response = await buy(await m.newBuyer(0n))
    expect(response.status).toBe(402)
    expect(await response.text()).not.toContain('thing')
  })
})

describe('the official facilitator client', () => {
  test('reads what is supported', async () => {
    const supported = await new HTTPFacilitatorClient({ url: m.facilitator.url }).getSupported()
    expect(supported).toEqual({
      kinds: [
        {
          x402Version: 2,
          scheme: 'exact',
          network: `eip155:${m.chainId}`,
          extra: { name: 'USDC', version: '2', asset: m.till.usdc, payTo: m.till.router },
        },
      ],
      extensions: ['attributionToken', 'buyerAgentId'],
      signers: { 'eip155:*': m.relayers.map(({ address }) => address) },
    })
  })

  test('reads what is verified, settled and refused', async () => {
    const client = new HTTPFacilitatorClient({ url: m.facilitator.url })
    const { paymentPayload, paymentRequirements } = await m.payload(buyer)
    const official = paymentPayload as Parameters<typeof client.settle>[0]
    expect(await client.verify(official, paymentRequirements)).toEqual({
      isValid: true,
      payer: buyer.address,
    })
    const settled = await client.settle(official, paymentRequirements)
    expect(settled).toMatchObject({ success: true, payer: buyer.address })
    expect(await client.settle(official, paymentRequirements)).toMatchObject({
      success: false,
      errorReason: 'invalid_payment',
      errorMessage: 'authorization already used',
      transaction: settled.transaction,
    })
    expect(await client.verify(official, paymentRequirements)).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_payment',
      invalidMessage: 'authorization already used',
    })
  })
})
