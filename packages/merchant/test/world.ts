// A chain with the market on it, a merchant with a product, and a facilitator that says what a test tells it to.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  deployMarket,
  type LocalChain,
  listProduct,
  type Market,
  mintUsdc,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
  SANDBOX_TOKEN,
  settlePurchases,
  signPurchase,
  startLocalChain,
} from '@referrer/contracts/local'
import { AttestationKey, Attribution, AttributionToken, X402 } from '@referrer/protocol'
import { bytesToHex, type Hex } from 'viem'
import {
  createPaymentMemory,
  createReferralEndpoint,
  type MerchantEvent,
  type PaymentMemory,
  type ReferralConfig,
  type ReferralEndpoint,
} from '../src/index.ts'

export const PRICE = 250_000n
export const PRODUCT_ID: Hex = `0x${'a1'.repeat(32)}`
export const SETUP_URL = 'https://market.test/.well-known/referrer-agent'
export const ENDPOINT = 'https://shop.test/buy'
export const TRANSACTION: Hex = `0x${'7e'.repeat(32)}`

export interface World {
  local: LocalChain
  rpcUrl: string
  market: Market
  product: Product
  reviewerAgentId: bigint
  reviewId: bigint
  facilitator: Facilitator
  /** Of the process that the tests play. */
  payments: PaymentMemory
  close(): Promise<void>
}

export async function startWorld(): Promise<World> {
  const local = await startLocalChain({ port: 0 })
  const market = await deployMarket(local.client)
  const { merchant, reviewer, buyer } = market.accounts
  await registerIdentity(market, market.accounts.deployer)
  const product = { merchantId: await openMerchant(market, merchant), productId: PRODUCT_ID }
  await listProduct(market, merchant, product, { minPrice: 1_000n })
  const reviewerAgentId = await registerIdentity(market, reviewer)
  const content = JSON.stringify({ rating: 5, description: 'good' })
  const { reviewId } = await publishWithProof(market, reviewer, {
    agentId: reviewerAgentId,
    product,
    content,
    proofId: 1n,
  })
  await mintUsdc(market, buyer.address, 1_000_000_000n)
  const facilitator = await startFacilitator()
  return {
    local,
    rpcUrl: local.rpcUrl ?? '',
    market,
    product,
    reviewerAgentId,
    reviewId,
    facilitator,
    payments: createPaymentMemory(),
    async close() {
      await facilitator.close()
      await local.close()
    },
  }
}

export interface Asked {
  method: string
  path: string
  headers: IncomingHttpHeaders
  text: string
}
/** As JSON with 200, unless it has a `text` and a `status`; `hang` never answers, `cut` ends the connection. */
export type Reply = Record<string, unknown> | 'hang' | 'cut'
export type Script = (asked: Asked) => Reply | Promise<Reply>

export type Facilitator = Awaited<ReturnType<typeof startFacilitator>>

