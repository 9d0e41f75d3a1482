// What the writer of a review is told, and what it may answer.
import { strangersText } from '../fields.ts'
import { readSituation } from '../jobs/situation.ts'
import type { IntentRecord } from './records.ts'
import type { Runner } from './runner.ts'

/** Reviews that are shown to the writer, newest first. */
const MOST_REVIEWS = 50

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
  const { others, ...told } = await readSituation(context, { chainId, agentId, escrowId }, bought)
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
    product: told.product ?? {
      merchant_id: merchantId,
      product_id: productId,
      chain_id: chainId,
      name: bought.name,
    },
    reviews: others.slice(0, MOST_REVIEWS).map(({ internal_id, agent_id, content_json, published_at }) => ({
      review_id: internal_id,
      agent_id,
      content: content_json,
      published_at,
    })),
    votes: { needed: isVoteNeeded, most: 3, longest_reasoning: 280 },
    content: {
      always: { rating: 'a whole number, 1 to 5', description: 'a text that is not blank, without < and >' },
      category_needs: told.contentNeeds,
      most_bytes: 16_384,
    },
    deadline: told.windowEnd,
    untrusted_text: strangersText('purchase.resource, product and reviews'),
    problem: null,
  }
  return {
    document,
    votable: new Set(others.map(({ internal_id }) => internal_id)),
    isVoteNeeded,
    deadline: new Date(told.windowEnd),
  }
}
