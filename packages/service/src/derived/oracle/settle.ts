// Escrows are settled after their window has ended, from what the records then say about the review and the buyer.
import type { Queryable } from '@referrer/database'
import { type Address, type Hex, hexToBigInt } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { time, whole } from '../../kit/json-values.ts'
import { isContradicted } from '../../market/escrows/contradicted.ts'
import { holdingMoney } from '../../market/escrows/holding.ts'
import { nameOf, votesMissing } from '../../market/votes/gate.ts'
import type { Decision, Undecided } from './decision.ts'
import {
  type By,
  enterDecisions,
  lastDecision,
  lockDecisions,
  mayDecide,
  undecided,
} from './decisions-store.ts'
import { readPayees } from './payees.ts'

const PAGE = 200
/**
 * The longest time that a dispute, a backlog or the identity registry delays a settlement. It is shorter than the time after which anybody
 * may call the contract's fallback, which would take everything from the reviewer.
 */
const LONGEST_DELAY_SECONDS = 8 * 86_400
/** With this many changes queued, the oracle's findings may be out of date. */
const BACKLOG = 500

/** The newest block: the contract decides by block time, not by our clock. */
export interface Head {
  number: bigint
  time: Date
}

export async function readHead({ rpc }: Chain): Promise<Head> {
  const block = await rpc.request<{ number: Hex; timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])
  return { number: hexToBigInt(block.number), time: new Date(Number(hexToBigInt(block.timestamp)) * 1_000) }
}

type Due = Undecided & {
  /** No transaction is under way, and no dispute or backlog delays the settlement. */
  may_decide: boolean
  /** Waiting longer would leave the escrow to the fallback. */
  is_urgent: boolean
  /** Outcome for the review that led to the purchase; null: it is not on-chain. */
  comparison_outcome: string | null
  /** An admin's decision of a dispute. */
  upheld: boolean | null
}
/** The cursor of `settleDue`. */
export type SettleCursor = Pick<Due, 'window_end' | 'escrow_id' | 'contract'>

/**
 * Settles one page of the escrows that are due, oldest first. Returns the cursor of the next page; undefined: this
 * was the last.
 */
export async function settleDue(
  context: Pick<Context, 'sql' | 'clock' | 'log'>,
  chain: Chain,
  { from, head }: { from: Address; head: Head },
  after: SettleCursor | undefined,
): Promise<SettleCursor | undefined> {
  const { chainId } = chain.config
  const due = { from, now: new Date(context.clock()), head, after }
  // The nodes are asked before the lock is taken. What changes in between waits for the next run.
  const seen = (await findDue(context.sql, chainId, due)).filter(({ may_decide }) => may_decide)
  const isPayable = await readPayees(chain, seen)
  const waiting = seen.filter((escrow) => !isPayable(escrow) && !escrow.is_urgent)
  if (waiting.length > 0) {
    const agents = [...new Set(waiting.map(({ reviewer_agent_id }) => `${reviewer_agent_id}`))].slice(0, 10)
    context.log.warn(
      { chain: chainId, escrows: waiting.length, agents },
      'settlements wait: the identity registry does not tell whom to pay',
    )
  }
  return context.sql.begin(async (tx) => {
    await lockDecisions(tx, chainId)
    const page = await findDue(tx, chainId, due)
    const ready = page.filter((escrow) => escrow.may_decide && (isPayable(escrow) || escrow.is_urgent))
    const withoutVotes = await votesMissing(tx, chainId, ready)
    const decisions = ready.map((escrow) => decisionOf(escrow, head, withoutVotes.has(nameOf(escrow))))
    await enterDecisions(tx, chain, due, decisions)
    return page.length === PAGE ? page.at(-1) : undefined
  })
}

/** Escrows that hold money, whose window has ended both by the newest block and by the indexer's checkpoint. */
function findDue(
  tx: Queryable,
  chainId: number,
  { head, after, ...by }: By & { head: Head; after: SettleCursor | undefined },
): Promise<Due[]> {
  return tx<Due[]>`
    SELECT ${undecided(tx, chainId)}, review.comparison_outcome, review.upheld,
      urgent.is_urgent, ${mayDecide(tx, chainId, by)} AND (
        urgent.is_urgent
        OR review.comparison_outcome IS DISTINCT FROM 'disputed' AND NOT backlog.is_long AND NOT EXISTS (
          SELECT FROM market.comparisons_under_way AS u
          WHERE u.chain_id = ${chainId} AND u.merchant_id = e.merchant_id AND u.product_id = e.product_id)) AS may_decide
    FROM (
      SELECT * FROM chain.escrows
      WHERE chain_id = ${chainId} AND settled_at IS NULL AND ${holdingMoney(tx)} AND window_end <= least(
          ${head.time}, (SELECT block_time FROM indexer.checkpoints WHERE chain_id = ${chainId}))
        ${after ? tx`AND (window_end, escrow_id, contract) > (${after.window_end}, ${after.escrow_id}, ${after.contract})` : tx``}
      ORDER BY window_end, escrow_id, contract LIMIT ${PAGE}
    ) AS e
    CROSS JOIN LATERAL (
      SELECT e.window_end + ${LONGEST_DELAY_SECONDS} * interval '1 second' <= ${head.time} AS is_urgent) AS urgent
    CROSS JOIN (
      SELECT count(*) = ${BACKLOG} AS is_long
      FROM (SELECT FROM market.pending_changes WHERE chain_id = ${chainId} LIMIT ${BACKLOG}) AS changes) AS backlog
    LEFT JOIN ${lastDecision(tx, chainId, 'settle')} ON true
    LEFT JOIN LATERAL (
      SELECT m.comparison_outcome, r.upheld
      FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
      LEFT JOIN market.dispute_decisions AS r USING (internal_id)
      WHERE c.chain_id = ${chainId} AND c.review_id = e.review_id) AS review ON true
    ORDER BY e.window_end, e.escrow_id, e.contract`
}

function decisionOf(escrow: Due, head: Head, areVotesMissing: boolean): Decision {
  const { buyer_agent_id, buyer_review, comparison_outcome, upheld, is_pledged } = escrow
  const contradicted = isContradicted(escrow)
  const cashbackEarned = is_pledged && buyer_agent_id !== null && buyer_review !== null && !areVotesMissing
  return {
    escrow,
    kind: 'settle',
    contradicted,
    cashbackEarned,
    inputs: {
      window_end: time(escrow.window_end),
      block: whole(head.number),
      block_time: time(head.time),
      review_id: whole(escrow.review_id),
      comparison_outcome,
      upheld,
      buyer_agent_id: wholeOrNull(buyer_agent_id),
      buyer_review_internal_id: wholeOrNull(buyer_review),
      votes_missing: areVotesMissing,
      cashback_pledged: is_pledged,
    },
  }
}

const wholeOrNull = (value: bigint | null) => (value === null ? null : whole(value))
