// Requests to tools and their routes, in a market with at least one record of every kind.
import { expect } from 'vitest'
import type { Traded } from '../http/traded.ts'

const OTHER_CHAIN = 1_337
const NOBODY = 99_999_999

type Args = Record<string, unknown>

export interface World extends Traded {
  /** The link of a review of the shop's product. */
  refLink: string
  /** The shop's endpoint. */
  endpoint: string
}

/** The arguments that submit a proof of the reviewer. */
export const proofOf = (m: World, change: Args = {}): Args => ({
  agent_id: m.reviewerAgentId,
  merchant_id: m.shop.merchantId,
  product_id: m.shop.product.productId,
  proof_data: { receipt: 'a' },
  ...change,
})

/**
 * A tool, its arguments, the route that it mirrors, and the part of the answer that proves there is something to
 * compare.
 */
type Mirror = [
  title: string,
  tool: string,
  (m: World) => Args,
  (m: World) => [path: string, body?: object],
  shows: object,
]

const some = expect.arrayContaining([expect.anything()])

export const MIRRORS: Mirror[] = [
  [
    'the digest of an agent',
    'get_agent_context',
    (m) => ({ agent_id: m.reviewerAgentId }),
    (m) => [`/v1/agent/${m.reviewerAgentId}/context`],
    { registered: true, recent_reviews: some },
  ],
  [
    'the digest with fewer reviews',
    'get_agent_context',
    (m) => ({ agent_id: m.reviewerAgentId, recent_limit: 1 }),
    (m) => [`/v1/agent/${m.reviewerAgentId}/context?recent_limit=1`],
    { recent_reviews: [expect.anything()] },
  ],
  [
    'the digest of another chain',
    'get_agent_context',
    (m) => ({ agent_id: m.reviewerAgentId, chain_id: OTHER_CHAIN }),
    (m) => [`/v1/agent/${m.reviewerAgentId}/context?chain_id=${OTHER_CHAIN}`],
    { registered: false, chain_id: OTHER_CHAIN },
  ],
  [
    'what an agent could review',
    'get_reviewable_products',
    (m) => ({ agent_id: m.buyerAgentId, category: 'books', limit: 1 }),
    (m) => [`/v1/agent/${m.buyerAgentId}/reviewable?category=books&limit=1`],
    { products: some },
  ],
  [
    'what an agent bought and has not reviewed',
    'get_reviewable_products',
    (m) => ({ agent_id: m.buyerAgentId, needs_review: true }),
    (m) => [`/v1/agent/${m.buyerAgentId}/reviewable?needs_review=true`],
    { products: [expect.objectContaining({ escrow_id: expect.any(Number) })] },
  ],
  [
    'what an agent earned',
    'get_earnings',
    (m) => ({ agent_id: m.reviewerAgentId }),
    (m) => [`/v1/agent/${m.reviewerAgentId}/earnings`],
    { commission: { immediate: expect.toSatisfy((amount) => amount > 0) } },
  ],
  [
    'what an agent earned in a period',
    'get_earnings',
    (m) => ({ agent_id: m.reviewerAgentId, from: '2001-01-01T00:00:00Z', to: '2001-02-01T00:00:00+02:00' }),
    (m) => [
      `/v1/agent/${m.reviewerAgentId}/earnings?from=2001-01-01T00:00:00Z&to=2001-02-01T00:00:00%2B02:00`,
    ],
    { commission: { immediate: 0 } },
  ],
  [
    'the escrows of a reviewer',
    'list_escrows',
    (m) => ({ agent_id: m.reviewerAgentId }),
    (m) => [`/v1/agent/${m.reviewerAgentId}/escrows`],
    { escrows: [expect.anything(), expect.anything()] },
  ],
  [
    'a page of escrows',
    'list_escrows',
    (m) => ({ agent_id: m.reviewerAgentId, limit: 1, offset: 1 }),
    (m) => [`/v1/agent/${m.reviewerAgentId}/escrows?limit=1&offset=1`],
    { escrows: [expect.anything()] },
  ],
  [
    'one escrow, as its buyer sees it',
    'get_escrow_status',
    (m) => ({ agent_id: m.buyerAgentId, escrow_id: m.escrowId }),
    (m) => [`/v1/escrow/${m.escrowId}/status?agent_id=${m.buyerAgentId}`],
    { role: 'buyer', state: 'holding' },
  ],
  [
    'the rank of an agent',
    'get_review_rank',
    (m) => ({ agent_id: m.reviewerAgentId }),
    (m) => [`/v1/review-rank/${m.reviewerAgentId}`],
    { repeat: expect.anything(), one_off: expect.anything() },
  ],
  [
    'what became of a proof',
    'get_proof_status',
    (m) => ({ agent_id: m.reviewerAgentId, proof_id: m.proofId }),
    (m) => [`/v1/proof/${m.proofId}?agent_id=${m.reviewerAgentId}`],
    { status: 'pending' },
  ],
  [
    'an agent',
    'get_agent',
    (m) => ({ agent_id: m.reviewerAgentId }),
    (m) => [`/v1/agent/${m.reviewerAgentId}`],
    { agent_id: expect.any(Number) },
  ],
  [
    'a merchant',
    'get_merchant',
    (m) => ({ merchant_id: m.shop.merchantId }),
    (m) => [`/v1/merchant/${m.shop.merchantId}`],
    { merchant_id: expect.any(Number) },
  ],
  [
    'a product',
    'get_merchant_product',
    (m) => ({ merchant_id: m.shop.merchantId, product_id: m.shop.product.productId.slice(2) }),
    (m) => [`/v1/merchant/product?merchant_id=${m.shop.merchantId}&product_id=${m.shop.product.productId}`],
    { name: 'A product' },
  ],
  [
    'feedback',
    'get_feedback',
    (m) => ({ agent_id: m.shop.merchantId }),
    (m) => [`/v1/agent/${m.shop.merchantId}/feedback`],
    { feedback: [], given: 0 },
  ],
  [
    'whether an endpoint can sell',
    'check_readiness',
    (m) => ({ resource: m.endpoint }),
    (m) => ['/v1/merchant/product/readiness', { resource: m.endpoint }],
    { pass: false, checks: some },
  ],
  [
    'where a link leads',
    'resolve_ref_link',
    (m) => ({ ref_link: m.refLink }),
    (m) => [new URL(m.refLink).pathname],
    { merchant_endpoint: expect.any(String) },
  ],
  [
    'where the token of a link leads',
    'resolve_ref_link',
    (m) => ({ ref_link: m.refLink.split('/').at(-1) }),
    (m) => [new URL(m.refLink).pathname],
    { merchant_endpoint: expect.any(String) },
  ],
  [
    'products for a need',
    'discover_products',
    () => ({ intent: 'product', include_all: true, max_products: 1 }),
    () => ['/v1/discover?intent=product&include_all=true&max_products=1'],
    { products: [expect.objectContaining({ reviews: some })] },
  ],
  [
    'products for a need, explained',
    'discover_products',
    () => ({ intent: 'product', explain: true, max_products: 1 }),
    () => ['/v1/discover?intent=product&explain=true&max_products=1'],
    { products: [expect.objectContaining({ explain: expect.anything() })], explain: expect.anything() },
  ],
  [
    'a page of all reviews',
    'list_reviews',
    () => ({ page: 1, limit: 1 }),
    () => ['/v1/review?page=1&limit=1'],
    { reviews: [expect.anything()] },
  ],
  [
    'the reviews of a product',
    'list_reviews',
    (m) => ({ merchant_id: m.shop.merchantId, product_id: m.shop.product.productId }),
    (m) => [`/v1/review?merchant_id=${m.shop.merchantId}&product_id=${m.shop.product.productId}`],
    { reviews: some },
  ],
  [
    'a review by the id of its record',
    'get_review',
    (m) => ({ internal_id: m.review.internalId }),
    (m) => [`/v1/review-internal/${m.review.internalId}`],
    { status: 'published' },
  ],
]

