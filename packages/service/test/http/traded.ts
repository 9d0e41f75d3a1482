// A market with at least one record of every kind, and for every route a request that succeeds there.
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
import { rebuildListings } from '../../src/app/commands/rebuild-listings.ts'
import { routes } from '../../src/app/routes.ts'
import { mintForChat } from '../../src/market/messenger/operations.ts'
import { cookieOf, must, OWN_PAGE, sessionOf, signInMessage } from './caller.ts'
import { CASHBACK_RATE, pledgeBody, signedBody, VOTES, voteBody } from './commitments.ts'
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

export interface Example {
  path: string
  as?: LocalAccount
  token?: string
  body?: Record<string, unknown>
  headers?: Record<string, string>
}

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
  /**
   * By route, such as `GET /v1/review/{id}`: a request that succeeds; a new one each time if it can succeed only
   * once.
   */
  examples: Record<string, () => Promise<Example> | Example>
}

/** How far the clock must go on before the rate limit of a route allows another request. */
export function pauseOf(name: string): number {
  const route = routes.find(({ method, path }) => `${method} ${path}` === name)
  return 1_000 / (route?.perSecond ?? 5)
}

/** A request that succeeds. */
export async function exampleOf({ examples }: Pick<Traded, 'examples'>, name: string): Promise<Example> {
  const example = examples[name]
  if (!example) throw new Error(`no request that succeeds is known for ${name}: add one to traded.ts`)
  return example()
}

/**
 * Includes a shop on this machine whose endpoint sells through ref links, and a server that answers like a
 * facilitator.
 */
