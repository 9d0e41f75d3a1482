import { copyIn, type Queryable, type Transaction } from '@referrer/database'
import type { Standing } from '@referrer/ranking'
import { BYTES_OF_OWNER, type ReadSpending } from './spending.ts'

export interface Pass {
  pass: bigint
  day: number
  as_of_block: bigint
  /** The newest decision that it knows of. */
  verification_id: bigint
  verified: number
  owners: number
  shops: number
  computed_at: Date
  took_ms: number
}

/** The newest pass of a chain. */
export async function lastPass(sql: Queryable, chainId: number): Promise<Pass | undefined> {
  const [row] = await sql<Pass[]>`
    SELECT pass, day, as_of_block, verification_id, verified, owners, shops, computed_at, took_ms
    FROM market.standing_passes WHERE chain_id = ${chainId} ORDER BY pass DESC LIMIT 1`
  return row
}

/** The newest decision after another one. */
export async function decisionAfter(
  sql: Queryable,
  chainId: number,
  after: bigint,
): Promise<bigint | undefined> {
  const [row] = await sql<{ newest: bigint | null }[]>`
    SELECT max(verification_id) AS newest FROM market.shop_verifications
    WHERE verification_id > ${after} AND chain_id = ${chainId}`
  return row?.newest ?? undefined
}

/** The shops that are verified now: by the newest decision, and still of the owner that they had then. */
const verifiedNow = (sql: Queryable, chainId: number) => sql`
  SELECT v.merchant_id FROM (
    SELECT DISTINCT ON (merchant_id) merchant_id, owner, is_verified FROM market.shop_verifications
    WHERE chain_id = ${chainId} ORDER BY merchant_id, verification_id DESC) AS v
  JOIN chain.identities AS i ON i.chain_id = ${chainId} AND i.agent_id = v.merchant_id AND i.owner = v.owner
  WHERE v.is_verified`

export async function verifiedShops(sql: Queryable, chainId: number): Promise<bigint[]> {
  const rows = await sql<{ merchant_id: bigint }[]>`${verifiedNow(sql, chainId)} ORDER BY 1`
  return rows.map(({ merchant_id }) => merchant_id)
}

/** Whether other shops are verified than the last pass took. */
export async function isGroundChanged(sql: Queryable, chainId: number): Promise<boolean> {
  const taken = sql`SELECT merchant_id FROM market.shop_standings WHERE chain_id = ${chainId} AND is_verified`
  const now = verifiedNow(sql, chainId)
  const { count } = await sql`((${now}) EXCEPT (${taken})) UNION ALL ((${taken}) EXCEPT (${now})) LIMIT 1`
  return count > 0
}

/** Whether there are decisions about any of these shops. */
export async function areDecided(
  sql: Queryable,
  chainId: number,
  merchantIds: readonly bigint[],
): Promise<boolean> {
  if (merchantIds.length === 0) return false
  const { count } = await sql`
    SELECT FROM market.shop_verifications
    WHERE chain_id = ${chainId} AND merchant_id = ANY(${[...merchantIds]}::bigint[]) LIMIT 1`
  return count > 0
}

/** The newest change that waits for the followers, and the newest indexed block. */
export async function horizonOf(sql: Queryable, chainId: number): Promise<{ upTo: bigint; block: bigint }> {
  const [row] = await sql<{ upTo: bigint; block: bigint }[]>`
    SELECT coalesce((SELECT max(id) FROM market.pending_changes WHERE chain_id = ${chainId}), 0) AS "upTo",
      coalesce((SELECT block_number FROM indexer.checkpoints WHERE chain_id = ${chainId}), 0) AS block`
  return row ?? { upTo: 0n, block: 0n }
}

/** Whether a change up to this one waits for the followers: it may be a purchase that is not counted yet. */
export async function doChangesWait(sql: Queryable, chainId: number, upTo: bigint): Promise<boolean> {
  const { count } = await sql`
    SELECT FROM market.pending_changes WHERE chain_id = ${chainId} AND id <= ${upTo} ORDER BY id LIMIT 1`
  return count > 0
}

