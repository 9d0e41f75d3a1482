// For every route a request that succeeds in the traded market.
import { openMerchant, registerIdentity } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { rebuildListings } from '../../src/app/commands/rebuild-listings.ts'
import { routes } from '../../src/app/routes.ts'
import { mintForChat } from '../../src/market/messenger/operations.ts'
import { enableWebhook } from '../../src/market/webhooks/store.ts'
import { cookieOf, must, naming, OWN_PAGE, sessionOf, signInMessage } from './caller.ts'
import { CASHBACK_RATE, pledgeBody, signedBody, VOTES, voteBody } from './commitments.ts'
import { publishBuyerReview } from './escrows.ts'
import { buy } from './market.ts'
import type { Traded } from './traded.ts'

export interface Example {
  path: string
  as?: LocalAccount
  token?: string
  body?: Record<string, unknown>
  headers?: Record<string, string>
}

/** How far the clock must go on before the rate limit of a route allows another request. */
export function pauseOf(name: string): number {
  const route = routes.find(({ method, path }) => `${method} ${path}` === name)
  return 1_000 / (route?.perSecond ?? 5)
}

/** A request that succeeds. */
export async function exampleOf(m: Traded, name: string): Promise<Example> {
  const example = examplesOf(m)[name]
  if (!example) throw new Error(`no request that succeeds is known for ${name}: add one to examples.ts`)
  return example()
}

