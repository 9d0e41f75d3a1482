import type { Context } from '../../kit/context.ts'

/** The last pass of one chain. */
export interface StandingFigures {
  chainId: number
  ageSeconds: number
  tookSeconds: number
  owners: number
  verified: number
}

/** Of the chains in which a shop was ever verified. */
export function standingFigures({ sql, chains, clock }: Pick<Context, 'sql' | 'chains' | 'clock'>) {
  return sql<StandingFigures[]>`
    SELECT chain.id::float8 AS "chainId", greatest(0, extract(epoch FROM ${new Date(clock())}::timestamptz - p.computed_at))::float8
        AS "ageSeconds", p.took_ms / 1000.0::float8 AS "tookSeconds", p.owners, p.verified
    FROM unnest(${[...chains.keys()]}::bigint[]) AS chain (id) CROSS JOIN LATERAL (
      SELECT computed_at, took_ms, owners, verified FROM market.standing_passes
      WHERE chain_id = chain.id ORDER BY pass DESC LIMIT 1) AS p`
}