/** A local HTTP server in place of a facilitator: answers by script, and keeps what it was asked. */
export async function startFacilitator() {
  const asked: Asked[] = []
  const state: { settle: Script; standing: Script; supported: Reply } = {
    settle: settledBy(),
    standing: () => 'cut',
    supported: supporting(),
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url: path = '', headers } = request
    const one = { method, path, headers, text: Buffer.concat(chunks).toString() }
    asked.push(one)
    const script = path === '/settle' ? state.settle : state.standing
    const reply = path === '/supported' ? state.supported : await script(one)
    if (reply === 'hang') return
    if (reply === 'cut') request.socket.destroy()
    else if (reply.text !== undefined) response.writeHead(Number(reply.status)).end(reply.text)
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    settlements: () => asked.filter(({ path }) => path === '/settle'),
    says(settle: Script | Reply, standing: Script | Reply = 'cut') {
      asked.length = 0
      state.settle = typeof settle === 'function' ? settle : () => settle
      state.standing = typeof standing === 'function' ? standing : () => standing
    },
    supports(supported: Reply) {
      state.supported = supported
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** As a facilitator answers that settles on the test's chain, from the least amount on where it names one. */
export const supporting = (extra?: object) => ({
  kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:31337', ...(extra && { extra }) }],
  extensions: [],
  signers: {},
})

/** As the endpoint tells why it took no payment. */
export const told = (message: string, reason: string, rest: object = {}) => ({
  error: message,
  errorReason: reason,
  errorMessage: message,
  ...rest,
})

/** As a facilitator answers that has settled. */
export function settledBy(transaction: string = TRANSACTION): Script {
  return ({ text }) => {
    const { paymentPayload, paymentRequirements } = JSON.parse(text)
    const payer = paymentPayload?.payload?.authorization?.from
    return { success: true, transaction, network: paymentRequirements.network, payer }
  }
}

export const refusal = (fields: object) => ({
  success: false,
  errorReason: 'invalid_payment',
  transaction: '',
  network: 'eip155:31337',
  setup_url: SETUP_URL,
  ...fields,
})
export const alreadyUsed = (transaction?: string) =>
  refusal({ errorMessage: 'authorization already used', ...(transaction && { transaction }) })

export const configOf = ({
  rpcUrl,
  local,
  market,
  product,
  facilitator,
  payments,
}: World): ReferralConfig => ({
  chainId: local.chain.id,
  rpcUrl,
  addressRegistry: market.addresses.AddressRegistry,
  facilitatorUrl: facilitator.url,
  setupUrl: SETUP_URL,
  merchantId: product.merchantId,
  product: { id: product.productId },
  payments,
  price: PRICE,
  // The facilitator of these tests names transactions that are not on the chain.
  checkOnChain: false,
  serve: () => ({ joke: 'a good one' }),
})

export interface Shop extends ReferralEndpoint {
  events: MerchantEvent[]
}

export function shopOf(world: World, changes: Partial<ReferralConfig> = {}): Shop {
  const events: MerchantEvent[] = []
  const onEvent = (event: MerchantEvent) => events.push(event)
  return { ...createReferralEndpoint({ ...configOf(world), onEvent, ...changes }), events }
}

const keySeed = new Uint8Array(32).fill(7)

export async function tokenFor(world: World, changes: Partial<AttributionToken.Terms> = {}): Promise<string> {
  const terms = {
    chainId: world.local.chain.id,
    splitRouter: world.market.addresses.SplitRouter,
    merchantEndpoint: ENDPOINT,
    merchantId: Number(world.product.merchantId),
    productId: world.product.productId,
    reviewId: Number(world.reviewId),
    reviewerAgentId: Number(world.reviewerAgentId),
    cashbackOfCommissionBps: 2_500,
    commissionMultiplierBps: 7_000,
    issuedAt: 1_750_000_000,
  }
  return AttributionToken.mint({ ...terms, ...changes }, await AttestationKey.signingKey(keySeed))
}

export interface Paid {
  header: string
  payload: X402.PaymentPayload.PaymentPayload
  /** Has it split on the chain, as a facilitator would. */
  settleOnChain(): Promise<Hex>
}

/** A payment as our buyers make it: its nonce commits to the token. */
export async function pay(
  world: World,
  { value = PRICE, token, productId }: { value?: bigint; token?: string; productId?: Hex } = {},
): Promise<Paid> {
  const { market } = world
  const attributionToken = token ?? (await tokenFor(world))
  const terms = AttributionToken.decodeUnverified(attributionToken)
  const salt = bytesToHex(randomBytes(32))
  const { salt: _salt, ...attribution } = Attribution.from(
    { ...terms, ...(productId && { productId }) },
    { salt },
  )
  const purchase = await signPurchase(market, market.accounts.buyer, { value, attribution, salt })
  const { from, validAfter, validBefore, nonce, signature } = purchase.authorization
  const authorization = {
    from,
    to: market.addresses.SplitRouter,
    value: String(value),
    validAfter: String(validAfter),
    validBefore: String(validBefore),
    nonce,
  }
  const payload: X402.PaymentPayload.PaymentPayload = {
    x402Version: 2,
    accepted: {
      scheme: 'exact',
      network: X402.Network.from(world.local.chain.id),
      asset: market.addresses.USDC,
      amount: String(value),
      payTo: market.addresses.SplitRouter,
      maxTimeoutSeconds: 60,
      extra: { ...SANDBOX_TOKEN },
    },
    payload: { signature, authorization },
    extensions: { attributionToken, attributionSalt: salt },
  }
  return {
    header: X402.PaymentPayload.serialize(payload),
    payload,
    async settleOnChain() {
      const { transactionHash } = await settlePurchases(market, [purchase])
      return transactionHash
    },
  }
}

/** The retry as our buyers send it: nothing but the payment. */
export const retry = ({ header }: { header: string }, init: RequestInit = {}) =>
  new Request(ENDPOINT, { ...init, headers: { 'PAYMENT-SIGNATURE': header } })

export async function bodyOf(response: Response) {
  return (await response.json()) as Record<string, unknown>
}

export const headerOf = (response: Response, name: string): unknown =>
  X402.decodeHeader(response.headers.get(name))