/** By route, such as `GET /v1/review/{id}`: a new request each time if it can succeed only once. */
function examplesOf(m: Traded): Record<string, () => Promise<Example> | Example> {
  const {
    market,
    call,
    shop,
    reviewerAgentId,
    buyerAgentId,
    review,
    escrowId,
    tokens,
    refLink,
    endpointUrl,
  } = m
  const { describe, proofBody, newProof, newReview, newVotes, contradicted, disputed, newRing, intentBody } =
    m
  const { merchant, reviewer, buyer, walletBuyer } = market.accounts
  const tokenOf = (account: LocalAccount) => sessionOf(call, account)
  const pledge = (bps: number) => pledgeBody({ agentId: reviewerAgentId, bps })
  const ofShopProduct = `merchant_id=${shop.merchantId}&product_id=${shop.product.productId}`
  const asReviewer = (path: string): Example => ({ path, as: reviewer })
  /** One of the wallet without an agent, which has few: a wallet may have ten. */
  const webhookOf = async (): Promise<string> => {
    const { webhooks } = await must(call('GET', '/v1/webhooks', { as: walletBuyer }))
    const made = { as: walletBuyer, body: { url: endpointUrl } }
    const { webhook_id } = webhooks[0] ?? (await must(call('POST', '/v1/webhooks', made)))
    // As a test does that is answered; the shop asks for money instead.
    await enableWebhook(m.sql, webhook_id)
    return webhook_id
  }
  const ofWebhook = async (method: string, which = ''): Promise<Example> => {
    const path = `/v1/webhooks/${await webhookOf()}${which}`
    return { path, as: walletBuyer, body: naming(method, path) }
  }
  const asAdmin = (path: string): Example => ({ path, token: tokens.admin })
  return {
    'GET /v1/review': () => ({ path: '/v1/review' }),
    'GET /v1/review/{id}': () => ({ path: `/v1/review/${review.reviewId}` }),
    'GET /v1/review-internal/{id}': () => ({ path: `/v1/review-internal/${review.internalId}` }),
    'POST /v1/review/register': async () => ({
      path: '/v1/review/register',
      as: reviewer,
      body: { review_id: await newReview(), escrow_id: 0, content_json: review.content },
    }),
    'POST /v1/proof': () => ({
      path: '/v1/proof',
      as: reviewer,
      body: proofBody(),
    }),
    'GET /v1/proof/{id}': async () => asReviewer(`/v1/proof/${await newProof()}?agent_id=${reviewerAgentId}`),
    'GET /v1/discover': async () => {
      await rebuildListings(m.sql, m.chainId, new Date())
      return { path: '/v1/discover?intent=product&include_all=true&explain=true' }
    },
    'GET /discovery/resources': async () => {
      await rebuildListings(m.sql, m.chainId, new Date())
      return { path: '/discovery/resources?type=http' }
    },
    'GET /discovery/search': async () => {
      await rebuildListings(m.sql, m.chainId, new Date())
      return { path: '/discovery/search?query=product' }
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
      body: voteBody({ agentId: buyerAgentId, escrowId: escrowId, votes: [review.internalId] }),
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
    'GET /v1/agent/{id}/feedback': () => ({ path: `/v1/agent/${reviewerAgentId}/feedback` }),
    'GET /v1/merchant/{id}/feedback': () => ({ path: `/v1/merchant/${shop.merchantId}/feedback` }),
    'GET /v1/review/{id}/feedback': async () => {
      const deposit = await buy(m, buyer, {
        product: shop.product,
        reviewId: BigInt(review.reviewId),
        reviewerAgentId: BigInt(reviewerAgentId),
        buyerAgentId: BigInt(buyerAgentId),
      })
      const body = await publishBuyerReview(m, buyer, deposit)
      await m.indexed()
      await must(call('POST', '/v1/review/register', { as: buyer, body }))
      return { path: `/v1/review/${body.review_id}/feedback` }
    },
    'GET /v1/escrow/{id}/status': () => asReviewer(`/v1/escrow/${escrowId}/status?agent_id=${buyerAgentId}`),
    'GET /v1/review/{id}/comparison': () => ({ path: `/v1/review/${review.reviewId}/comparison` }),
    'POST /v1/review/{id}/dispute': async () => ({
      ...asReviewer(`/v1/review/${await contradicted()}/dispute`),
      body: { reason: 'They bought another product.' },
    }),
    'GET /v1/escrow/{id}/decisions': () => ({ path: `/v1/escrow/${escrowId}/decisions` }),
    'GET /v1/review-rank/{id}': () => asReviewer(`/v1/review-rank/${reviewerAgentId}`),
    'GET /v1/stats/mean-rank': () => ({ path: '/v1/stats/mean-rank' }),
    'GET /v1/standing': () => ({ path: '/v1/standing' }),
    'GET /v1/standing/owner/{address}': () => ({ path: `/v1/standing/owner/${buyer.address}` }),
    'GET /v1/standing/shop/{merchant_id}': () => ({ path: `/v1/standing/shop/${shop.merchantId}` }),
    'GET /v1/standing/owners': () => ({ path: '/v1/standing/owners' }),
    'GET /v1/standing/shops': () => ({ path: '/v1/standing/shops' }),
    'GET /v1/standing/spending': () => ({ path: '/v1/standing/spending' }),
    'POST /v1/spending-limits': () => ({
      path: '/v1/spending-limits',
      as: reviewer,
      body: { chain_id: m.chainId, per_tx_cap_usdc: 0, daily_cap_usdc: 5_000_000, total_cap_usdc: null },
    }),
    'GET /v1/spending-limits/budget': () => asReviewer(`/v1/spending-limits/budget?chain_id=${m.chainId}`),
    'GET /v1/spending-limits': () => asReviewer(`/v1/spending-limits?chain_id=${m.chainId}`),
    'POST /v1/intents': () => ({ path: '/v1/intents', as: reviewer, body: intentBody() }),
    'GET /v1/intents': () => asReviewer(`/v1/intents?agent_id=${reviewerAgentId}`),
    'DELETE /v1/intents/{id}': async () => {
      const { intent_id } = await must(call('POST', '/v1/intents', { as: reviewer, body: intentBody() }))
      const path = `/v1/intents/${intent_id}`
      return { path, as: reviewer, body: naming('DELETE', path) }
    },
    'POST /v1/webhooks': () => ({ path: '/v1/webhooks', as: buyer, body: { url: endpointUrl } }),
    'GET /v1/webhooks': () => ({ path: '/v1/webhooks', as: buyer }),
    'DELETE /v1/webhooks/{id}': () => ofWebhook('DELETE'),
    'GET /v1/webhooks/{id}/deliveries': async () => ({
      path: `/v1/webhooks/${await webhookOf()}/deliveries?limit=5&offset=1`,
      as: walletBuyer,
    }),
    'POST /v1/webhooks/{id}/replay': async () => ({
      path: `/v1/webhooks/${await webhookOf()}/replay`,
      as: walletBuyer,
      body: { since: '2020-01-01T00:00:00Z' },
    }),
    'POST /v1/webhooks/{id}/test': () => ofWebhook('POST', '/test'),
    'POST /v1/webhooks/{id}/rotate': () => ofWebhook('POST', '/rotate'),
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
    'GET /v1/activity/reviews': () => ({ path: '/v1/activity/reviews' }),
    'GET /v1/leaderboard': () => ({ path: '/v1/leaderboard' }),
    'GET /v1/product': () => ({ path: '/v1/product' }),
    'GET /v1/product/reviews': () => ({ path: `/v1/product/reviews?${ofShopProduct}` }),
    'GET /v1/product/history': () => ({ path: `/v1/product/history?${ofShopProduct}` }),
    'GET /v1/category': () => ({ path: '/v1/category' }),
    'GET /v1/agent/{id}/card': () => ({ path: `/v1/agent/${reviewerAgentId}/card` }),
    'GET /v1/agent/{id}/reviews': () => ({ path: `/v1/agent/${reviewerAgentId}/reviews` }),
    'GET /v1/agent/{id}/rank': () => ({ path: `/v1/agent/${reviewerAgentId}/rank` }),
    'GET /v1/agent/{id}/earnings/daily': () => ({ path: `/v1/agent/${reviewerAgentId}/earnings/daily` }),
    'GET /v1/escrow/{id}': () => ({ path: `/v1/escrow/${escrowId}` }),
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
    'GET /.well-known/agent-card.json': () => ({ path: '/.well-known/agent-card.json' }),
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
    'GET /v1/escrow/{id}/terms': () => ({ path: `/v1/escrow/${escrowId}/terms` }),
    'POST /v1/review/check': () => ({
      path: '/v1/review/check',
      body: {
        merchant_id: shop.merchantId,
        product_id: shop.product.productId,
        content_json: review.content,
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
    'GET /admin/shops': () => asAdmin('/admin/shops'),
    'POST /admin/shops/{merchant_id}/verify': () => ({
      ...asAdmin(`/admin/shops/${shop.merchantId}/verify`),
      body: { note: 'Sells what it says' },
    }),
    'POST /admin/shops/{merchant_id}/withdraw': () => ({
      ...asAdmin(`/admin/shops/${shop.merchantId}/withdraw`),
      body: { note: 'It has closed' },
    }),
    'GET /v1/standing/verifications': () => ({ path: '/v1/standing/verifications' }),
    'GET /admin/rings': () => asAdmin('/admin/rings'),
    'GET /admin/rings/{ring_id}': async () => asAdmin(`/admin/rings/${await newRing()}`),
    'GET /admin/rings/{ring_id}/votes': async () => asAdmin(`/admin/rings/${await newRing()}/votes`),
    'POST /admin/rings/{ring_id}/dismiss': async () => ({
      ...asAdmin(`/admin/rings/${await newRing()}/dismiss`),
      body: { note: 'They are a family' },
    }),
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
}
