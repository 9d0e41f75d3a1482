import type { Context } from '../../kit/context.ts'
import { COUNTED } from '../../machinery/db/counts.ts'
import { holdingMoney } from '../../market/escrows/holding.ts'
import type { Kind } from './decision.ts'

/** The oracle's backlog on one chain. */
export interface OracleFigures {
  chainId: number
  kind: Kind
  /** Decisions of that kind that the chain does not show yet. */
  open: number
  /**
   * Seconds since the end of the oldest window of an escrow that is not settled, holds money and does not wait for a
   * dispute; 0: there is none.
   */
  oldestDueSeconds: number
}

/** Covers every chain, also without an oracle in this service. Reads a limited part of indexes. */
export function oracleFigures({ sql, chains, clock }: Pick<Context, 'sql' | 'chains' | 'clock'>) {
  return sql<OracleFigures[]>`
    SELECT chain.id::float8 AS "chainId", kind, (
      SELECT count(*)::integer FROM (
        SELECT FROM market.escrow_decisions AS d
        WHERE d.chain_id = chain.id AND d.kind = kinds.kind AND d.is_open LIMIT ${COUNTED}) AS counted) AS open,
      greatest(0, (
        SELECT extract(epoch FROM ${new Date(clock())}::timestamptz - e.window_end) FROM chain.escrows AS e
        WHERE e.chain_id = chain.id AND e.settled_at IS NULL AND ${holdingMoney(sql)} AND NOT EXISTS (
          SELECT FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
          WHERE c.chain_id = e.chain_id AND c.review_id = e.review_id AND m.comparison_outcome = 'disputed')
        ORDER BY e.window_end LIMIT 1))::float8 AS "oldestDueSeconds"
    FROM unnest(${[...chains.keys()]}::bigint[]) AS chain (id), unnest(ARRAY['release', 'settle']) AS kinds (kind)`
}
