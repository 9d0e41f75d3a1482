// One facilitator for two chains, each with a market of its own.
import {
  deployMarket,
  escrowDeposits,
  type LocalChain,
  type Market,
  mintUsdc,
  startLocalChain,
} from '@referrer/contracts/local'
import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import type { Address, Hash, LocalAccount } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Books, openBooks } from './abuse/books.ts'
import { openShop, PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'
import { type Body, type PayloadOptions, payloadOf, type Till } from './payloads.ts'

const HERE = 31_337
const THERE = 31_338

let m: TestFacilitator
let books: [Books, Books]
let chainThere: LocalChain
let marketThere: Market
let tillThere: Till
let buyer: LocalAccount

beforeAll(async () => {
  ;[m, chainThere] = await Promise.all([
    startTestFacilitator({ chainId: HERE, relayers: 2 }),
    startLocalChain({ chainId: THERE, port: 0 }),
  ])
  buyer = await m.newBuyer()
  marketThere = await deployMarket(chainThere.client)
  const shopThere = await openShop(marketThere)
  const { merchant, reviewer } = shopThere
  await mintUsdc(marketThere, buyer.address, 1_000_000_000n)
  const terms = {
    ...m.till.terms,
    chainId: THERE,
    splitRouter: marketThere.addresses.SplitRouter,
    merchantId: Number(merchant.merchantId),
    reviewId: Number(reviewer.reviewId),
    reviewerAgentId: Number(reviewer.agentId),
  }
  tillThere = {
    chainId: THERE,
    usdc: marketThere.addresses.USDC,
    router: marketThere.addresses.SplitRouter,
    token: m.till.token,
    terms,
    attributionToken: await m.mint(terms),
  }
  await serveBoth()
  const there = { chainId: THERE, chain: chainThere, market: marketThere, balanceOf: balanceThere }
  books = [await openBooks(m), await openBooks({ ...m, ...there, ...shopThere })]
})
afterEach(async () => {
  for (const each of books) await each.audit()
})
afterAll(async () => {
  await m?.close()
  await chainThere?.close()
})

/** The same keys sign the links of both chains: only the links themselves tell them apart. */
async function serveBoth(): Promise<void> {
  const [here] = JSON.parse(m.env.CHAINS ?? '[]')
  const there = {
    ...here,
    chainId: THERE,
    rpcUrls: [chainThere.rpcUrl],
    contracts: marketThere.addresses,
  }
  const keys = JSON.parse(m.env.ATTESTATION_PUBLIC_KEYS ?? '{}')
  await m.facilitator.stop()
  m.facilitator = await m.startAnother({
    CHAINS: JSON.stringify([here, there]),
    ATTESTATION_PUBLIC_KEYS: JSON.stringify({ ...keys, [THERE]: keys[HERE] }),
  })
}

async function payloadThere(options?: PayloadOptions): Promise<Body> {
  const { timestamp } = await chainThere.client.getBlock()
  const now = Math.max(Number(timestamp), Math.floor(Date.now() / 1_000))
  return payloadOf(tillThere, buyer, now, options)
}

const balanceThere = (address: Address) =>
  chainThere.client.readContract({
    address: tillThere.usdc,
    abi: sandboxUSDCAbi,
    functionName: 'balanceOf',
    args: [address],
  })

const moneyOfBuyer = async () => ({
  here: await m.balanceOf(buyer.address),
  there: await balanceThere(buyer.address),
})

describe('what is supported', () => {
  it('is told to anybody, with the chains in their order and who sends [FAC-04, VER-02]', async () => {
    const answer = await m.call('GET', '/supported')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    const kind = (till: Till) => ({
      x402Version: 2,
      scheme: 'exact',
      network: `eip155:${till.chainId}`,
      extra: { ...till.token, asset: till.usdc, payTo: till.router, leastAmount: '10000' },
    })
    expect(answer.body).toEqual({
      kinds: [kind(m.till), kind(tillThere)],
      extensions: ['attributionToken', 'buyerAgentId'],
      signers: { 'eip155:*': m.relayers.map(({ address }) => address) },
    })
  })
})

describe('a payment on the second chain', () => {
  it('is verified and settled there, and only there [FAC-19]', async () => {
    const before = await moneyOfBuyer()
    const body = await payloadThere()
    expect((await m.verify(body)).body).toEqual({ isValid: true, payer: buyer.address })
    const settled = (await m.settle(body)).body
    expect(settled).toMatchObject({ success: true, network: `eip155:${THERE}`, payer: buyer.address })
    const hash: Hash = settled.transaction
    const receipt = await chainThere.client.getTransactionReceipt({ hash })
    expect(escrowDeposits(receipt)).toMatchObject([{ payer: buyer.address, price: PRICE }])
    expect(await moneyOfBuyer()).toEqual({ here: before.here, there: before.there - PRICE })
  })

  it('is asked about with its chain', async () => {
    const body = await payloadThere()
    const { nonce } = body.paymentPayload.payload.authorization
    const { transaction } = (await m.settle(body)).body
    const path = `/settlements/${buyer.address}/${nonce}`
    expect((await m.call('GET', `${path}?chain_id=${THERE}`)).body).toMatchObject({
      status: 'settled',
      transaction,
      network: `eip155:${THERE}`,
    })
    for (const question of [path, `${path}?chain_id=${HERE}`]) {
      expect((await m.call('GET', question)).body).toMatchObject({
        status: 'unknown',
        network: `eip155:${HERE}`,
      })
    }
  })

  it('may have a nonce that was used on the first', async () => {
    const here = await m.payload(buyer)
    const { nonce } = here.paymentPayload.payload.authorization
    const there = await payloadThere({ nonce })
    const answers = await Promise.all([m.settle(here), m.settle(there)])
    expect(answers.map(({ body }) => [body.success, body.network])).toEqual([
      [true, `eip155:${HERE}`],
      [true, `eip155:${THERE}`],
    ])
  })

  it('needs a link of that chain, although those of the other count there [FAC-21]', async () => {
    const bodies: [Body, number][] = [
      [await payloadThere({ attributionToken: m.till.attributionToken }), THERE],
      [await m.payload(buyer, { attributionToken: tillThere.attributionToken }), HERE],
    ]
    for (const [body, chainId] of bodies) {
      expect((await m.settle(body)).body).toMatchObject({
        success: false,
        errorReason: 'invalid_payment',
        network: `eip155:${chainId}`,
        transaction: '',
      })
    }
  })

  it('is not one that was signed for the first', async () => {
    const here = await m.payload(buyer)
    const there = await payloadThere()
    const { payload } = here.paymentPayload
    const moved = { ...there, paymentPayload: { ...there.paymentPayload, payload } }
    expect((await m.settle(moved)).body).toMatchObject({
      success: false,
      errorReason: 'invalid_payment',
      network: `eip155:${THERE}`,
    })
    expect((await m.settle(here)).body.success).toBe(true)
  })
})
