// What the marketplace knows of a purchase that is to be reviewed.
import { z } from 'zod'
import { type Ask, retried, withBackend } from '../backend.ts'
import type { Context } from '../context.ts'
import { Refused } from '../refused.ts'

/** A purchase of an agent. */
export interface Purchase {
  chainId: number
  agentId: string
  escrowId: number
}

/** What was bought. */
export interface Item {
  merchantId: number
  productId: string
  /** The review whose link was paid, by its id on the chain. */
  reviewId: number
}

const Escrow = z.object({
  window_end: z.string(),
  cashback: z.object({ amount: z.int(), status: z.string(), action_needed: z.string().optional() }),
})
export type Cashback = z.output<typeof Escrow>['cashback']

const Review = z.looseObject({
  internal_id: z.int(),
  on_chain_id: z.int().nullable(),
  agent_id: z.int(),
  content_json: z.unknown(),
  published_at: z.string().nullable(),
})
const Reviews = z.object({ reviews: z.array(Review) })

export interface Situation {
  /** RFC 3339. */
  windowEnd: string
  cashback: Cashback
  /** Null when it has closed since; it can still be reviewed. */
  product: Record<string, unknown> | null
  /** What the category asks for besides rating and description. */
  contentNeeds: unknown
  /** Reviews by others that may be voted for, newest first. */
  others: z.output<typeof Review>[]
}

export function readSituation(context: Context, purchase: Purchase, item: Item): Promise<Situation> {
  const product = { merchant_id: item.merchantId, product_id: item.productId, chain_id: purchase.chainId }
  return readable(() =>
    withBackend(context, async (ask) => {
      const { window_end: windowEnd, cashback } = await readEscrow(context, ask, purchase)
      return {
        windowEnd,
        cashback,
        product: await ask('get_merchant_product', product).catch(() => null),
        contentNeeds: await contentNeeds(ask, product),
        others: Reviews.parse(await ask('list_reviews', product)).reviews.filter(
          ({ on_chain_id, agent_id }) =>
            on_chain_id !== item.reviewId && String(agent_id) !== purchase.agentId,
        ),
      }
    }),
  )
}

/** What became of the buyer's cashback so far. */
export const readCashback = (context: Context, purchase: Purchase): Promise<Cashback> =>
  readable(() => withBackend(context, async (ask) => (await readEscrow(context, ask, purchase)).cashback))

async function readEscrow(context: Context, ask: Ask, { chainId, agentId, escrowId }: Purchase) {
  const asked = { agent_id: agentId, escrow_id: escrowId, chain_id: chainId }
  return Escrow.parse(await retried(context, /not found/, () => ask('get_escrow_status', asked)))
}

/** It is told with the refusal of an empty text. */
async function contentNeeds(ask: Ask, product: Record<string, unknown>): Promise<unknown> {
  const { content_needs } = await ask('check_review_content', { ...product, content_json: '{}' })
  return content_needs ?? null
}

const readable = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    if (error instanceof z.ZodError) throw new Refused('the answer of the marketplace cannot be read')
    throw error
  })
