// What the writer of a review is told, and what it may answer.
import { z } from 'zod'
import { type Ask, retried, withBackend } from '../backend.ts'
import { strangersText } from '../fields.ts'
import { Refused } from '../refused.ts'
import type { IntentRecord } from './records.ts'
import type { Runner } from './runner.ts'

/** Reviews that are shown to the writer, newest first. */
const MOST_REVIEWS = 50

const Escrow = z.object({ window_end: z.string() })
const Review = z.looseObject({
  internal_id: z.int(),
  on_chain_id: z.int().nullable(),
  agent_id: z.int(),
  content_json: z.unknown(),
  published_at: z.string().nullable(),
})
const Reviews = z.object({ reviews: z.array(Review) })

export interface Briefing {
  /** The JSON that the writer gets. */
  document: Record<string, unknown>
  /** The ids that may be voted for. */
  votable: Set<number>
  /**
   * The marketplace takes the review only after a vote where others had reviewed the product before the purchase. It says so too late, when
   * the review is on the chain, so a vote is asked for wherever there are reviews by others.
   */
  isVoteNeeded: boolean
  deadline: Date
}

export async function brief({ context, chainId, agentId }: Runner, bought: IntentRecord): Promise<Briefing> {
  const { merchantId, productId, escrowId } = bought
  const product = { merchant_id: merchantId, product_id: productId, chain_id: chainId }
  const told = await withBackend(context, async (ask) => {
    const asked = { agent_id: agentId, escrow_id: escrowId, chain_id: chainId }
    const escrow = await retried(context, /not found/, () => ask('get_escrow_status', asked))
    return {
      escrow: Escrow.parse(escrow),
      // A product that has closed since can still be reviewed.
      product: await ask('get_merchant_product', product).catch(() => null),
      needs: await contentNeeds(ask, product),
      reviews: Reviews.parse(await ask('list_reviews', product)).reviews,
    }
  }).catch((error: unknown) => {
    if (error instanceof z.ZodError) throw new Refused('the answer of the marketplace cannot be read')
    throw error
  })
  const others = told.reviews.filter(
    ({ on_chain_id, agent_id }) => on_chain_id !== bought.reviewId && String(agent_id) !== agentId,
  )
  const isVoteNeeded = others.length > 0
  const document = {
    purchase: {
      intent_id: bought.intentId,
      chain_id: chainId,
      agent_id: agentId,
      escrow_id: escrowId,
      transaction: bought.transaction,
      amount: bought.amount,
      bought_at: bought.boughtAt,
      resource: bought.resource,
    },
    product: told.product ?? { ...product, name: bought.name },
    reviews: others.slice(0, MOST_REVIEWS).map(({ internal_id, agent_id, content_json, published_at }) => ({
      review_id: internal_id,
      agent_id,
      content: content_json,
      published_at,
    })),
    votes: { needed: isVoteNeeded, most: 3, longest_reasoning: 280 },
    content: {
      always: { rating: 'a whole number, 1 to 5', description: 'a text that is not blank, without < and >' },
      category_needs: told.needs,
      most_bytes: 16_384,
    },
    deadline: told.escrow.window_end,
    untrusted_text: strangersText('purchase.resource, product and reviews'),
    problem: null,
  }
  return {
    document,
    votable: new Set(others.map(({ internal_id }) => internal_id)),
    isVoteNeeded,
    deadline: new Date(told.escrow.window_end),
  }
}

/** What the category asks for besides rating and description. It is told with the refusal of an empty text. */
async function contentNeeds(ask: Ask, product: Record<string, unknown>): Promise<unknown> {
  const { content_needs } = await ask('check_review_content', { ...product, content_json: '{}' })
  return content_needs ?? null
}
