// A product with reviews by several owners, and a buyer who uses the link of one of them.
import {
  type EscrowDeposit,
  listProduct,
  mintUsdc,
  openMerchant,
  type Product,
  registerIdentity,
} from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { expect } from 'vitest'
import { must } from './caller.ts'
import { type Cast, signedBody, VOTES, voteBody } from './commitments.ts'
import {
  type Bought,
  buy,
  FULL_COMMISSION,
  generic,
  productOf,
  startTestMarket,
  type TestMarket,
} from './market.ts'
import { publish, registered } from './reviews.ts'

/** Internal ids begin here, so that they cannot be confused with on-chain ids. */
const FIRST_INTERNAL_ID = 5_000
export const STEP1 = `${VOTES}/step1`
export const STEP2 = `${VOTES}/step2`

export interface Review {
  owner: LocalAccount
  agentId: bigint
  /** The on-chain id. */
  reviewId: bigint
  internalId: number
}

export interface Voting {
  m: TestMarket
  merchantId: bigint
  product: Product
  /** The buyer's agent, whose id is 0. */
  buyer: { owner: LocalAccount; agentId: bigint }
  /** The review through whose link it is bought. */
  link: Review
  /** The reviews by three other owners. */
  others: readonly [Review, Review, Review]
  /** Buys the product with the buyer's agent, through the link, and waits until it is indexed. */
  bought(change?: Partial<Bought>, payer?: LocalAccount): Promise<EscrowDeposit>
}

export async function startVoting(options?: Parameters<typeof startTestMarket>[0]): Promise<Voting> {
  const m = await startTestMarket({ ...options, env: { ...FULL_COMMISSION, ...options?.env } })
  const { market } = m
  const { merchant, reviewer, buyer: owner, stranger, guardian, treasury, walletBuyer } = market.accounts
  await m.sql`
    SELECT setval(pg_get_serial_sequence('market.reviews', 'internal_id'), ${FIRST_INTERNAL_ID}, false)`
  const buyer = { owner, agentId: await registerIdentity(market, owner) }
  if (buyer.agentId !== 0n) throw new Error('the buyer has to be the first agent')
  const merchantId = await openMerchant(market, merchant)
  const product = { merchantId, productId: productOf(1) }
  await listProduct(market, merchant, product)
  for (const payer of [owner, walletBuyer, merchant]) await mintUsdc(market, payer.address, 1_000_000_000n)
  const written: Review[] = []
  for (const author of [reviewer, stranger, guardian, treasury]) {
    written.push(await review(m, author, await registerIdentity(market, author), product))
  }
  const [link, ...others] = written as [Review, Review, Review, Review]
  return {
    m,
    merchantId,
    product,
    buyer,
    link,
    others,
    async bought(change, payer = owner) {
      const through = { product, reviewId: link.reviewId, reviewerAgentId: link.agentId }
      const deposit = await buy(m, payer, { ...through, buyerAgentId: buyer.agentId, ...change })
      await m.indexed()
      return deposit
    },
  }
}

/** Publishes a review and registers its text. */
export async function review(
  m: TestMarket,
  owner: LocalAccount,
  agentId: bigint,
  product: Product,
): Promise<Review> {
  const content = generic(5, 'Quick and right')
  const reviewId = await publish(m.market, { owner, agentId, product, content })
  await m.indexed()
  return { owner, agentId, reviewId: BigInt(reviewId), internalId: await registered(m, reviewId, content) }
}

/** A ballot of the buyer's agent, by default with one vote. */
export const ballotOf = (
  { buyer, others }: Pick<Voting, 'buyer' | 'others'>,
  escrowId: bigint,
  votes: Cast['votes'] = [others[0].internalId],
) => voteBody({ agentId: buyer.agentId, escrowId, votes })

/** The body of step 2, signed by the buyer. */
export const signedBallot = (v: Voting, escrowId: bigint, votes?: Cast['votes']) =>
  signedBody(v.m, VOTES, { as: v.buyer.owner, body: ballotOf(v, escrowId, votes) })

export async function answerTo({ m, buyer }: Voting, body: unknown): Promise<[number, unknown]> {
  const { status, body: answer } = await m.call('POST', STEP2, { as: buyer.owner, body })
  return [status, answer]
}

/** If the text names no field, the answer must have a `detail` that does. */
export const refusal = (status: number, error: string) => [
  status,
  { error, ...(error === 'invalid request' && { detail: expect.any(String) }) },
]
export const recorded = (votes: number) => [200, { status: 'ok', votes_recorded: votes }]

/** The number of votes of an agent, as in its digest. */
export async function votesCast({ call, market }: TestMarket, agentId: bigint): Promise<number> {
  const path = `/v1/agent/${agentId}/context`
  return (await must(call('GET', path, { as: market.accounts.stranger }))).counts.votes_cast
}

export interface StoredVote {
  escrow_id: bigint
  contract: string
  review_internal_id: bigint
  position: number
  reasoning: string
  qualifies: boolean
  weight: number
}

/** All stored votes of an agent with their weights, which no route shows. */
export const storedVotes = ({ sql, chainId }: TestMarket, agentId: bigint) => sql<StoredVote[]>`
  SELECT escrow_id, '0x' || encode(contract, 'hex') AS contract, review_internal_id, position, reasoning, qualifies, weight
  FROM market.ballots AS b JOIN market.votes AS v USING (ballot_id)
  WHERE b.chain_id = ${chainId} AND b.voter_agent_id = ${agentId} ORDER BY ballot_id, position`
