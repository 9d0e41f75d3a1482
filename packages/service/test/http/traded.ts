// A market with at least one record of every kind.
import { createServer } from 'node:http'
import {
  listProduct,
  mintUsdc,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { storeSearch } from '../../src/derived/rings/found-store.ts'
import { ringOf, searchOn } from '../../src/derived/rings/testing.ts'
import { bytesOf } from '../../src/machinery/db/bytes.ts'
import { must, sessionOf } from './caller.ts'
import { voteBody } from './commitments.ts'
import {
  buy,
  CONSOLE_ACCOUNT,
  generic,
  NO_WORK,
  productOf,
  publishReview,
  SILENT_BOT,
  startTestMarket,
  type TestMarket,
} from './market.ts'
import { startStandIn } from './stand-in.ts'

export interface Traded extends TestMarket {
  /** Identity 0, owned by the merchant account: a merchant and an agent. */
  zero: { merchantId: 0; product: Product }
  /** A merchant of the same account whose id is not 0, with a one-off product of the highest commission. */
  shop: { merchantId: number; product: Product }
  reviewerAgentId: number
  buyerAgentId: number
  review: { reviewId: number; internalId: number; content: string }
  /** A purchase of the buyer's agent, through that review. */
  escrowId: number
  proofId: number
  tokens: { admin: string; merchant: string; reviewer: string }
  /** A link of that review. */
  refLink: string
  /** Sells through ref links. */
  endpointUrl: string
  /** The merchant's words about a product. */
  describe(product: Product): Record<string, unknown>
  /** A proof that nobody has submitted yet. */
  proofBody(): Record<string, unknown>
  newProof(): Promise<number>
  /** On the chain; its text is not registered. */
  newReview(): Promise<number>
  /** Votes of a new purchase, for another review than the one it was bought through. */
  newVotes(): Promise<Record<string, unknown>>
  /** The review, by its id on the chain, in the state in which its author may dispute it. */
  contradicted(): Promise<bigint>
  /** The review, by its internal id, in the state in which an admin may end the dispute. */
  disputed(): Promise<number>
  /** A suspected ring of the reviewer and the buyer that nobody has dismissed. */
  newRing(): Promise<number>
  /** An intent that nobody has queued yet. */
  intentBody(): Record<string, unknown>
}

/**
 * Includes a shop on this machine whose endpoint sells through ref links, and a server that answers like a
 * facilitator.
 */
export async function startTradedMarket(
  chainIds = [31_337, 1_337],
  env: Record<string, string> = {},
): Promise<Traded> {
  const facilitator = await startStandIn()
  const m = await startTestMarket({
    chainIds,
    env: {
      ...SILENT_BOT,
      ALLOW_PRIVATE_HOSTS: 'true',
      FACILITATOR_URL: facilitator.url,
      ...CONSOLE_ACCOUNT,
      ...env,
    },
    overrides: {
      ...NO_WORK,
      lookup: async (host) => (host === 'shop.test' ? [{ address: '127.0.0.1', family: 4 }] : []),
    },
  })
  const { market, call } = m
  const { merchant, reviewer, buyer, walletBuyer, admin } = market.accounts
  const endpoint = createServer((_request, response) => response.writeHead(402).end('{}'))
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  const { port } = endpoint.address() as { port: number }
  const endpointUrl = `http://shop.test:${port}/buy`

  const post = (path: string, as: LocalAccount, body?: object) =>
    must(call('POST', path, { as, ...(body && { body }) }))

  const zero = {
    merchantId: 0 as const,
    product: { merchantId: await openMerchant(market, merchant), productId: productOf(1) },
  }
  const reviewerAgentId = Number(await registerIdentity(market, reviewer, 'https://agent.test/card.json'))
  const buyerAgentId = Number(await registerIdentity(market, buyer))
  const shopId = await openMerchant(market, merchant)
  const shop = { merchantId: Number(shopId), product: { merchantId: shopId, productId: productOf(2) } }
  await listProduct(market, merchant, zero.product)
  await listProduct(market, merchant, shop.product, { commissionBps: 10_000, oneOff: true })
  for (const payer of [buyer, walletBuyer]) await mintUsdc(market, payer.address, 1_000_000_000n)
  await m.indexed()

  const describe = ({ merchantId, productId }: Product) => ({
    merchant_id: Number(merchantId),
    product_id: productId,
    endpoint_url: endpointUrl,
    name: 'A product',
    description: 'What it does',
    category: 'books',
  })
  await post('/v1/agent/register', reviewer, { agent_id: reviewerAgentId })
  await post('/v1/agent/register', merchant, { agent_id: 0 })
  for (const { merchantId, product } of [zero, shop]) {
    await post('/v1/merchant/register', merchant, { merchant_id: merchantId })
    await post('/v1/merchant/product', merchant, describe(product))
  }
  const content = generic(5, 'Quick and right')
  const written = { agentId: BigInt(reviewerAgentId), content }
  const ofShop = await publishReview(m, reviewer, { ...written, product: shop.product, proofId: 1_001n })
  const ofZero = await publishReview(m, reviewer, { ...written, product: zero.product, proofId: 1_002n })
  const bought = {
    product: shop.product,
    reviewId: ofShop.reviewId,
    reviewerAgentId: BigInt(reviewerAgentId),
  }
  const escrow = await buy(m, buyer, {
    ...bought,
    buyerAgentId: BigInt(buyerAgentId),
    cashbackOfCommissionBps: 500,
  })
  await buy(m, walletBuyer, bought)
  await m.indexed()

  const proof = {
    agent_id: reviewerAgentId,
    merchant_id: shop.merchantId,
    product_id: shop.product.productId,
  }
  let proofs = 0
  function proofBody(): Record<string, unknown> {
    proofs += 1
    return { ...proof, proof_data: { receipt: proofs } }
  }
  const newProof = async () => Number((await post('/v1/proof', reviewer, proofBody())).proof_id)
  const tokenOf = (account: LocalAccount) => sessionOf(call, account)
  const tokens = {
    admin: await tokenOf(admin),
    merchant: await tokenOf(merchant),
    reviewer: await tokenOf(reviewer),
  }
  await post('/v1/spending-limits', reviewer, { chain_id: m.chainId, daily_cap_usdc: 5_000_000 })
  let reviews = 2_000n
  async function newReview(): Promise<number> {
    reviews += 1n
    const { reviewId } = await publishWithProof(market, reviewer, {
      ...written,
      product: zero.product,
      proofId: reviews,
    })
    await m.indexed()
    return Number(reviewId)
  }
  let votedFor: Promise<{ internalId: number }> | undefined
  async function newVotes(): Promise<Record<string, unknown>> {
    votedFor ??= publishReview(m, reviewer, { ...written, product: zero.product, proofId: 1_003n })
    const { internalId } = await votedFor
    const { escrowId } = await buy(m, buyer, {
      product: zero.product,
      reviewId: ofZero.reviewId,
      reviewerAgentId: BigInt(reviewerAgentId),
      buyerAgentId: BigInt(buyerAgentId),
    })
    await m.indexed()
    return voteBody({ agentId: buyerAgentId, escrowId, votes: [internalId] })
  }
  async function contradicted(): Promise<bigint> {
    await m.sql`DELETE FROM market.disputes WHERE internal_id = ${ofShop.internalId}`
    await m.sql`UPDATE market.reviews SET comparison_outcome = 'contradicted' WHERE internal_id = ${ofShop.internalId}`
    return ofShop.reviewId
  }
  async function newRing(): Promise<number> {
    await m.sql`DELETE FROM market.rings`
    const owners = [reviewer, buyer].map(({ address }) => bytesOf(address))
    await storeSearch(m.sql, searchOn(m.chainId), [ringOf(owners, BigInt(shop.merchantId))])
    const [ring] = await m.sql<{ ring_id: bigint }[]>`SELECT ring_id FROM market.rings`
    return Number(ring?.ring_id)
  }
  async function disputed(): Promise<number> {
    await m.sql`UPDATE market.reviews SET comparison_outcome = 'disputed' WHERE internal_id = ${ofShop.internalId}`
    return ofShop.internalId
  }

  const { ref_link: refLink } = await must(call('GET', `/v1/review/${ofShop.reviewId}`))
  let intents = 0
  const intentBody = () => ({
    chain_id: m.chainId,
    agent_id: reviewerAgentId,
    type: 'buy_product',
    payload: { ref_link: refLink, max_amount: '1000000', idempotency_key: `purchase ${++intents}` },
  })

  return {
    ...m,
    zero,
    shop,
    reviewerAgentId,
    buyerAgentId,
    review: { reviewId: Number(ofShop.reviewId), internalId: ofShop.internalId, content },
    escrowId: Number(escrow.escrowId),
    proofId: await newProof(),
    tokens,
    refLink,
    endpointUrl,
    describe,
    proofBody,
    newProof,
    newReview,
    newVotes,
    contradicted,
    disputed,
    newRing,
    intentBody,
    async close() {
      await m.close()
      endpoint.closeAllConnections()
      endpoint.close()
      await facilitator.close()
    },
  }
}
