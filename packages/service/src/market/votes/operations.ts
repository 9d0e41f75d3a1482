import { VotesHash } from '@referrer/protocol'
import { type Address, isAddressEqual } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { refused } from '../../kit/market-error.ts'
import { ownerOf } from '../../kit/onchain.ts'
import { resolveOwner } from '../../kit/owner.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { despiteDeadlock } from '../../machinery/db/deadlock.ts'
import { type Proof, proposeCommitment, requireSigned, type Terms } from '../commitments/operations.ts'
import { nameOf, votesNeeded } from './gate.ts'
import { findStandings } from './standings.ts'
import {
  findVotable,
  findVotableReviews,
  insertBallot,
  type VotablePurchase,
  type VotableReview,
} from './store.ts'
import { WORTHLESS, worthOf } from './weight.ts'

export const MOST_VOTES = 3
/** Length limit in characters (code points). */
const LONGEST_REASONING = 280

export interface Vote {
  /** The internal id of the review. */
  reviewId: bigint
  reasoning: string
}

/** The votes of a buying agent on reviews of the product that it bought. */
export interface Ballot {
  agentId: bigint
  escrowId: bigint
  votes: readonly Vote[]
}

/** Step 1: returns the commitment to sign, without any read or write. */
export function proposeVotes(context: Context, chain: Chain, ballot: Ballot) {
  checkVotes(ballot.votes)
  return proposeCommitment(context, chain, 'VoteCommitment', termsOf(ballot))
}

/** Step 2: casts all votes of a purchase at once; a second ballot is refused. */
export async function castVotes(context: Context, chain: Chain, ballot: Ballot, proof: Proof): Promise<void> {
  checkVotes(ballot.votes)
  const { chainId } = chain.config
  const terms = termsOf(ballot)
  const signed = await requireSigned(context, chain, 'VoteCommitment', terms, proof)
  const purchase = await purchaseOf(context, chainId, ballot)
  if (purchase.has_voted) throw alreadyVoted(ballot)
  const voterOwner = bytesOf(signed.owner)
  const [reviews, standings] = await Promise.all([
    votedReviews(context, chainId, ballot, purchase),
    findStandings(context.sql, chainId, { owner: voterOwner, merchantId: purchase.merchant_id }),
  ])
  const authorOwners = await ownersOf(chain, reviews)
  const votes = reviews.map((review, at) => {
    const authorOwner = authorOwners[at]
    const qualifies = authorOwner !== undefined && !isAddressEqual(authorOwner, signed.owner)
    // One purchase gives weight to an author's owner once, however many agents and reviews the owner has.
    const isFirst = authorOwners.indexOf(authorOwner) === at
    return {
      internalId: review.internal_id,
      reasoning: ballot.votes[at]?.reasoning ?? '',
      authorAgentId: review.agent_id,
      qualifies,
      ...(qualifies && isFirst
        ? worthOf(context.config, purchase, standings, [signed.owner, authorOwner])
        : WORTHLESS),
    }
  })
  if (!votes.some(({ qualifies }) => qualifies)) await requireNoneNeeded(context, chainId, purchase)

  const cast = {
    purchase,
    voterAgentId: ballot.agentId,
    voterOwner,
    voterStanding: standings.isOn ? standings.owner : null,
    shopStanding: standings.isOn ? standings.shop : null,
    votesHash: bytesOf(terms.votesHash),
    commitmentNonce: bytesOf(signed.nonce),
    expiry: signed.expiry,
    signature: bytesOf(signed.signature),
    at: new Date(context.clock()),
    votes,
  }
  const isFirst = await despiteDeadlock(() => insertBallot(context.sql, chainId, cast))
  if (!isFirst) throw alreadyVoted(ballot)
}

