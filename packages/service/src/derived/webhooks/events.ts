// What the records say has happened, as messages tell it. The fields have the names that they have in answers of the REST interface.
import type { Context } from '../../kit/context.ts'
import { hex, time, whole } from '../../kit/json-values.ts'
import { shownPurchase } from '../../market/escrows/purchase.ts'
import type { EventType } from '../../market/webhooks/events.ts'
import type { ReviewRow, SettledRow, VoteRow } from './store.ts'

/** Somebody whom an event concerns. */
export interface Party {
  role: 'merchant' | 'reviewer' | 'buyer' | 'author'
  /** The merchant or the agent; undefined: a wallet without an agent. */
  id: bigint | undefined
  owner: Buffer
}

export interface Event {
  type: EventType
  /** The same whenever the same event is found, and in no other event of its type: not an id that a reorganisation can change. */
  key: string
  at: Date
  data: object
  parties: Party[]
}

const party = (role: Party['role'], id: bigint | null, owner: Buffer | null): Party[] =>
  owner ? [{ role, id: id ?? undefined, owner }] : []

export function eventsOfPurchase(
  context: Pick<Context, 'recovery'>,
  chainId: number,
  row: SettledRow,
): Event[] {
  const key = [row.contract, row.payer, row.nonce].map((bytes) => bytes.toString('hex')).join('/')
  const parties = [
    ...party('merchant', row.merchant_id, row.merchant_owner),
    ...party('reviewer', row.reviewer_agent_id, row.reviewer_owner),
    ...party('buyer', row.buyer_agent_id, row.buyer_owner),
  ]
  const purchase = { chain_id: chainId, ...shownPurchase(context, row) }
  const events: Event[] = [{ type: 'purchase.settled', key, at: row.deposited_at, data: purchase, parties }]
  if (row.settled_at)
    events.push({
      type: 'escrow.settled',
      key,
      at: row.settled_at,
      data: {
        ...purchase,
        settled_at: time(row.settled_at),
        held_back_to_reviewer_usdc: whole(row.held_back_to_reviewer ?? 0n),
        held_back_to_treasury_usdc: whole(row.held_back_to_treasury ?? 0n),
        cashback_to_buyer_usdc: whole(row.cashback_to_buyer ?? 0n),
        cashback_to_reviewer_usdc: whole(row.cashback_to_reviewer ?? 0n),
      },
      parties,
    })
  return events
}

/** Without the text, which can be long and may be edited meanwhile: `GET /v1/review/{on_chain_id}` has it. */
export function eventsOfReview(chainId: number, row: ReviewRow): Event[] {
  const parties = [
    ...party('merchant', row.merchant_id, row.merchant_owner),
    ...party('author', row.agent_id, row.author_owner),
  ]
  const key = String(row.internal_id)
  const review = {
    chain_id: chainId,
    internal_id: whole(row.internal_id),
    on_chain_id: whole(row.review_id),
    agent_id: whole(row.agent_id),
    merchant_id: whole(row.merchant_id),
    product_id: hex(row.product_id),
    satisfaction_score: row.satisfaction_score,
    published_at: time(row.published_at),
    comparison_outcome: row.comparison_outcome,
    edited_at: row.edited_at && time(row.edited_at),
  }
  const events: Event[] = []
  if (row.has_text)
    events.push({ type: 'review.published', key, at: row.published_at, data: review, parties })
  if (row.edited_at && row.content_hash)
    events.push({
      type: 'review.updated',
      key: [key, row.content_hash.toString('hex'), ...(row.same_before > 0 ? [row.same_before] : [])].join(
        '/',
      ),
      at: row.edited_at,
      data: review,
      parties,
    })
  if (row.disputed_at)
    events.push({
      type: 'dispute.opened',
      key,
      at: row.disputed_at,
      data: { ...review, disputed_at: time(row.disputed_at) },
      parties,
    })
  if (row.resolved_at)
    events.push({
      type: 'dispute.resolved',
      key,
      at: row.resolved_at,
      data: {
        ...review,
        disputed_at: row.disputed_at && time(row.disputed_at),
        resolved_at: time(row.resolved_at),
        upheld: row.upheld,
      },
      parties,
    })
  return events
}

export const eventOfVote = (chainId: number, row: VoteRow): Event => ({
  type: 'vote.cast',
  key: `${row.ballot_id}/${row.review_internal_id}`,
  at: row.cast_at,
  data: {
    chain_id: chainId,
    review_internal_id: whole(row.review_internal_id),
    review_id: row.review_id === null ? null : whole(row.review_id),
    agent_id: whole(row.author_agent_id),
    voter_agent_id: whole(row.voter_agent_id),
    escrow_id: whole(row.escrow_id),
    merchant_id: whole(row.merchant_id),
    product_id: hex(row.product_id),
    reasoning: row.reasoning,
    qualifies: row.qualifies,
    cast_at: time(row.cast_at),
  },
  parties: party('author', row.author_agent_id, row.author_owner),
})
