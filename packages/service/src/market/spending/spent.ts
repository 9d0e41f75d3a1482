import type { Queryable } from '@referrer/database'

export interface Spender {
  chainId: number
  owner: Buffer
}

export type Spent = {
  today: bigint
  total: bigint
  /** The newest block whose purchases are counted. */
  asOfBlock: bigint
}

/**
 * The spending that counts against a wallet's caps: all purchases that it paid, and all purchases by agents while it owned them, whoever
 * paid. Undefined when the chain is not indexed yet.
 */
export async function spentBy(
  sql: Queryable,
  { chainId, owner }: Spender,
  now: Date,
): Promise<Spent | undefined> {
  const [row] = await sql<Spent[]>`
    SELECT c.block_number AS "asOfBlock", s.today, s.total
    FROM indexer.checkpoints AS c, LATERAL (
      SELECT coalesce(sum(amount) FILTER (WHERE day = (${now}::timestamptz AT TIME ZONE 'UTC')::date), 0) AS today,
        coalesce(sum(amount), 0) AS total
      FROM market.spent WHERE chain_id = ${chainId} AND owner = ${owner}) AS s
    WHERE c.chain_id = ${chainId}`
  return row
}
