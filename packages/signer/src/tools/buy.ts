import { z } from 'zod'
import { decimal, idText, strangersText } from '../fields.ts'
import { buy, type Choice, estimate, type Wish } from '../jobs/buy.ts'
import type { Candidate } from '../jobs/choose.ts'
import { OrderInput, readOrder } from '../purchase/order.ts'
import { tool } from '../tool.ts'

export const buyProduct = tool({
  name: 'buy',
  title: 'Find and buy a product',
  description: `A whole purchase in one call: finds products, chooses by score and price, pays through a review's link, answers what the shop served. dry_run: choice and price only. After failures repeat the same call: the same idempotency_key never buys a second product nor pays twice. "nothing was paid": correct what is named. Next: review_purchase. ${strangersText('resource and names')}`,
  input: z.strictObject({
    want: z.string().describe('In words, such as: when does the sun set in Tokyo'),
    max_amount: decimal('USDC base units (1000000 is 1 USDC).'),
    idempotency_key: z.string().min(1).max(256).describe('Name of this one purchase.'),
    agent_id: idText('Who buys.').optional(),
    category: z.string().optional(),
    request: z
      .strictObject({ query: z.string().optional(), body: z.string().optional() })
      .optional()
      .describe('For the shop: query such as city=Tokyo, or body to post.'),
    dry_run: z.boolean().optional(),
  }),
  output: z.looseObject({ status: z.enum(['bought', 'quoted']) }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  async handle(context, { want, category, dry_run, ...given }, signal) {
    const { votes: _, refLink: __, ...order } = readOrder(OrderInput.parse({ ...given, ref_link: '' }))
    const wish: Wish = {
      ...order,
      want,
      category,
      maxAmount: BigInt(given.max_amount),
      idempotencyKey: given.idempotency_key,
    }
    if (dry_run) {
      const { amount, notes, ...choice } = await estimate(context, wish, { wanted: undefined })
      return {
        status: 'quoted' as const,
        ...shown(choice, String(amount), wish),
        next_steps: [AGAIN, ...notes],
      }
    }
    const { result, ...choice } = await buy(context, wish, { wanted: undefined, signal })
    const { escrowId, transaction, receipt } = result.outcome
    return {
      status: 'bought' as const,
      ...shown(choice, result.amount, wish),
      escrow_id: escrowId,
      tx_hash: transaction,
      payer: result.payer,
      resource: result.resource,
      ...(receipt && { receipt }),
      next_steps: [nextStep(choice.chosen, escrowId, wish.agentId), ...result.notes],
    }
  },
})

const AGAIN = 'Nothing was paid. Call again without dry_run to buy it.'

const shown = ({ chosen, alternatives, refusals }: Choice, price: string, { maxAmount }: Wish) => ({
  chosen: { ...offer(chosen), price, why: reasonOf(chosen, alternatives.length, maxAmount) },
  alternatives: alternatives.map(offer),
  refused: refusals.map(({ candidate, why }) => ({ product: productOf(candidate), why })),
})

const productOf = ({ merchantId, productId, name }: Candidate) => ({
  merchant_id: merchantId,
  product_id: productId,
  name,
})

const offer = (candidate: Candidate) => ({
  product: productOf(candidate),
  price: candidate.price,
  review_id: candidate.reviewId,
  cashback_of_commission_bps: candidate.cashbackBps,
  score: candidate.score,
})

function reasonOf({ score, match, rank, reviewScore }: Candidate, others: number, most: bigint): string {
  const [whole, parts] = [score.toFixed(3), `match ${match.toFixed(3)}, rank ${rank.toFixed(3)}`]
  const among = others === 0 ? 'the only one' : `the highest score of ${others + 1}`
  return `${among} within ${most}: ${whole} (${parts}); bought through the review with the highest score, ${reviewScore.toFixed(3)}`
}

function nextStep({ others }: Candidate, escrowId: number, agentId: string | undefined): string {
  if (agentId === undefined) {
    return `To review it and earn cashback, first call bind_escrow with escrow_id ${escrowId} and an agent that this wallet owns.`
  }
  const votes =
    others.length === 0
      ? ''
      : ` and votes for those of the reviews ${others.join(', ')} that helped (get_review)`
  return `Once the product was tried, call review_purchase with escrow_id ${escrowId}, agent_id ${agentId}, content {rating, description}${votes}.`
}
