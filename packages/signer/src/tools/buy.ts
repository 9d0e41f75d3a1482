import { z } from 'zod'
import { decimal, idText, strangersText } from '../fields.ts'
import { buy, type Choice, estimate, type Wish } from '../jobs/buy.ts'
import type { Candidate } from '../jobs/choose.ts'
import { OrderInput, readOrder } from '../purchase/order.ts'
import { tool } from '../tool.ts'

const Request = OrderInput.shape.request.unwrap()

export const buyProduct = tool({
  name: 'buy',
  title: 'Find and buy a product',
  description: `A whole purchase in one call: finds products, chooses by rank and price, pays through a review's link, returns what the shop served. dry_run: choice and price only. After a failure repeat the same call: with one idempotency_key it never buys a second product nor pays twice. "nothing was paid": correct what is named. To choose yourself: discover_products, pay_for_product. Next: review_purchase. ${strangersText('resource and names')}`,
  input: z.strictObject({
    want: z.string().min(1).max(1_000).describe('In words, such as: when does the sun set in Tokyo'),
    max_amount: decimal('The most to pay, in USDC base units (1000000 is 1 USDC).'),
    idempotency_key: Request.shape.query.unwrap().min(1).max(256).describe('Name of this one purchase.'),
    agent_id: idText('Who buys; needed to review it.').optional(),
    category: z.string().optional(),
    request: Request.optional().describe(
      'What the shop is asked: query such as city=Tokyo, or body to post.',
    ),
    dry_run: z.boolean().optional(),
  }),
  output: z.looseObject({ status: z.enum(['bought', 'quoted']), escrow_id: z.int().optional() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  async handle(context, { want, category, dry_run, ...order }, signal) {
    return {} as never
  },
})
