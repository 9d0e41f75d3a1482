import type { Queryable } from '@referrer/database'
import { type Address, zeroAddress } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { MarketError, unavailable } from '../../kit/market-error.ts'
import { ownerOf } from '../../kit/onchain.ts'
import { requireOwner } from '../../kit/owner.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { findDisputable, openDispute } from '../../market/reviews/disputes.ts'
import {
  type DecisionRow,
  decisionsOf,
  type FindingRow,
  findCompared,
  findingsOf,
  type InputRow,
  inputsOf,
  type ReviewFound,
} from './records-store.ts'

const MOST_FINDINGS = 20
export const MOST_OPINIONS = 1_000
const MOST_DECISIONS = 100

/**
 * Disputes a contradiction, once. Only the present owner of the author's agent may. Returns the review's internal id.
 */
export async function dispute(
  { sql, clock }: Pick<Context, 'sql' | 'clock'>,
  chain: Chain,
  { reviewId, reason, caller }: { reviewId: bigint; reason: string; caller: Address },
): Promise<bigint> {
  const review = await findDisputable(sql, chain.config.chainId, reviewId)
  if (!review) throw notFound()
  const owner = await ownerOf(chain, review.agent_id).catch((error: unknown) => {
    throw unavailable(`agent ${review.agent_id}: resolve owner on-chain`, error)
  })
  requireOwner(owner ?? zeroAddress, caller)
  const said = { reason, by: bytesOf(caller), at: new Date(clock()) }
  if (!(await openDispute(sql, review.internal_id, said))) {
    throw new MarketError('conflict', 'review is not contradicted')
  }
  return review.internal_id
}

export interface Compared {
  review: ReviewFound
  findings: FindingRow[]
  /** By comparison id. */
  inputs: Map<bigint, InputRow[]>
}

/** The oracle's findings on a review, with the opinions they are based on. */
export async function readComparison(
  { sql }: Pick<Context, 'sql'>,
  { config: { chainId } }: Chain,
  reviewId: bigint,
): Promise<Compared> {
  const review = await findCompared(sql, chainId, reviewId)
  if (!review) throw notFound()
  return readFindings(sql, review)
}

export async function readFindings(sql: Queryable, review: ReviewFound): Promise<Compared> {
  const findings = await findingsOf(sql, review.internal_id, MOST_FINDINGS)
  const comparisons = new Set(findings.flatMap(({ comparison_id }) => comparison_id ?? []))
  const inputs = await inputsOf(sql, [...comparisons], MOST_OPINIONS)
  return { review, findings, inputs: Map.groupBy(inputs, ({ comparison_id }) => comparison_id) }
}

const notFound = () => new MarketError('not found', 'review not found')

/** The oracle's decisions about an escrow, with their inputs. */
export async function readDecisions(
  { sql }: Pick<Context, 'sql'>,
  { config: { chainId } }: Chain,
  escrowId: bigint,
): Promise<DecisionRow[]> {
  const decisions = await decisionsOf(sql, chainId, escrowId, MOST_DECISIONS)
  if (!decisions) throw new MarketError('not found', `escrow ${escrowId} not found`)
  return decisions
}
