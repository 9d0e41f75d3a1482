// Sellers and buyers that have never heard of us: official middleware and client, with our facilitator in between.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mintUsdc, SANDBOX_TOKEN } from '@referrer/contracts/local'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { type HTTPAdapter, HTTPFacilitatorClient } from '@x402/core/server'
import type { ResourceServerExtension } from '@x402/core/types'
import { ExactEvmScheme as ClientScheme } from '@x402/evm/exact/client'
import { ExactEvmScheme as ServerScheme } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { type Hash, type LocalAccount, maxUint256 } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { otherReviewer } from './abuse/acts.ts'
import { type Books, openBooks } from './abuse/books.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'
import { sharesOf } from './shares.ts'

let m: TestFacilitator
let books: Books
let buyer: LocalAccount
let shop: Server
let shopUrl: string
/** What the middleware asks of its facilitator. */
const asked: string[] = []

beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
  buyer = m.market.accounts.buyer
  await mintUsdc(m.market, buyer.address, 1_000_000_000n)
  await openShop()
})
afterAll(async () => {
  shop.close()
  shop.closeAllConnections()
  await m?.close()
})
afterEach(() => books.audit())

class Listening extends HTTPFacilitatorClient {
  override getSupported() {
    asked.push('/supported')
    return super.getSupported()
  }
  override verify(...given: Parameters<HTTPFacilitatorClient['verify']>) {
    asked.push('/verify')
    return super.verify(...given)
  }
  override settle(...given: Parameters<HTTPFacilitatorClient['settle']>) {
    asked.push('/settle')
    return super.settle(...given)
  }
}

/** All that the middleware has to be told: to send back what the buyer came with. */
const echo = (key: string, header: string): ResourceServerExtension => ({
  key,
  enrichDeclaration: (_declaration, context) =>
    (context as { adapter: HTTPAdapter }).adapter.getHeader(header) ?? '',
})

async function openShop(): Promise<void> {
  const network = `eip155:${m.chainId}` as const
  const { usdc: asset, router: payTo, token: extra } = m.till
  const server = new x402ResourceServer(new Listening({ url: m.facilitator.url }))
    .register(network, new ServerScheme())
    .registerExtension(echo('attributionToken', 'x-referrer-token'))
    .registerExtension(echo('buyerAgentId', 'x-referrer-buyer-agent-id'))
  const price = { asset, amount: String(PRICE), extra }
  const app = express()
  app.use(
    paymentMiddleware(
      {
        'GET /thing': {
          accepts: { scheme: 'exact', network, payTo, price, maxTimeoutSeconds: 3_600 },
          description: 'A thing',
          extensions: { attributionToken: {}, buyerAgentId: {} },
        },
      },
      server,
    ),
  )
  app.get('/thing', (_request, response) => void response.json({ thing: 1 }))
  shop = createServer(app).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  shopUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/thing`
}

function clientOf(account: LocalAccount): x402HTTPClient {
  const schemes = [{ network: `eip155:${m.chainId}` as const, client: new ClientScheme(account) }]
  return new x402HTTPClient(x402Client.fromConfig({ schemes, spendControls: false }))
}

/** Asks, pays what is asked for, and asks again: with the same headers, as official clients do. */
async function buy(account: LocalAccount, given: Record<string, string> = {}): Promise<Response> {
  const headers = { 'X-Referrer-Token': m.till.attributionToken, ...given }
  const client = clientOf(account)
  const offer = await fetch(shopUrl, { headers })
  expect(offer.status).toBe(402)
  const required = client.getPaymentRequiredResponse((name) => offer.headers.get(name), await offer.json())
  const payload = await client.createPaymentPayload(required)
  return fetch(shopUrl, { headers: { ...headers, ...client.encodePaymentSignatureHeader(payload) } })
}

async function escrowOf(response: Response) {
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ thing: 1 })
  const receipt = clientOf(buyer).getPaymentSettleResponse((name) => response.headers.get(name))
  expect(receipt).toMatchObject({ success: true, payer: buyer.address, network: `eip155:${m.chainId}` })
  const [escrow] = await m.escrowsIn(receipt.transaction as Hash)
  return escrow
}

describe('the official middleware and client', () => {
  test('sell and buy through us, and the payment is split [REF-39]', async () => {
    const people = [buyer, m.merchant.account, m.reviewer.account].map(({ address }) => address)
    const money = () =>
      Promise.all([...people, m.market.addresses.CommissionEscrow, m.till.router].map(m.balanceOf))
    const before = await money()
    asked.length = 0
    const escrow = await escrowOf(await buy(buyer))
    expect(asked).toEqual(['/verify', '/settle'])
    const { merchant, immediate, commission, fee, heldBack, cashback } = sharesOf(PRICE, {
      commissionBps: 2_000n,
    })
    expect(escrow).toMatchObject({ payer: buyer.address, price: PRICE, commission, fee, heldBack, cashback })
    const after = await money()
    expect(after.map((amount, at) => amount - (before[at] ?? 0n))).toEqual([
      -PRICE,
      merchant,
      immediate,
      heldBack + cashback + fee,
      0n,
    ])
  })

  test('carry the link and the agent of each buyer', async () => {
    const { account, agentId, attributionToken } = await otherReviewer(m, m.market.accounts.walletBuyer, 2n)
    books.reviewers.add(account.address)
    const buyerAgentId = await m.newAgent(buyer)
    const first = await escrowOf(await buy(buyer))
    expect(first).toMatchObject({ reviewerAgentId: m.reviewer.agentId, buyerAgentId: maxUint256 })
    const second = await escrowOf(
      await buy(buyer, {
        'X-Referrer-Token': attributionToken,
        'X-Referrer-Buyer-Agent-Id': String(buyerAgentId),
      }),
    )
    expect(second).toMatchObject({ reviewerAgentId: agentId, buyerAgentId })
  })

  test.each([
    ['that has no money', async () => buy(await m.newBuyer(0n))],
    ['that came without a link', async () => buy(buyer, { 'X-Referrer-Token': '' })],
    ['that bought through a link of its own', async () => buy(m.reviewer.account)],
  ])('refuse a buyer %s, before the thing is served', async (_, attempt) => {
    asked.length = 0
    const response = await attempt()
    expect(response.status).toBe(402)
    expect(await response.text()).not.toContain('"thing":')
    expect(asked).toEqual(['/verify'])
  })
})

describe('the official facilitator client', () => {
  test('reads what is supported [FAC-04]', async () => {
    const supported = await new HTTPFacilitatorClient({ url: m.facilitator.url }).getSupported()
    expect(supported).toEqual({
      kinds: [
        {
          x402Version: 2,
          scheme: 'exact',
          network: `eip155:${m.chainId}`,
          extra: { ...SANDBOX_TOKEN, asset: m.till.usdc, payTo: m.till.router, leastAmount: '10000' },
        },
      ],
      extensions: ['attributionToken', 'buyerAgentId'],
      signers: { 'eip155:*': m.relayers.map(({ address }) => address) },
    })
  })

  test('reads what is verified, settled and refused [FAC-01, FAC-42 otherwise]', async () => {
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