export async function insertPass(tx: Transaction, chainId: number, pass: Pass): Promise<void> {
  await tx`
    INSERT INTO market.standing_passes
      (chain_id, pass, day, as_of_block, verification_id, verified, owners, shops, computed_at, took_ms)
    VALUES (${chainId}, ${pass.pass}, ${pass.day}, ${pass.as_of_block}, ${pass.verification_id}, ${pass.verified},
      ${pass.owners}, ${pass.shops}, ${pass.computed_at}, ${Math.round(pass.took_ms)})`
}

export async function forgetStandings(tx: Transaction, chainId: number): Promise<void> {
  await tx`DELETE FROM market.owner_standings WHERE chain_id = ${chainId}`
  await tx`DELETE FROM market.shop_standings WHERE chain_id = ${chainId}`
}

const LINES_AT_ONCE = 5_000

/** Replaces the standings of all owners. Rows that stay as they are are not written. */
export async function writeOwners(
  tx: Transaction,
  chainId: number,
  addresses: Uint8Array,
  standings: Int32Array,
): Promise<void> {
  await tx`CREATE TEMP TABLE owners_now (owner bytea NOT NULL, standing integer NOT NULL) ON COMMIT DROP`
  await copyIn(tx, { table: 'owners_now', columns: ['owner', 'standing'] }, linesOf(addresses, standings))
  await tx`ANALYZE owners_now`
  await tx`
    DELETE FROM market.owner_standings AS s
    WHERE chain_id = ${chainId} AND NOT EXISTS (SELECT FROM owners_now AS n WHERE n.owner = s.owner)`
  await tx`
    INSERT INTO market.owner_standings (chain_id, owner, standing)
    SELECT ${chainId}, n.owner, n.standing
    FROM owners_now AS n LEFT JOIN market.owner_standings AS s ON s.chain_id = ${chainId} AND s.owner = n.owner
    WHERE n.standing IS DISTINCT FROM s.standing ORDER BY n.owner
    ON CONFLICT (chain_id, owner) DO UPDATE SET standing = excluded.standing`
}

function* linesOf(addresses: Uint8Array, standings: Int32Array): Generator<Buffer> {
  const bytes = Buffer.from(addresses.buffer, addresses.byteOffset, addresses.length)
  for (let from = 0; from < standings.length; from += LINES_AT_ONCE) {
    let lines = ''
    for (let at = from; at < Math.min(from + LINES_AT_ONCE, standings.length); at += 1) {
      lines += `\\\\x${bytes.toString('hex', at * BYTES_OF_OWNER, (at + 1) * BYTES_OF_OWNER)}\t${standings[at]}\n`
    }
    yield Buffer.from(lines, 'latin1')
  }
}

/** Replaces the standings of all shops; the first `verified` of them are verified. */
export async function writeShops(
  tx: Transaction,
  chainId: number,
  shops: ReadSpending['shops'],
  standings: Standing['shops'],
  verified: number,
): Promise<void> {
  const ids = shops.map(({ merchantId }) => merchantId)
  await tx`
    DELETE FROM market.shop_standings
    WHERE chain_id = ${chainId} AND merchant_id NOT IN (SELECT unnest(${ids}::bigint[]))`
  await tx`
    INSERT INTO market.shop_standings AS s (chain_id, merchant_id, standing, is_verified, revenue, customers)
    SELECT ${chainId}, k.* FROM unnest(${ids}::bigint[], ${[...standings]}::int4[], ${shops.map((_, at) => at < verified)}::boolean[],
      ${shops.map(({ revenue }) => revenue)}::bigint[], ${shops.map(({ customers }) => customers)}::int4[]) AS k
    ON CONFLICT (chain_id, merchant_id) DO UPDATE SET standing = excluded.standing, is_verified = excluded.is_verified,
        revenue = excluded.revenue, customers = excluded.customers
      WHERE (s.standing, s.is_verified, s.revenue, s.customers)
        IS DISTINCT FROM (excluded.standing, excluded.is_verified, excluded.revenue, excluded.customers)`
}
