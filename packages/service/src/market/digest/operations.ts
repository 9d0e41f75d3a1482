import { effectiveRank } from '@referrer/ranking'
import { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { accountShown, hex32, wholeNumber } from '../../kit/fields.ts'
import { address, hex, whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'
import { inOneSnapshot } from '../../machinery/db/snapshot.ts'
import { countReviewsOfAgent } from '../agents/reviewed.ts'
import { type AgentRow, findAgent } from '../agents/store.ts'
import { balanceOfAgent, EscrowPending, recordedEarnings, walletBalance } from '../earnings/operations.ts'
import { countPendingProofsOf, type ProofRow, pendingProofsOf } from '../proofs/store.ts'
import { refLinkOf } from '../ref-tokens/link.ts'
import { type BoughtRow, countProductsToReview, productsToReview } from '../reviewable/store.ts'
import { statusOf } from '../reviews/json.ts'
import { type ReviewRow, reviewsOfAgent } from '../reviews/store.ts'
import { stanceOf } from './store.ts'

/** How many items a list of things to do shows; its count includes all. */
const LISTED = 20

const HINTS = [
  'Publish and register a review for each entry of review_backlog: a buyer review earns the cashback of that purchase.',
  'Vote on other reviews of what you bought before you register your own: some purchases pay cashback only after a vote.',
  'Share the ref_link of a review: a purchase through it pays you commission, one part at once and one when its escrow is settled.',
  'Reviews that buyers confirm raise your rank, and a higher rank raises your share of the commission.',
] as const

const Identity = z.object({
  owner_address: accountShown.optional(),
  payment_wallet: accountShown.optional(),
  review_rank_repeat: z.number().optional(),
  review_rank_one_off: z.number().optional(),
  flagged: z.boolean().optional(),
})
const Product = { merchant_id: wholeNumber, product_id: hex32 }
const BacklogEntry = z.object({ ...Product, name: z.string(), category: z.string(), escrow_id: wholeNumber })
const PendingProof = z.object({
  proof_id: wholeNumber,
  ...Product,
  status: z.enum(['pending', 'approved', 'rejected']),
})
const RecentReview = z.object({
  internal_review_id: wholeNumber,
  on_chain_review_id: wholeNumber.nullable(),
  ...Product,
  status: z.enum(['published', 'pending']),
  ref_link: z.string().meta({ about: 'Empty: it has none.' }),
})

export const Digest = z
  .object({
    agent_id: wholeNumber,
    chain_id: wholeNumber,
    registered: z.boolean(),
    identity: Identity.meta({ about: 'What is not known is left out.' }),
    global_cashback_of_commission_bps: wholeNumber.meta({
      about:
        'What the agent pledges of its commission to buyers through reviews that it publishes from now on.',
    }),
    counts: z.object({
      reviews_authored: wholeNumber,
      votes_cast: wholeNumber,
      review_backlog: wholeNumber,
      pending_proofs: wholeNumber,
    }),
    actionable: z.object({
      review_backlog: z.array(BacklogEntry).meta({ about: `At most ${LISTED}; the count is of all.` }),
      pending_proofs: z.array(PendingProof).meta({ about: `At most ${LISTED}; the count is of all.` }),
      escrow_pending: EscrowPending,
    }),
    earnings: z.object({
      commission_realized: baseUnits('Paid'),
      commission_potential: baseUnits('Paid or held back still'),
      cashback_total: baseUnits('Paid'),
      cashback_count: wholeNumber,
      total_earnings: baseUnits('Commission and cashback that were paid'),
      usdc_wallet_balance: walletBalance.optional(),
    }),
    recent_reviews: z.array(RecentReview).meta({ about: 'Newest first.' }),
    hints: z.array(z.string()).length(HINTS.length),
  })
  .meta({ id: 'AgentContext' })

/** A summary of what an agent has and can do next. For an unknown agent it is empty, not an error. */
export async function agentContext(
  context: Context,
  chain: Chain,
  agentId: bigint,
  recentLimit: number,
): Promise<z.output<typeof Digest>> {
  const { chainId } = chain.config
  const [told, balance] = await Promise.all([
    inOneSnapshot(context.sql, async (tx) => {
      const of = [tx, chainId, agentId] as const
      const [agent, stance, authored, backlogSize, proofCount, backlog, proofs, recent, earned] =
        await Promise.all([
          findAgent(...of),
          stanceOf(...of),
          countReviewsOfAgent(...of),
          countProductsToReview(...of),
          countPendingProofsOf(...of),
          productsToReview(...of, { limit: LISTED, offset: 0 }),
          pendingProofsOf(...of, LISTED),
          reviewsOfAgent(...of, recentLimit),
          recordedEarnings(...of),
        ])
      return { agent, stance, authored, backlogSize, proofCount, backlog, proofs, recent, earned }
    }),
    balanceOfAgent(context.sql, chain, agentId),
  ])
  const { agent, stance, authored, backlogSize, proofCount, backlog, proofs, recent, earned } = told
  return {
    agent_id: whole(agentId),
    chain_id: chainId,
    registered: agent !== undefined,
    identity: agent ? identityOf(context, agent) : {},
    global_cashback_of_commission_bps: stance.cashback_bps,
    counts: {
      reviews_authored: whole(authored),
      votes_cast: whole(stance.votes_cast),
      review_backlog: whole(backlogSize),
      pending_proofs: whole(proofCount),
    },
    actionable: {
      review_backlog: backlog.map(backlogEntry),
      pending_proofs: proofs.map(pendingProof),
      escrow_pending: earned.escrow_pending,
    },
    earnings: {
      commission_realized: earned.commission.total_realized,
      commission_potential: earned.commission.total_potential,
      cashback_total: earned.cashback.total,
      cashback_count: earned.cashback.count,
      total_earnings: earned.total_earnings,
      ...balance,
    },
    recent_reviews: recent.map((row) => recentReview(context, row)),
    hints: [...HINTS],
  }
}

function identityOf({ recovery }: Context, row: AgentRow): z.output<typeof Identity> {
  const repeat = effectiveRank(row.flagged, row.repeat)
  const oneOff = effectiveRank(row.flagged, row.one_off)
  return {
    owner_address: address(recovery, row.owner),
    ...(row.payment_wallet && { payment_wallet: address(recovery, row.payment_wallet) }),
    ...(repeat !== null && { review_rank_repeat: repeat }),
    ...(oneOff !== null && { review_rank_one_off: oneOff }),
    ...(row.flagged && { flagged: true }),
  }
}

const productOf = (row: { merchant_id: bigint; product_id: Buffer }) => ({
  merchant_id: whole(row.merchant_id),
  product_id: hex(row.product_id),
})

const backlogEntry = (row: BoughtRow): z.output<typeof BacklogEntry> => ({
  ...productOf(row),
  name: row.name,
  category: row.category,
  escrow_id: whole(row.escrow_id),
})

const pendingProof = (row: ProofRow): z.output<typeof PendingProof> => ({
  proof_id: whole(row.proof_id),
  ...productOf(row),
  status: row.status,
})

const recentReview = (context: Context, row: ReviewRow): z.output<typeof RecentReview> => ({
  internal_review_id: whole(row.internal_id),
  on_chain_review_id: row.review_id === null ? null : whole(row.review_id),
  ...productOf(row),
  status: statusOf(row),
  ref_link: refLinkOf(context, row) ?? '',
})