export async function startTradedMarket(chainIds = [31_337, 1_337]): Promise<Traded> {
  const facilitator = await startStandIn()
  const m = await startTestMarket({
    chainIds,
    env: {
      ...SILENT_BOT,
      ALLOW_PRIVATE_HOSTS: 'true',
      FACILITATOR_URL: facilitator.url,
      ...CONSOLE_ACCOUNT,
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
  async function newProof(): Promise<number> {
    proofs += 1
    return Number((await post('/v1/proof', reviewer, { ...proof, proof_data: { receipt: proofs } })).proof_id)
  }
  const tokenOf = (account: LocalAccount) => sessionOf(call, account)
  const tokens = {
    admin: await tokenOf(admin),
    merchant: await tokenOf(merchant),
    reviewer: await tokenOf(reviewer),
  }
  await post('/v1/spending-limits', reviewer, { chain_id: m.chainId, daily_cap_usdc: 5_000_000 })
  let reviews = 2_000n
  /** On the chain; its text is not registered. */
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
  /** Votes of a new purchase, for another review than the one it was bought through. */
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
  const pledge = (bps: number) => pledgeBody({ agentId: reviewerAgentId, bps })
  async function contradicted(): Promise<bigint> {
    await m.sql`DELETE FROM market.disputes WHERE internal_id = ${ofShop.internalId}`
    await m.sql`UPDATE market.reviews SET comparison_outcome = 'contradicted' WHERE internal_id = ${ofShop.internalId}`
    return ofShop.reviewId
  }
  async function disputed(): Promise<number> {
    await m.sql`UPDATE market.reviews SET comparison_outcome = 'disputed' WHERE internal_id = ${ofShop.internalId}`
    return ofShop.internalId
  }

  const { ref_link: refLink } = await must(call('GET', `/v1/review/${ofShop.reviewId}`))
  let intents = 0
  const purchase = () => ({
    chain_id: m.chainId,
    agent_id: reviewerAgentId,
    type: 'buy_product',
    payload: { ref_link: refLink, max_amount: '1000000', idempotency_key: `purchase ${++intents}` },
  })
  const ofShopProduct = `merchant_id=${shop.merchantId}&product_id=${shop.product.productId}`
  const asReviewer = (path: string): Example => ({ path, as: reviewer })
  const asAdmin = (path: string): Example => ({ path, token: tokens.admin })
  const examples: Traded['examples'] = {
    'GET /v1/review': () => ({ path: '/v1/review' }),
    'GET /v1/review/{id}': () => ({ path: `/v1/review/${ofShop.reviewId}` }),
    'GET /v1/review-internal/{id}': () => ({ path: `/v1/review-internal/${ofShop.internalId}` }),
    'POST /v1/review/register': async () => ({
      path: '/v1/review/register',
      as: reviewer,
      body: { review_id: await newReview(), escrow_id: 0, content_json: content },
    }),
    'POST /v1/proof': () => ({
      path: '/v1/proof',
      as: reviewer,
      body: { ...proof, proof_data: { receipt: ++proofs } },
    }),
    'GET /v1/proof/{id}': async () => asReviewer(`/v1/proof/${await newProof()}?agent_id=${reviewerAgentId}`),
    'GET /v1/discover': async () => {
      await rebuildListings(m.sql, m.chainId, new Date())
      return { path: '/v1/discover?intent=product&include_all=true' }
    },
    'GET /v1/agent': () => ({ path: '/v1/agent' }),
    'GET /v1/agent/{id}': () => ({ path: `/v1/agent/${reviewerAgentId}` }),
    'POST /v1/agent/register': async () => ({
      path: '/v1/agent/register',
      as: buyer,
      body: { agent_id: Number(await registerIdentity(market, buyer)) },
    }),
    'GET /v1/agent/{id}/context': () => asReviewer(`/v1/agent/${reviewerAgentId}/context`),
    'GET /v1/agent/{id}/reviewable': () => asReviewer(`/v1/agent/${buyerAgentId}/reviewable`),
    'POST /v1/votes/step1': () => ({
      path: `${VOTES}/step1`,
      as: buyer,
      body: voteBody({ agentId: buyerAgentId, escrowId: escrow.escrowId, votes: [ofShop.internalId] }),
    }),
    'POST /v1/votes/step2': async () => ({
      path: `${VOTES}/step2`,
      as: buyer,
      body: await signedBody(m, VOTES, { as: buyer, body: await newVotes() }),
    }),
    'POST /v1/cashback-rate/step1': () => ({
      path: `${CASHBACK_RATE}/step1`,
      as: reviewer,
      body: pledge(500),
    }),
    'POST /v1/cashback-rate/step2': async () => ({
      path: `${CASHBACK_RATE}/step2`,
      as: reviewer,
      body: await signedBody(m, CASHBACK_RATE, { as: reviewer, body: pledge(600) }),
    }),
    'GET /v1/agent/{id}/earnings': () => asReviewer(`/v1/agent/${reviewerAgentId}/earnings`),
    'GET /v1/agent/{id}/escrows': () => asReviewer(`/v1/agent/${reviewerAgentId}/escrows`),
    'GET /v1/escrow/{id}/status': () =>
      asReviewer(`/v1/escrow/${escrow.escrowId}/status?agent_id=${buyerAgentId}`),
    'GET /v1/review/{id}/comparison': () => ({ path: `/v1/review/${ofShop.reviewId}/comparison` }),
    'POST /v1/review/{id}/dispute': async () => ({
      ...asReviewer(`/v1/review/${await contradicted()}/dispute`),
      body: { reason: 'They bought another product.' },
    }),
    'GET /v1/escrow/{id}/decisions': () => ({ path: `/v1/escrow/${escrow.escrowId}/decisions` }),
    'GET /v1/review-rank/{id}': () => asReviewer(`/v1/review-rank/${reviewerAgentId}`),
    'GET /v1/stats/mean-rank': () => ({ path: '/v1/stats/mean-rank' }),
    'POST /v1/spending-limits': () => ({
      path: '/v1/spending-limits',
      as: reviewer,
      body: { chain_id: m.chainId, per_tx_cap_usdc: 0, daily_cap_usdc: 5_000_000, total_cap_usdc: null },
    }),
    'GET /v1/spending-limits/budget': () => asReviewer(`/v1/spending-limits/budget?chain_id=${m.chainId}`),
    'GET /v1/spending-limits': () => asReviewer(`/v1/spending-limits?chain_id=${m.chainId}`),
    'POST /v1/intents': () => ({ path: '/v1/intents', as: reviewer, body: purchase() }),
    'GET /v1/intents': () => asReviewer(`/v1/intents?agent_id=${reviewerAgentId}`),
    'DELETE /v1/intents/{id}': async () =>
      asReviewer(`/v1/intents/${(await post('/v1/intents', reviewer, purchase())).intent_id}`),
    'POST /v1/merchant/register': async () => ({
      path: '/v1/merchant/register',
      as: merchant,
      body: { merchant_id: Number(await openMerchant(market, merchant)) },
    }),
    'POST /v1/merchant/product': () => ({
      path: '/v1/merchant/product',
      as: merchant,
      body: describe(shop.product),
    }),
    'GET /v1/merchant/product': () => ({
      path: `/v1/merchant/product?${ofShopProduct}`,
    }),
    'POST /v1/merchant/product/readiness': () => ({
      path: '/v1/merchant/product/readiness',
      as: merchant,
      body: { resource: endpointUrl },
    }),
    'POST /v1/merchant/profile': () => ({
      path: '/v1/merchant/profile',
      as: merchant,
      body: { merchant_id: shop.merchantId, description: 'A shop', landing_page_url: 'https://shop.test/' },
    }),
    'GET /v1/merchant/{id}': () => ({ path: `/v1/merchant/${shop.merchantId}` }),
    'GET /v1/merchant': () => ({ path: '/v1/merchant' }),
    'GET /v1/merchant/{id}/discovery': () => ({
      path: `/v1/merchant/${shop.merchantId}/discovery?pay_to=${reviewer.address}`,
    }),
    'GET /v1/merchant/{id}/stats': () => ({
      path: `/v1/merchant/${shop.merchantId}/stats`,
      token: tokens.merchant,
    }),
    'GET /v1/activity': () => ({ path: '/v1/activity' }),
    'GET /v1/leaderboard': () => ({ path: '/v1/leaderboard' }),
    'GET /v1/product': () => ({ path: '/v1/product' }),
    'GET /v1/product/reviews': () => ({ path: `/v1/product/reviews?${ofShopProduct}` }),
    'GET /v1/product/history': () => ({ path: `/v1/product/history?${ofShopProduct}` }),
    'GET /v1/category': () => ({ path: '/v1/category' }),
    'GET /v1/agent/{id}/card': () => ({ path: `/v1/agent/${reviewerAgentId}/card` }),
    'GET /v1/agent/{id}/reviews': () => ({ path: `/v1/agent/${reviewerAgentId}/reviews` }),
    'GET /v1/agent/{id}/rank': () => ({ path: `/v1/agent/${reviewerAgentId}/rank` }),
    'GET /v1/agent/{id}/earnings/daily': () => ({ path: `/v1/agent/${reviewerAgentId}/earnings/daily` }),
    'GET /v1/escrow/{id}': () => ({ path: `/v1/escrow/${escrow.escrowId}` }),
    'GET /v1/merchant/{id}/summary': () => ({ path: `/v1/merchant/${shop.merchantId}/summary` }),
    'GET /v1/stats': () => ({ path: '/v1/stats' }),
    'GET /r/{token}': () => ({ path: new URL(refLink).pathname }),
    'POST /mpp/charge': () => ({
      path: '/mpp/charge',
      body: {
        txHash: shop.product.productId,
        attributionToken: refLink.split('/').at(-1),
        buyerAgentId: '',
        chainId: m.chainId,
        buyerSignature: `0x${'ab'.repeat(65)}`,
      },
    }),
    'POST /v1/messenger/link/start': () => asReviewer('/v1/messenger/link/start'),
    'POST /v1/messenger/link/confirm': async () => {
      const { url } = await mintForChat(m.service.context, { channel: 'telegram', chat: '1' })
      return {
        ...asReviewer('/v1/messenger/link/confirm'),
        body: { code: new URL(url).searchParams.get('code') },
      }
    },
    'POST /v1/messenger/link/status': () => asReviewer('/v1/messenger/link/status'),
    'POST /v1/messenger/link/unlink': () => asReviewer('/v1/messenger/link/unlink'),
    'GET /.well-known/referrer-agent': () => ({ path: '/.well-known/referrer-agent' }),
    'GET /.well-known/referrer-agent.txt': () => ({ path: '/.well-known/referrer-agent.txt' }),
    'GET /skill.md': () => ({ path: '/skill.md' }),
    'GET /v1/auth/nonce': () => ({ path: '/v1/auth/nonce' }),
    'POST /v1/auth/session': () => ({ ...asReviewer('/v1/auth/session'), body: { domain: 'market.test' } }),
    'DELETE /v1/auth/session': async () => ({ path: '/v1/auth/session', token: await tokenOf(buyer) }),
    'GET /v1/auth/sessions': () => ({ path: '/v1/auth/sessions', token: tokens.reviewer }),
    'DELETE /v1/auth/sessions': async () => ({ path: '/v1/auth/sessions', token: await tokenOf(buyer) }),
    'DELETE /v1/auth/sessions/{session_id}': async () => {
      const token = await tokenOf(buyer)
      await tokenOf(buyer)
      const { sessions } = await must(call('GET', '/v1/auth/sessions', { token }))
      return { path: `/v1/auth/sessions/${sessions[0].session_id}`, token }
    },
    'POST /console/session': async () => {
      const message = await signInMessage(call, buyer.address)
      const body = { message, signature: await buyer.signMessage({ message }) }
      return { path: '/console/session', headers: OWN_PAGE, body }
    },
    'GET /console/session': () => ({ path: '/console/session', headers: cookieOf(tokens.reviewer) }),
    'DELETE /console/session': async () => ({
      path: '/console/session',
      headers: cookieOf(await tokenOf(buyer)),
    }),
    'GET /console/accounts': () => ({ path: '/console/accounts', headers: OWN_PAGE }),
    'POST /console/rpc': () => ({
      path: '/console/rpc',
      headers: OWN_PAGE,
      body: { jsonrpc: '2.0', id: 1, method: 'eth_chainId' },
    }),
    'GET /v1/escrow/{id}/terms': () => ({ path: `/v1/escrow/${escrow.escrowId}/terms` }),
    'POST /v1/review/check': () => ({
      path: '/v1/review/check',
      body: {
        merchant_id: shop.merchantId,
        product_id: shop.product.productId,
        content_json: content,
      },
    }),
    'GET /v1/agent/{id}/purchases': () => ({ path: `/v1/agent/${buyerAgentId}/purchases`, as: buyer }),
    'GET /v1/wallet/purchases': () => ({ path: '/v1/wallet/purchases', as: walletBuyer }),
    'GET /v1/agent/{id}/proofs': () => asReviewer(`/v1/agent/${reviewerAgentId}/proofs`),
    'GET /v1/merchant/{id}/sales': () => ({
      path: `/v1/merchant/${shop.merchantId}/sales`,
      token: tokens.merchant,
    }),
    'GET /v1/merchant/{id}/payouts': () => ({
      path: `/v1/merchant/${shop.merchantId}/payouts`,
      token: tokens.merchant,
    }),
    'GET /v1/merchant/{id}/signers': () => ({ path: `/v1/merchant/${shop.merchantId}/signers` }),
    'POST /v1/checkout': () => ({
      path: '/v1/checkout',
      body: { token: refLink.split('/').at(-1), query: { city: 'Ghent' } },
    }),
    'GET /admin/health': () => asAdmin('/admin/health'),
    'GET /admin/agents': () => asAdmin('/admin/agents'),
    'GET /admin/disputes/{internal_id}': async () => asAdmin(`/admin/disputes/${await disputed()}`),
    'GET /admin/proofs': () => asAdmin('/admin/proofs'),
    'POST /admin/proofs/{id}/approve': async () => asAdmin(`/admin/proofs/${await newProof()}/approve`),
    'POST /admin/proofs/{id}/reject': async () => ({
      ...asAdmin(`/admin/proofs/${await newProof()}/reject`),
      body: { note: 'It cannot be read.' },
    }),
    'POST /admin/agents/{id}/flag': () => asAdmin(`/admin/agents/${buyerAgentId}/flag`),
    'POST /admin/agents/{id}/unflag': () => asAdmin(`/admin/agents/${buyerAgentId}/unflag`),
    'GET /admin/disputes': () => asAdmin('/admin/disputes'),
    'POST /admin/disputes/{internal_id}/resolve': async () => ({
      ...asAdmin(`/admin/disputes/${await disputed()}/resolve`),
      body: { note: 'The buyers meant another product.' },
    }),
    'GET /admin/checklists': () => asAdmin('/admin/checklists'),
    'PUT /admin/checklists/{category}': () => ({
      ...asAdmin('/admin/checklists/api'),
      body: { items: ['Does it answer in time?'] },
    }),
    'DELETE /admin/checklists/{category}': () => asAdmin('/admin/checklists/api'),
    'GET /admin/dead-letters': () => asAdmin('/admin/dead-letters'),
  }

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
    examples,
    async close() {
      await m.close()
      endpoint.closeAllConnections()
      endpoint.close()
      await facilitator.close()
    },
  }
}