function checkVotes(votes: readonly Vote[]): void {
  if (votes.length < 1 || votes.length > MOST_VOTES) {
    throw refused('invalid input', `votes must contain 1–${MOST_VOTES} items, got ${votes.length}`)
  }
  const seen = new Set<bigint>()
  for (const { reviewId, reasoning } of votes) {
    if (reasoning.trim() === '') throw refused('invalid input', 'reasoning is required for each vote')
    if (isTooLong(reasoning)) {
      const most = `reasoning exceeds ${LONGEST_REASONING} characters`
      throw refused('invalid input', `${most} for review_id ${reviewId}`)
    }
    if (seen.has(reviewId)) throw refused('invalid input', `duplicate review_id ${reviewId} in votes`)
    seen.add(reviewId)
  }
}

const isTooLong = (text: string) =>
  text.length > 2 * LONGEST_REASONING || [...text].length > LONGEST_REASONING

const termsOf = ({ agentId, escrowId, votes }: Ballot): Terms<'VoteCommitment'> => ({
  agentId,
  escrowId,
  votesHash: VotesHash.votesHash(votes),
})

const alreadyVoted = ({ escrowId }: Ballot) =>
  refused('already exists', `votes already submitted for purchase record ${escrowId}`)

async function purchaseOf(
  { sql }: Context,
  chainId: number,
  { agentId, escrowId }: Ballot,
): Promise<VotablePurchase> {
  const purchases = await findVotable(sql, chainId, escrowId)
  if (purchases.length === 0) {
    throw refused('not found', `purchase for escrow ${escrowId} not found (not yet indexed — retry shortly)`)
  }
  const own = purchases.find(({ buyer_agent_id }) => buyer_agent_id === agentId)
  if (!own) throw refused('not found', `purchase record does not belong to agent ${agentId}`)
  return own
}

/** The reviews in the order of the votes. */
async function votedReviews(
  { sql }: Context,
  chainId: number,
  { votes }: Ballot,
  purchase: VotablePurchase,
): Promise<VotableReview[]> {
  const ids = votes.map(({ reviewId }) => reviewId)
  const found = new Map(
    (await findVotableReviews(sql, chainId, ids)).map((review) => [review.internal_id, review]),
  )
  return ids.map((id) => {
    const review = found.get(id)
    if (!review) throw refused('not found', `review ${id} not found`)
    requireVotable(review, purchase)
    return review
  })
}

function requireVotable(review: VotableReview, purchase: VotablePurchase): void {
  const { internal_id: id, review_id, merchant_id, product_id } = review
  if (review_id === null || !review.has_text) throw refused('invalid input', `review ${id} is not published`)
  if (merchant_id !== purchase.merchant_id || !product_id.equals(purchase.product_id)) {
    throw refused('invalid input', `review ${id} is not for the same product as this purchase`)
  }
  if (review_id === purchase.review_id) {
    throw refused('invalid input', 'cannot vote for the ref-link review of this purchase')
  }
}

/**
 * The present owners of the authors, in the order of the votes. They are read from the chain, because a transfer may not be indexed yet.
 */
async function ownersOf(chain: Chain, reviews: readonly VotableReview[]): Promise<(Address | undefined)[]> {
  const agentIds = [...new Set(reviews.map(({ agent_id }) => agent_id))]
  const owners = await Promise.all(
    agentIds.map(async (id) => [id, await resolveOwner(id, () => ownerOf(chain, id))] as const),
  )
  const ownerOfAgent = new Map(owners)
  return reviews.map(({ agent_id }) => ownerOfAgent.get(agent_id))
}

async function requireNoneNeeded(
  { sql }: Context,
  chainId: number,
  purchase: VotablePurchase,
): Promise<void> {
  const needed = await votesNeeded(sql, chainId, [purchase])
  if (!needed.has(nameOf(purchase))) return
  throw refused(
    'conflict',
    `purchase ${purchase.escrow_id} needs a vote on a review of another owner, and all of these are on reviews of its buyer's; add one and retry`,
  )
}
