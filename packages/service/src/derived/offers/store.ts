import type { Queryable } from '@referrer/database'
import type { Told } from './told.ts'

/** A product whose price a worker has claimed to ask for. */
export type AskedRow = {
  chain_id: bigint
  merchant_id: bigint
  product_id: Buffer
  endpoint_url: string
}

/** The hosts of these due products, one for each, but those of `not` hosts; the longest due first. */
export async function dueHosts(
  sql: Queryable,
  {
    chainIds,
    now,
    not,
    offset,
    limit,
  }: { chainIds: readonly number[]; now: Date; not: readonly string[]; offset: number; limit: number },
): Promise<string[]> {
  const rows = await sql<{ host: string }[]>`
    SELECT host FROM market.offers
    WHERE ask_at <= ${now} AND chain_id = ANY(${chainIds}::bigint[]) AND host <> ALL(${not}::text[])
    ORDER BY ask_at OFFSET ${offset} LIMIT ${limit}`
  return rows.map(({ host }) => host)
}

/** Claims the next due product of a host. From here on it counts as asked, even if the worker crashes. */
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

/** The claimed product, unless its endpoint has changed since. */
const asked = (sql: Queryable, row: AskedRow) => sql`
  chain_id = ${row.chain_id} AND merchant_id = ${row.merchant_id} AND product_id = ${row.product_id}
  AND endpoint_url = ${row.endpoint_url}`

/** What an endpoint answered. */
export interface SeenOffer {
  price: bigint
  told: Told
}

/** `waitMs` is added to the hour until the next request. */
export async function noteOffer(
  sql: Queryable,
  row: AskedRow,
  { price, told, now, waitMs }: SeenOffer & { now: Date; waitMs: number },
): Promise<void> {
  // With the endpoint that told it: an earlier version, running beside this one, changes the endpoint and leaves the rest.
  const text = JSON.stringify({ ...told, endpoint: row.endpoint_url })
  // What is told seldom changes. A value that stays is not written again, however large it is.
  await sql`
    UPDATE market.offers SET price = ${price}, seen_at = ${now}, failures = 0,
      told = CASE WHEN told = ${text}::text::jsonb THEN told ELSE ${text}::text::jsonb END,
      ask_at = ask_at + ${waitMs} * INTERVAL '1 millisecond'
    WHERE ${asked(sql, row)}`
}

/** Keeps what is known. The back-off is one hour, then two, four, … and at most a week. */
export async function noteFailure(sql: Queryable, row: AskedRow): Promise<void> {
  await sql`
    UPDATE market.offers SET failures = failures + 1,
      ask_at = ask_at + (least(2 ^ least(failures, 10), 7 * 24) - 1) * INTERVAL '1 hour'
    WHERE ${asked(sql, row)}`
}

/** What the endpoint of the product `p` told, from its offer `o`. */
export const toldBy = (sql: Queryable) =>
  sql`CASE WHEN o.told ->> 'endpoint' = p.endpoint_url THEN o.told - 'endpoint' END AS told`
