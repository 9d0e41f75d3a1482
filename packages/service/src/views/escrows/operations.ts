import { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { hex32, momentShown, wholeNumber } from '../../kit/fields.ts'
import { hex, time, whole } from '../../kit/json-values.ts'
import { MarketError } from '../../kit/market-error.ts'
import { holdsMoney } from '../../market/escrows/holding.ts'
import { cashbackLeg, heldBackLeg, isCashbackOpen, Leg } from '../../market/escrows/legs.ts'
import { Purchase, shownPurchase } from '../../market/escrows/purchase.ts'
import { type EscrowRow, findEscrow, isWindowOver } from '../../market/escrows/store.ts'
import { votesMissing } from '../../market/votes/gate.ts'
import { findPurchase } from '../activity/store.ts'
import { READ_AT_ONCE } from '../page.ts'
import { fallbackAt } from './fallback.ts'
import { findBuyerReview, transactionsOf, votesOf } from './store.ts'

const { amount, status } = Leg.shape
const transaction = hex32
  .nullable()
  .meta({ about: 'The transaction of the oracle; null: none yet, or it was somebody else’s.' })

export const EscrowPage = Purchase.extend({
  state: z.enum(['holding', 'settled']).meta({
    about: 'An escrow that holds nothing is `settled` when its window ends, since nobody spends gas on it.',
  }),
  window_end: momentShown,
  fallback_at: momentShown
    .nullable()
    .meta({ about: 'From when on anybody may settle it; null: the chain cannot be read now.' }),
  buyer_review: z
    .object({
      internal_id: wholeNumber,
      on_chain_id: wholeNumber,
      published_at: momentShown,
      satisfaction_score: z.number().nullable().meta({ about: 'Null: its text is not known.' }),
    })
    .nullable(),
  votes: z.array(
    z.object({
      review_internal_id: wholeNumber,
      review_id: wholeNumber.nullable().meta({ about: 'Its id on the chain; null: it is not there.' }),
      author_agent_id: wholeNumber,
      reasoning: z.string(),
      qualifies: z.boolean(),
      cast_at: momentShown,
    }),
  ),
  cashback: z.object({ amount, status, released_at: momentShown.nullable(), transaction }),
  held_back: z.object({
    amount,
    status,
    settled_at: momentShown.nullable(),
    recipient: z.enum(['reviewer', 'treasury']).nullable().meta({ about: 'Null: nobody, or not yet.' }),
    transaction,
  }),
  review_outcome: z
    .enum(['pending', 'confirmed', 'contradicted', 'disputed', 'resolved'])
    .meta({ about: 'What the oracle found about the review whose link was used.' }),
}).meta({ id: 'EscrowPage' })

type Shown = z.output<typeof EscrowPage>

interface Asked {
  chain: Chain
  escrowId: bigint
}

/** In turns, because one page takes eight reads. */
export const escrowPage = once((context) =>
  coalesceInTurns<Asked, Shown>(
    READ_AT_ONCE,
    ({ chain, escrowId }) => `${chain.config.chainId}/${escrowId}`,
    (asked) => readEscrow(context, asked),
  ),
)

/** All that the records know of a purchase. A settlement shows once it is on the chain. */
async function readEscrow(context: Context, { chain, escrowId }: Asked): Promise<Shown> {
  const { sql, clock } = context
  const { chainId } = chain.config
  const [purchase, found] = await Promise.all([
    findPurchase(sql, chainId, escrowId),
    findEscrow(sql, chainId, escrowId),
  ])
  if (!purchase || !found) throw new MarketError('not found', `escrow ${escrowId} not found`)
  const row = { ...found, decided_contradicted: null, decided_earned: null }
  const [review, votes, transactions, isOver, fallback, areVotesMissing] = await Promise.all([
    findBuyerReview(sql, chainId, row),
    votesOf(sql, chainId, row),
    transactionsOf(sql, chainId, row),
    isWindowOver(sql, chainId, row.window_end),
    fallbackAt(context, { chain, address: hex(row.contract) }, row.window_end),
    mustVote(context, chainId, row),
  ])
  const isSettled = row.settled_at !== null || (isOver && !holdsMoney(row))
  const hashOf = (kind: 'release' | 'settle') => {
    const hash = transactions.get(kind)
    return hash ? hex(hash) : null
  }
  const held = heldBackLeg(row, { isReviewer: false, now: new Date(clock()) })
  const cashback = cashbackLeg(row, { isBuyer: false, areVotesMissing })
  const releasedAt = releasedOf(row)
  return {
    ...shownPurchase(context, purchase),
    state: isSettled ? 'settled' : 'holding',
    window_end: time(row.window_end),
    fallback_at: fallback && time(fallback),
    buyer_review: review
      ? {
          internal_id: whole(review.internal_id),
          on_chain_id: whole(review.review_id),
          published_at: time(review.published_at),
          satisfaction_score: review.satisfaction_score,
        }
      : null,
    votes: votes.map((vote) => ({
      review_internal_id: whole(vote.review_internal_id),
      review_id: vote.review_id === null ? null : whole(vote.review_id),
      author_agent_id: whole(vote.author_agent_id),
      reasoning: vote.reasoning,
      qualifies: vote.qualifies,
      cast_at: time(vote.cast_at),
    })),
    cashback: {
      amount: cashback.amount,
      status: cashback.status,
      released_at: releasedAt && time(releasedAt),
      transaction: releasedAt && hashOf(row.cashback_released_at ? 'release' : 'settle'),
    },
    held_back: {
      amount: held.amount,
      status: held.status,
      settled_at: row.settled_at && time(row.settled_at),
      recipient: recipientOf(row),
      transaction: row.settled_at && hashOf('settle'),
    },
    review_outcome: (row.comparison_outcome ?? 'pending') as Shown['review_outcome'],
  }
}

async function mustVote({ sql }: Context, chainId: number, row: EscrowRow): Promise<boolean> {
  if (!isCashbackOpen(row) || row.buyer_agent_id === null) return false
  return (await votesMissing(sql, chainId, [row])).size > 0
}

/** When the buyer got the cashback: before the settlement, or with it. */
const releasedOf = (row: EscrowRow): Date | null =>
  row.cashback_released_at ?? (row.cashback_to_buyer ? row.settled_at : null)

function recipientOf(row: EscrowRow): Shown['held_back']['recipient'] {
  if (row.held_back_to_reviewer) return 'reviewer'
  return row.held_back_to_treasury ? 'treasury' : null
}