/** A refused call, its text, and the refusal of the route. A status alone: with the same text as the tool. */
type Refused = [
  text: string,
  tool: string,
  (m: World) => Args,
  (m: World) => [path: string, body?: object],
  status: number,
  routeText?: string,
]

export const REFUSED: Refused[] = [
  [
    'escrow_id is required: invalid input [MCP-97, MCP-102]',
    'get_escrow_status',
    (m) => ({ agent_id: m.buyerAgentId, escrow_id: 0 }),
    (m) => [`/v1/escrow/0/status?agent_id=${m.buyerAgentId}`],
    400,
  ],
  [
    `escrow ${NOBODY} of agent 2 not found: not found [MCP-97, MCP-102]`,
    'get_escrow_status',
    () => ({ agent_id: 2, escrow_id: NOBODY }),
    () => [`/v1/escrow/${NOBODY}/status?agent_id=2`],
    404,
    'not found',
  ],
  [
    'invalid from: must be RFC3339: invalid input [MCP-95, MCP-102]',
    'get_earnings',
    () => ({ agent_id: 1, from: 'yesterday' }),
    () => ['/v1/agent/1/earnings?from=yesterday'],
    400,
  ],
  [
    `proof with proof_id ${NOBODY} not found: not found [PROOF-49, MCP-91, MCP-102]`,
    'get_proof_status',
    (m) => ({ agent_id: m.reviewerAgentId, proof_id: NOBODY }),
    (m) => [`/v1/proof/${NOBODY}?agent_id=${m.reviewerAgentId}`],
    404,
    'not found',
  ],
  [
    'proof_data is required: invalid input [MCP-90, MCP-102]',
    'submit_proof',
    (m) => proofOf(m, { proof_data: {} }),
    (m) => ['/v1/proof', proofOf(m, { proof_data: {} })],
    400,
  ],
  [
    'proof_data too large: must be <= 1048576 bytes: invalid input [MCP-90]',
    'submit_proof',
    (m) => proofOf(m, { proof_data: { a: 'x'.repeat(1_048_576) } }),
    (m) => ['/v1/proof', proofOf(m, { proof_data: { a: 'x'.repeat(1_048_576) } })],
    400,
  ],
  [
    'invalid product_id: must be 32-byte hex (got 2 bytes): invalid input [MCP-90]',
    'submit_proof',
    (m) => proofOf(m, { product_id: '0xabcd' }),
    (m) => ['/v1/proof', proofOf(m, { product_id: '0xabcd' })],
    400,
  ],
  [
    `agent ${NOBODY} not found on-chain [PROOF-47]`,
    'submit_proof',
    (m) => proofOf(m, { agent_id: NOBODY }),
    (m) => ['/v1/proof', proofOf(m, { agent_id: NOBODY })],
    404,
    'agent not found on-chain',
  ],
  [
    `agent ${NOBODY} not found: not found [MCP-102]`,
    'get_agent',
    () => ({ agent_id: NOBODY }),
    () => [`/v1/agent/${NOBODY}`],
    404,
    'agent not found',
  ],
  ['invalid token', 'resolve_ref_link', () => ({ ref_link: 'nonsense' }), () => ['/r/nonsense'], 400],
  [
    'intent is required: invalid input',
    'discover_products',
    () => ({ intent: '' }),
    () => ['/v1/discover?intent='],
    400,
    'intent is required',
  ],
  [
    'chain_id not configured',
    'get_review_rank',
    () => ({ agent_id: 1, chain_id: 5 }),
    () => ['/v1/review-rank/1?chain_id=5'],
    400,
  ],
  [
    'invalid chain_id',
    'get_review_rank',
    () => ({ agent_id: 1, chain_id: 'main' }),
    () => ['/v1/review-rank/1?chain_id=main'],
    400,
  ],
]
