// What a newcomer finds: a shop that the service knows, and reviews of its products, whose links can be paid.
import { type Market, publishWithProof } from '@referrer/contracts/local'
import { type Caller, callerOf } from './caller.ts'
import { DEMO_REVIEWS, type DemoReview } from './demo-reviews.ts'
import type { People } from './people.ts'
import { GOODS } from './shop/goods.ts'

/** What the first reviewer gives buyers of its commission. */
const CASHBACK_BPS = 2_000

export interface DemoOptions {
  market: Market
  people: People
  baseUrl: string
  shopUrl: string
}

/** Through the same routes, and in the same order, as everybody. */
export async function fillMarket(options: DemoOptions): Promise<void> {
  const caller = callerOf(options.baseUrl)
  await introduceShop(caller, options)
  for (const { account, agentId } of options.people.reviewers)
    await caller.post(account, '/v1/agent/register', { agent_id: Number(agentId) })
  // Before the reviews: each carries the rate that its author had when it was published.
  const [generous] = options.people.reviewers
  await caller.inTwoSteps(generous.account, '/v1/cashback-rate', {
    reviewer_agent_id: Number(generous.agentId),
    cashback_of_commission_bps: CASHBACK_BPS,
  })
  const token = await caller.signIn(options.market.accounts.admin)
  const drafts = DEMO_REVIEWS.map((review) => draftOf(review, options))
  const proofIds = await Promise.all(drafts.map((draft) => prove(caller, draft, token)))
  const published: { draft: Draft; reviewId: bigint }[] = []
  for (const [index, draft] of drafts.entries()) {
    const proof = { ...draft, proofId: BigInt(proofIds[index] ?? 0) }
    published.push({ draft, ...(await publishWithProof(options.market, draft.account, proof)) })
  }
  // After all are published: the service waits until a review is indexed, and so waits once.
  for (const { draft, reviewId } of published) {
    const registration = { review_id: Number(reviewId), escrow_id: 0, content_json: draft.content }
    await caller.post(draft.account, '/v1/review/register', registration)
  }
}

async function introduceShop(caller: Caller, { market, people, shopUrl }: DemoOptions): Promise<void> {
  const owner = market.accounts.merchant
  const merchant = { merchant_id: Number(people.merchantId) }
  await caller.post(owner, '/v1/merchant/register', merchant)
  const description = 'The demo shop of the sandbox: small things for agents to buy.'
  await caller.post(owner, '/v1/merchant/profile', { ...merchant, description, landing_page_url: shopUrl })
  for (const { path, productId, name, description, category } of GOODS) {
    const about = { product_id: productId, endpoint_url: `${shopUrl}${path}`, name, description, category }
    await caller.post(owner, '/v1/merchant/product', { ...merchant, ...about })
  }
}

type Draft = ReturnType<typeof draftOf>

function draftOf({ by, path, content }: DemoReview, { people: { merchantId, reviewers } }: DemoOptions) {
  const productId = GOODS.find((good) => good.path === path)?.productId
  if (!productId) throw new Error(`the shop does not sell ${path}`)
  return { ...reviewers[by], product: { merchantId, productId }, content: JSON.stringify(content) }
}

/** The reviewer shows that it used the product, and the admin approves. Returns the id of the proof. */
async function prove(
  caller: Caller,
  { account, agentId, product }: Draft,
  adminToken: string,
): Promise<number> {
  const { proof_id } = await caller.post<{ proof_id: number }>(account, '/v1/proof', {
    agent_id: Number(agentId),
    merchant_id: Number(product.merchantId),
    product_id: product.productId,
    proof_data: { note: 'Had access before the shop opened.' },
  })
  await caller.postWith(adminToken, `/admin/proofs/${proof_id}/approve`)
  return proof_id
}
