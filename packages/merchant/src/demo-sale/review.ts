// A review of the product, published as any reviewer's first one: on a proof that the admin approves.
import { createReferrerClient } from '@referrer/client'
import type { Hex, LocalAccount, TypedDataDefinition } from 'viem'
import { type Shop, ShopError } from '../shop/index.ts'
import { type Agent, approveProof } from './people.ts'

export interface Published {
  reviewId: number
  refLink: string
}

interface Product {
  merchantId: number
  productId: Hex
}

const TRY_MS = 250
const MOST_TRIES = 240

export async function publishReview(
  shop: Shop,
  { account, agentId }: Agent,
  { merchantId, productId }: Product,
  content: string,
): Promise<Published> {
  const { marketUrl, mcpUrl } = shop.deployment
  const product = { merchant_id: merchantId, product_id: productId }
  await requireContent(mcpUrl, { ...product, content_json: content })
  const market = createReferrerClient({ url: marketUrl, account })
  const { proof_id } = await market.post('/v1/proof', {
    body: { agent_id: agentId, ...product, proof_data: { note: 'A try-out of the demo sale.' } },
  })
  await approveProof(shop, proof_id)
  const submission = { agent_id: agentId, proof_id, content_json: content }
  const internalId = await submitReview(mcpUrl, account, submission)
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const review = await market.get('/v1/review-internal/{id}', { params: { path: { id: internalId } } })
    if (review.on_chain_id && review.ref_link)
      return { reviewId: review.on_chain_id, refLink: review.ref_link }
    await new Promise((resolve) => setTimeout(resolve, TRY_MS))
  }
  throw new ShopError('the review was not published within a minute: look at the log of the sandbox')
}

/** Some categories ask for measurements. */
async function requireContent(mcpUrl: string, review: { content_json: string }): Promise<void> {
  const { valid, problem } = await callTool<{ valid: boolean; problem?: string }>(
    mcpUrl,
    'check_review_content',
    review,
  )
  if (valid) return
  throw new ShopError(
    `the product's category takes no such review (${problem}): pass one with --review '{"rating": 5, …}'`,
  )
}

/** The owner of the agent signs the commitment of the first call. Returns the id of the record. */
async function submitReview(
  mcpUrl: string,
  account: LocalAccount,
  submission: { agent_id: number; proof_id: number; content_json: string },
): Promise<number> {
  type Step1 = { commitment: TypedDataDefinition; nonce: string; expiry: number }
  const { commitment, nonce, expiry } = await callTool<Step1>(mcpUrl, 'submit_review', submission)
  const agent_sig = await account.signTypedData(commitment)
  const signed = { ...submission, nonce, expiry, agent_sig }
  const { review_id } = await callTool<{ review_id: number }>(mcpUrl, 'submit_review', signed)
  return review_id
}

/** Publishing on a proof is a tool of the market and no route. */
async function callTool<T>(mcpUrl: string, name: string, args: object): Promise<T> {
  const response = await fetch(mcpUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  const { result, error } = (await response.json()) as {
    result?: { isError?: boolean; content: { text: string }[]; structuredContent: T }
    error?: { message: string }
  }
  if (!result || result.isError) {
    throw new ShopError(`the market refused ${name}: ${error?.message ?? result?.content[0]?.text}`)
  }
  return result.structuredContent
}
