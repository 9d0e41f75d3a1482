import type { Queryable } from '@referrer/database'

/** An offer that somebody has begun to ask for. */
export type AskedRow = {
  chain_id: bigint
  merchant_id: bigint
  product_id: Buffer
  endpoint_url: string
}

/** As many are looked at to find hosts; of one that has more due, the others are found when it is busy. */
const LOOKED_AT = 500

/** Hosts with something to be asked, other than these, whoever waits longest first. */
export async function dueHosts(
  sql: Queryable,
  {
    chainIds,
    now,
    busy,
    limit,
  }: { chainIds: readonly number[]; now: Date; busy: readonly string[]; limit: number },
): Promise<string[]> {
  const rows = await sql<{ host: string }[]>`
    SELECT host FROM (
      SELECT host, ask_at FROM market.offers
      WHERE ask_at <= ${now} AND chain_id = ANY(${chainIds}::bigint[]) AND host <> ALL(${busy}::text[])
      ORDER BY ask_at LIMIT ${LOOKED_AT}) AS due
    GROUP BY host ORDER BY min(ask_at), host LIMIT ${limit}`
  return rows.map(({ host }) => host)
}

/** From here on it counts as asked, whatever happens to whoever asks. */
export async function takeDue(
  sql: Queryable,
  host: string,
  { chainIds, now }: { chainIds: readonly number[]; now: Date },
): Promise<AskedRow | undefined> {
  const [row] = await sql<AskedRow[]>`
    UPDATE market.offers AS o SET asked_at = ${now}, ask_at = ${now}::timestamptz + INTERVAL '1 hour'
    FROM (
      SELECT chain_id, merchant_id, product_id FROM market.offers
      WHERE host = ${host} AND ask_at <= ${now} AND chain_id = ANY(${chainIds}::bigint[])
      ORDER BY ask_at LIMIT 1 FOR UPDATE SKIP LOCKED) AS due
    WHERE o.chain_id = due.chain_id AND o.merchant_id = due.merchant_id AND o.product_id = due.product_id
    RETURNING o.chain_id, o.merchant_id, o.product_id, o.endpoint_url`
  return row
}

/** What was asked, unless its endpoint is another by now. */
const asked = (sql: Queryable, row: AskedRow) => sql`
  chain_id = ${row.chain_id} AND merchant_id = ${row.merchant_id} AND product_id = ${row.product_id}
  AND endpoint_url = ${row.endpoint_url}`

/** `waitMs`: beyond the hour. */
export async function noteOffer(
  sql: Queryable,
  row: AskedRow,
  { price, now, waitMs }: { price: bigint; now: Date; waitMs: number },
): Promise<void> {
  await sql`
    UPDATE market.offers SET price = ${price}, seen_at = ${now}, failures = 0,
      ask_at = ask_at + ${waitMs} * INTERVAL '1 millisecond'
    WHERE ${asked(sql, row)}`
}

/** The price that was seen stays. After the first time it is tried again in an hour, then in two, four, … and at last once a week. */
export async function noteFailure(sql: Queryable, row: AskedRow): Promise<void> {
  await sql`
    UPDATE market.offers SET failures = failures + 1,
      ask_at = ask_at + (least(2 ^ least(failures, 10), 7 * 24) - 1) * INTERVAL '1 hour'
    WHERE ${asked(sql, row)}`
}
