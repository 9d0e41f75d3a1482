import type { Context } from '../../kit/context.ts'
import { COUNTED } from '../../machinery/db/counts.ts'
import { holdingMoney } from '../../market/escrows/holding.ts'
import type { Kind } from './decision.ts'

/** How the oracle keeps up on one chain. */
export interface OracleFigures {
  chainId: number
  kind: Kind
  /** Its decisions of that kind that the chain does not show yet. */
  open: number
  /** How long ago the window of the first escrow ended that is not settled, holds something and waits for no dispute; 0: of none. */
  oldestDueSeconds: number
}

/** Of every chain, with or without an oracle here. Reads a bounded part of indexes. */
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
