import type { Queryable } from '@referrer/database'

/** The earnings of an agent: as the reviewer whose ref link was used, and as the buyer. */
export type EarningsRow = {
  immediate: bigint
  held_back_settled: bigint
  held_back_pending: bigint
  cashback_total: bigint
  cashback_count: bigint
  cashback_pending: bigint
}

/** A period from `from` (inclusive) to `to` (exclusive); a missing end is open. */
export type Period = { from?: Date | undefined; to?: Date | undefined }

const NO_EARNINGS: EarningsRow = {
  immediate: 0n,
  held_back_settled: 0n,
  held_back_pending: 0n,
  cashback_total: 0n,
  cashback_count: 0n,
  cashback_pending: 0n,
}

/** Earnings of all purchases, from the running totals. */
export async function earningsOfAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
): Promise<EarningsRow> {
  const [row] = await sql<EarningsRow[]>`
    SELECT immediate, held_back_settled, held_back_pending, cashback_total, cashback_count, cashback_pending
    FROM market.earnings WHERE chain_id = ${chainId} AND agent_id = ${agentId}`
  return row ?? NO_EARNINGS
}

/** Earnings of the purchases made in a period. */
export async function earningsInPeriod(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { from, to }: Period,
): Promise<EarningsRow> {
  // The time is passed as a number, because Postgres does not parse the text of a year that has not four digits.
  const moment = (date: Date) => sql`to_timestamp(${date.getTime() / 1_000}::float8)`
  const within = sql`
    e.chain_id = ${chainId} ${from ? sql`AND e.deposited_at >= ${moment(from)}` : sql``}
    ${to ? sql`AND e.deposited_at < ${moment(to)}` : sql``}`
  const [row] = await sql<EarningsRow[]>`
    SELECT coalesce(sum(x.immediate), 0) AS immediate, coalesce(sum(x.held_back_settled), 0) AS held_back_settled,
      coalesce(sum(x.held_back_pending), 0) AS held_back_pending, coalesce(sum(x.cashback_total), 0) AS cashback_total,
      coalesce(sum(x.cashback_count), 0) AS cashback_count, coalesce(sum(x.cashback_pending), 0) AS cashback_pending
    FROM (
      SELECT x.* FROM chain.escrows AS e, LATERAL market.earnings_of(e) AS x
      WHERE ${within} AND e.reviewer_agent_id = ${agentId} AND x.agent_id = ${agentId}
      UNION ALL
      SELECT x.* FROM chain.escrows AS e, LATERAL market.earnings_of(e) AS x
      WHERE ${within} AND e.buyer_agent_id = ${agentId} AND e.reviewer_agent_id <> ${agentId} AND x.agent_id = ${agentId}
    ) AS x`
  return row ?? NO_EARNINGS
}

/** The address where an agent is paid: its wallet, else its owner. */
export async function payeeOf(sql: Queryable, chainId: number, agentId: bigint): Promise<Buffer | undefined> {
  const [row] = await sql<{ payee: Buffer }[]>`
    SELECT coalesce(nullif(wallet, ${ZERO_ADDRESS}), owner) AS payee
    FROM chain.identities WHERE chain_id = ${chainId} AND agent_id = ${agentId}`
  return row?.payee
}

const ZERO_ADDRESS = Buffer.alloc(20)
