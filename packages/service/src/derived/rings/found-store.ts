// Writes the rings of a search.
import type { Sql, Transaction } from '@referrer/database'
import type { Ring } from '@referrer/ranking'
import { type Known, matchRings, type Shared } from './match.ts'

/** The largest ones; an operator looks at no more. */
const MOST_RINGS = 1_000
/** A ring that was not found for so long is deleted. */
const KEPT_DAYS = 90

/** A ring with what its numbers stand for. */
export interface Found extends Omit<Ring, 'members' | 'shops'> {
  members: { owner: Buffer; cast: number; got: number }[]
  shops: { merchantId: bigint; votes: number; spent: number }[]
}

export interface Search {
  chainId: number
  day: number
  owners: number
  votes: number
  isComplete: boolean
  at: Date
  tookMs: number
}

/** The day of the standings with which the rings of a chain were last looked for. */
export async function lastSearched(sql: Sql, chainId: number): Promise<number | undefined> {
  const [row] = await sql<{ day: number }[]>`SELECT day FROM market.ring_searches WHERE chain_id = ${chainId}`
  return row?.day
}

/** Stores what a search found: rings that are new, and what is known now of those that were found again. */
export async function storeSearch(sql: Sql, search: Search, rings: readonly Found[]): Promise<number> {
  const largest = rings.slice(0, MOST_RINGS)
  return sql.begin(async (tx) => {
    const { chainId, at } = search
    const stored = await storeRings(tx, chainId, at, largest)
    await tx`
      DELETE FROM market.rings WHERE chain_id = ${chainId} AND seen_at < ${at}::timestamptz - ${KEPT_DAYS} * INTERVAL '1 day'`
    await tx`
      INSERT INTO market.ring_searches (chain_id, day, owners, votes, is_complete, searched_at, took_ms)
      VALUES (${chainId}, ${search.day}, ${search.owners}, ${search.votes},
        ${search.isComplete && rings.length <= MOST_RINGS}, ${at}, ${search.tookMs})
      ON CONFLICT (chain_id) DO UPDATE SET day = excluded.day, owners = excluded.owners, votes = excluded.votes,
        is_complete = excluded.is_complete, searched_at = excluded.searched_at, took_ms = excluded.took_ms`
    return stored
  })
}

async function storeRings(
  tx: Transaction,
  chainId: number,
  at: Date,
  found: readonly Found[],
): Promise<number> {
  const known = await readKnown(tx, chainId)
  const shared = await readShared(tx, chainId, found)
  const sizes = found.map(({ members }) => members.length)
  const matches = matchRings(sizes, known, shared)
  const kept = found.flatMap((ring, number) => {
    const match = matches[number]
    return !match || match === 'left out' ? [] : [{ ...ring, ...match }]
  })
  if (kept.length === 0) return 0
  const ids = await newIds(tx, kept.filter(({ ringId }) => ringId === null).length)
  const rows = kept.map((ring) => ({ ...ring, ringId: ring.ringId ?? (ids.shift() as bigint) }))
  await writeRings(tx, chainId, at, rows)
  await writeParts(tx, chainId, rows)
  return rows.length
}

/** Locks them, so that nobody dismisses one meanwhile. */
const readKnown = (tx: Transaction, chainId: number): Promise<Known[]> => tx<Known[]>`
  SELECT ring_id AS "ringId", members, is_dismissed AS "isDismissed", members_then AS "membersThen"
  FROM market.rings WHERE chain_id = ${chainId} ORDER BY ring_id FOR UPDATE`

function readShared(tx: Transaction, chainId: number, found: readonly Found[]): Promise<Shared[]> {
  const members = found.flatMap(({ members }, number) => members.map(({ owner }) => ({ number, owner })))
  return tx<Shared[]>`
    SELECT f.number AS found, r.ring_id AS "ringId", count(*)::integer AS members
    FROM unnest(${members.map(({ number }) => number)}::integer[], ${members.map(({ owner }) => owner)}::bytea[]) AS f (number, owner)
    JOIN market.ring_members AS m ON m.owner = f.owner
    JOIN market.rings AS r ON r.ring_id = m.ring_id AND r.chain_id = ${chainId}
    GROUP BY 1, 2`
}

