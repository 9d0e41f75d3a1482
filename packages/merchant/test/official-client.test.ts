// The stock x402 client buys, with nothing but its spend controls opened for the token.

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SANDBOX_TOKEN } from '@referrer/contracts/local'
import { Authorization, X402 } from '@referrer/protocol'
import { PaymentPayloadV2Schema, PaymentRequiredV2Schema } from '@x402/core/schemas'
import { ExactEvmScheme } from '@x402/evm'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { nodeHandler } from '../src/node.ts'
import {
  type Asked,
  bodyOf,
  headerOf,
  refusal,
  SETUP_URL,
  settledBy,
  shopOf,
  startWorld,
  TRANSACTION,
  tokenFor,
  type World,
} from './world.ts'

let world: World
let url: string
let server: Server

beforeAll(async () => {
  world = await startWorld()
  server = createServer(nodeHandler(shopOf(world))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/buy?topic=cats`
})
afterAll(async () => {
  server.close()
  await world?.close()
})
beforeEach(() => world.facilitator.says(settledBy()))

function clientConfig() {
  const network = X402.Network.from(world.local.chain.id)
  return {
    schemes: [{ network, client: new ExactEvmScheme(world.market.accounts.walletBuyer) }],
    spendControls: { allowedAssets: [{ network, asset: world.market.addresses.USDC }] },
  }
}
const client = () => wrapFetchWithPaymentFromConfig(fetch, clientConfig())

const headersOf = async () => ({
  'X-Referrer-Token': await tokenFor(world),
  'X-Referrer-Buyer-Agent-Id': '7',
})
const envelopeOf = (asked: Asked | undefined) => JSON.parse(asked?.text ?? 'null')

it('pays the offer, echoes our extensions as they are, and gets what it bought [REF-20, REF-21, REF-23, REF-26, REF-30]', async () => {
  const headers = await headersOf()
  const response = await client()(url, { headers })
  expect(response.status).toBe(200)
  expect(await bodyOf(response)).toEqual({ joke: 'a good one', transaction: TRANSACTION })
  expect(decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')).toEqual({
    success: true,
    transaction: TRANSACTION,
    network: `eip155:${world.local.chain.id}`,
    payer: world.market.accounts.walletBuyer.address,
  })

  const { paymentPayload, paymentRequirements } = envelopeOf(world.facilitator.asked[0])
  expect(paymentPayload.extensions).toEqual({
    attributionToken: headers['X-Referrer-Token'],
    buyerAgentId: '7',
    setup_url: SETUP_URL,
  })
  expect(paymentPayload.accepted).toEqual(paymentRequirements)
  expect(paymentPayload.resource).toEqual({ url })
  expect(PaymentPayloadV2Schema.safeParse(paymentPayload).success).toBe(true)
})

it('is understood however its payment is padded [REF-26]', async () => {
  const paddings: string[] = []
  const through = wrapFetchWithPaymentFromConfig(async (input, init) => {
    const request = new Request(input, init)
    const header = request.headers.get('PAYMENT-SIGNATURE')
    if (header) paddings.push(/=*$/.exec(header)?.[0] ?? '')
    return fetch(request)
  }, clientConfig())
  // The offer names the URL that was asked for, and the payment names it again: a longer one moves the padding.
  for (const more of ['', 'a', 'aa']) {
    const response = await through(`${url}${more}`, { headers: await headersOf() })
    expect(response.status).toBe(200)
  }
  expect(paddings.sort()).toEqual(['', '=', '=='])
})

it('signs a payment that the router could redeem [REF-14, REF-16, REF-18, REF-19]', async () => {
  await client()(url, { headers: await headersOf() })
  const { paymentPayload } = envelopeOf(world.facilitator.asked[0])
  const { signature, authorization } = X402.PaymentPayload.parse(paymentPayload).payload
  const { USDC, SplitRouter } = world.market.addresses
  expect(authorization.to).toBe(SplitRouter)
  const token = { ...SANDBOX_TOKEN, chainId: world.local.chain.id, verifyingContract: USDC }
  expect(await Authorization.recover('TransferWithAuthorization', token, authorization, signature)).toBe(
    world.market.accounts.walletBuyer.address,
  )
})

it('reads our 402, the first one and the one after a refusal, by its own schema', async () => {
  world.facilitator.says(refusal({ errorMessage: 'because' }))
  const offered = await fetch(url, { headers: await headersOf() })
  const refused = await client()(url, { headers: await headersOf() })
  for (const response of [offered, refused]) {
    expect(response.status).toBe(402)
    const read = PaymentRequiredV2Schema.safeParse(headerOf(response, 'PAYMENT-REQUIRED'))
    expect(read.error).toBeUndefined()
  }
  expect(await bodyOf(refused)).toMatchObject({ error: 'because', errorReason: 'invalid_payment' })
  expect(decodePaymentResponseHeader(refused.headers.get('PAYMENT-RESPONSE') ?? '')).toMatchObject({
    success: false,
    errorReason: 'invalid_payment',
  })
})
