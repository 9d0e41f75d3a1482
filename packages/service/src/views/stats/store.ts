import type { Queryable } from '@referrer/database'

export type TradeRow = { purchases: bigint; volume: bigint; commission: bigint; cashback: bigint }

const NO_TRADE: TradeRow = { purchases: 0n, volume: 0n, commission: 0n, cashback: 0n }

/** Figures of a chain, from the running counts and sums. */
export async function readFigures(
  sql: Queryable,
  chainId: number,
): Promise<{ counts: Map<string, bigint>; trade: TradeRow }> {
  const [counts, [trade]] = await Promise.all([
    sql<{ what: string; count: bigint }[]>`SELECT what, count FROM market.counts WHERE chain_id = ${chainId}`,
    sql<TradeRow[]>`
      SELECT purchases, volume, commission, cashback FROM market.trade_totals WHERE chain_id = ${chainId}`,
  ])
  return { counts: new Map(counts.map(({ what, count }) => [what, count])), trade: trade ?? NO_TRADE }
}