async function newIds(tx: Transaction, count: number): Promise<bigint[]> {
  const rows = await tx<{ id: bigint }[]>`
    SELECT nextval(pg_get_serial_sequence('market.rings', 'ring_id')) AS id FROM generate_series(1, ${count})`
  return rows.map(({ id }) => id)
}

type Row = Found & { ringId: bigint; isDismissed: boolean }

const secondsShown = (seconds: number) => new Date(1_000 * seconds).toISOString()

async function writeRings(tx: Transaction, chainId: number, at: Date, rows: readonly Row[]): Promise<void> {
  await tx`
    INSERT INTO market.rings (chain_id, ring_id, members, votes_inside, votes_all, spent_inside, spent_all, standing,
      first_vote_at, last_vote_at, is_dismissed, found_at, seen_at)
    SELECT ${chainId}, *, ${at}, ${at} FROM unnest(
      ${rows.map(({ ringId }) => ringId)}::bigint[], ${rows.map(({ members }) => members.length)}::integer[],
      ${rows.map(({ votes }) => votes.inside)}::integer[], ${rows.map(({ votes }) => votes.all)}::integer[],
      ${rows.map(({ spent }) => spent.inside)}::bigint[], ${rows.map(({ spent }) => spent.all)}::bigint[],
      ${rows.map(({ standing }) => standing)}::integer[],
      ${rows.map(({ votes }) => secondsShown(votes.first))}::timestamptz[],
      ${rows.map(({ votes }) => secondsShown(votes.last))}::timestamptz[],
      ${rows.map(({ isDismissed }) => isDismissed)}::boolean[])
    ON CONFLICT (ring_id) DO UPDATE SET members = excluded.members, votes_inside = excluded.votes_inside,
      votes_all = excluded.votes_all, spent_inside = excluded.spent_inside, spent_all = excluded.spent_all,
      standing = excluded.standing, first_vote_at = excluded.first_vote_at, last_vote_at = excluded.last_vote_at,
      is_dismissed = excluded.is_dismissed, seen_at = excluded.seen_at`
}

/** Members and shops are as they were found last. */
async function writeParts(tx: Transaction, chainId: number, rows: readonly Row[]): Promise<void> {
  const ids = rows.map(({ ringId }) => ringId)
  await tx`DELETE FROM market.ring_members WHERE ring_id = ANY(${ids}::bigint[])`
  await tx`DELETE FROM market.ring_shops WHERE ring_id = ANY(${ids}::bigint[])`
  const members = rows.flatMap(({ ringId, members }) => members.map((member) => ({ ringId, ...member })))
  await tx`
    INSERT INTO market.ring_members (ring_id, owner, cast_inside, got_inside, standing)
    SELECT m.*, o.standing FROM unnest(
      ${members.map(({ ringId }) => ringId)}::bigint[], ${members.map(({ owner }) => owner)}::bytea[],
      ${members.map(({ cast }) => cast)}::integer[], ${members.map(({ got }) => got)}::integer[]) AS m (ring_id, owner, given, got)
    LEFT JOIN market.owner_standings AS o ON o.chain_id = ${chainId} AND o.owner = m.owner`
  const shops = rows.flatMap(({ ringId, shops }) => shops.map((shop) => ({ ringId, ...shop })))
  await tx`
    INSERT INTO market.ring_shops (ring_id, merchant_id, votes, spent)
    SELECT * FROM unnest(
      ${shops.map(({ ringId }) => ringId)}::bigint[], ${shops.map(({ merchantId }) => merchantId)}::bigint[],
      ${shops.map(({ votes }) => votes)}::integer[], ${shops.map(({ spent }) => spent)}::bigint[])`
}
