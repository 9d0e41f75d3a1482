import { z } from 'zod'
import { strangersText, USDC_UNITS, whole } from '../fields.ts'
import { OrderInput, readOrder } from '../purchase/order.ts'
import { type Paid, pay } from '../purchase/pay.ts'
import { Receipt } from '../purchase/receipt.ts'
import { Resource, resourceOf } from '../purchase/resource.ts'
import { tool } from '../tool.ts'

export const payForProduct = tool({
  name: 'pay_for_product',
  title: 'Buy a product through a ref link',
  description: `Buys through a ref_link (from discover_products, list_reviews or an intent): asks the shop for its price, checks everything, pays in USDC and returns what the shop served. Set max_amount and an idempotency_key: the same key never pays twice, so call again with it after a time-out. With agent_id the agent can review and earn cashback; without it the wallet buys for itself (bind_escrow names an agent later). May take a minute. Errors say where the money is and when it is safe to try again. Next: cast_review_votes (marketplace), and once tried publish_escrow_review; next_steps has the arguments. ${strangersText('resource, and in quotes after "the shop says",')}`,
  details: `The price is only known when the shop is asked. The wallet needs USDC and no ETH, and the price must be within the limits of this signer (get_wallet_status tells them) and the caps that the owner of the wallet and of the agent set at the marketplace. Let the call run.

Errors: "nothing was paid": correct what is named and call again. "phase 1: expected 402, got N": the shop does not sell there. "phase 2: expected 200, got N" and other failures after paying tell whether the payment went through, and from when on it is safe to try again; calling earlier is refused. "not settled on the terms of the ref link": it is paid, and the escrow names another reviewer, review, buyer, commission or cashback than the link: tell the owner. "already paid": the purchase exists, with its escrow. votes_error: the purchase is paid, only the votes failed: cast them with cast_review_votes.`,
  input: OrderInput,
  output: z.object({
    escrow_id: z.int(),
    tx_hash: z.string(),
    amount: z.int().describe(`What was paid, in ${USDC_UNITS}.`),
    payer: z.string(),
    merchant_id: z.int(),
    product_id: z.string(),
    votes_recorded: z.int(),
    votes_error: z.string().nullable(),
    resource: Resource.describe('What the shop served.'),
    receipt: Receipt.optional().describe('What the shop signed for it (x402 offer-receipt).'),
    next_steps: z.array(z.string()),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handle(context, input, signal) {
    const order = readOrder(input)
    const paid = await pay(context, order, { wanted: input.chain_id, signal })
    return {
      escrow_id: paid.money.escrowId,
      tx_hash: paid.money.transaction,
      amount: whole(paid.amount, 'amount'),
      payer: paid.payer,
      merchant_id: paid.link.terms.merchantId,
      product_id: paid.link.terms.productId,
      votes_recorded: paid.votes_recorded,
      votes_error: paid.votes_error,
      resource: resourceOf(paid.answer),
      ...(paid.money.receipt && { receipt: paid.money.receipt }),
      next_steps: nextSteps(paid, order.agentId),
    }
  },
})

function nextSteps(
  { money: { escrowId }, link, votes_recorded, votes_error, notes }: Paid,
  agentId: string | undefined,
): string[] {
  const { merchantId, productId } = link.terms
  const review = `Once the product was tried, call publish_escrow_review with merchant_id ${merchantId}, product_id ${productId}, escrow_id ${escrowId} and your content_json, then register_purchase_review of the marketplace with the review_id it returns, escrow_id ${escrowId} and the same content_json.`
  if (agentId === undefined) {
    return [
      `To review it and earn cashback, first call bind_escrow with escrow_id ${escrowId} and an agent that this wallet owns.`,
      review,
      ...notes,
    ]
  }
  const votes = `Call cast_review_votes of the marketplace with agent_id ${agentId} and escrow_id ${escrowId} for the reviews that helped${votes_error ? '; the votes of this call were not recorded' : ''}. It works once, and may be needed before your review counts.`
  return [...(votes_recorded > 0 ? [] : [votes]), review, ...notes]
}
