// The queue of suspected rings, and the decisions of admins on them.
import type { Queryable } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'

export const STATES = ['open', 'acted', 'dismissed'] as const
export type State = (typeof STATES)[number]

export type RingRow = {
  ring_id: bigint
  state: State
  members: number
  shops: number
  votes_inside: number
  votes_all: number
  spent_inside: bigint
  spent_all: bigint
  standing: number
  first_vote_at: Date
  last_vote_at: Date
  found_at: Date
  seen_at: Date
  /** Of the last dismissal, also when the ring is open again. */
  note: string | null
  dismissed_at: Date | null
  dismissed_by: Buffer | null
}

/** The agents of the owner in a column. A shop has an identity, too, and is none. */
const agentsOf = (sql: Queryable, chainId: number, owner: ReturnType<Queryable>) => sql`
  chain.identities AS i
  JOIN market.agents AS a ON a.chain_id = i.chain_id AND a.agent_id = i.agent_id
  WHERE i.chain_id = ${chainId} AND i.owner = ${owner}
    AND NOT EXISTS (SELECT FROM chain.merchants AS s WHERE s.chain_id = i.chain_id AND s.merchant_id = i.agent_id)`

/** Whether members of a ring have agents that are flagged, or that are not. */
const hasAgents = (sql: Queryable, chainId: number, isFlagged: boolean) => sql`EXISTS (
  SELECT FROM market.ring_members AS m
  WHERE m.ring_id = r.ring_id AND EXISTS (
    SELECT FROM ${agentsOf(sql, chainId, sql`m.owner`)} AND a.flagged = ${isFlagged}))`

/** It was acted on when all agents of its members are flagged. */
const rings = (sql: Queryable, chainId: number) => sql`(
  SELECT r.*, CASE
      WHEN r.is_dismissed THEN 'dismissed'
      WHEN ${hasAgents(sql, chainId, false)} OR NOT ${hasAgents(sql, chainId, true)} THEN 'open'
      ELSE 'acted' END AS state
  FROM market.rings AS r WHERE r.chain_id = ${chainId})`

const columns = (sql: Queryable) => sql`
  r.ring_id, r.state, r.members, r.votes_inside, r.votes_all, r.spent_inside, r.spent_all, r.standing, r.first_vote_at, r.last_vote_at,
  r.found_at, r.seen_at, r.note, r.dismissed_at, r.dismissed_by,
  (SELECT count(*)::integer FROM market.ring_shops AS s WHERE s.ring_id = r.ring_id) AS shops`

/** Open ones first, of these the largest. A search keeps the number of rings small. */
export function listRings(
  sql: Queryable,
  chainId: number,
  { state, limit, offset }: Page & { state: State | undefined },
): Promise<RingRow[]> {
  return sql<RingRow[]>`
    SELECT ${columns(sql)} FROM ${rings(sql, chainId)} AS r
    ${state ? sql`WHERE r.state = ${state}` : sql``}
    ORDER BY array_position(${[...STATES]}::text[], r.state), r.members DESC, r.ring_id LIMIT ${limit} OFFSET ${offset}`
}

export async function findRing(
  sql: Queryable,
  chainId: number,
  ringId: bigint,
): Promise<RingRow | undefined> {
  const [row] = await sql<RingRow[]>`
    SELECT ${columns(sql)} FROM ${rings(sql, chainId)} AS r WHERE r.ring_id = ${ringId}`
  return row
}

export type MemberRow = {
  owner: Buffer
  standing: number | null
  cast_inside: number
  got_inside: number
  agents: { agent_id: number; flagged: boolean }[]
}

/** The members with the most votes first, each with its agents. */
export function membersOf(
  sql: Queryable,
  chainId: number,
  ringId: bigint,
  { members, agents }: { members: number; agents: number },
): Promise<MemberRow[]> {
  return sql<MemberRow[]>`
    SELECT m.owner, m.standing, m.cast_inside, m.got_inside, coalesce((
      SELECT json_agg(json_build_object('agent_id', one.agent_id, 'flagged', one.flagged) ORDER BY one.agent_id)
      FROM (SELECT a.agent_id, a.flagged FROM ${agentsOf(sql, chainId, sql`m.owner`)} ORDER BY a.agent_id LIMIT ${agents}) AS one
    ), '[]') AS agents
    FROM market.ring_members AS m WHERE m.ring_id = ${ringId}
    ORDER BY m.cast_inside + m.got_inside DESC, m.owner LIMIT ${members}`
}

export type RingShopRow = {
  merchant_id: bigint
  owner: Buffer | null
  standing: number | null
  votes: number
  spent: bigint
}

export function shopsOf(
  sql: Queryable,
  chainId: number,
  ringId: bigint,
  limit: number,
): Promise<RingShopRow[]> {
  return sql<RingShopRow[]>`
    SELECT s.merchant_id, i.owner, st.standing, s.votes, s.spent FROM market.ring_shops AS s
    LEFT JOIN chain.identities AS i ON i.chain_id = ${chainId} AND i.agent_id = s.merchant_id
    LEFT JOIN market.shop_standings AS st ON st.chain_id = ${chainId} AND st.merchant_id = s.merchant_id
    WHERE s.ring_id = ${ringId} ORDER BY s.votes DESC, s.merchant_id LIMIT ${limit}`
}

/** Votes of members for each other at the shops of a ring, by agents that they still own. */
const votesInside = (sql: Queryable, chainId: number, ringId: bigint) => sql`
  market.ring_members AS voter
  JOIN chain.identities AS i ON i.chain_id = ${chainId} AND i.owner = voter.owner
  JOIN market.votes AS v ON v.chain_id = i.chain_id AND v.voter_agent_id = i.agent_id AND v.voter_owner = voter.owner
  JOIN market.reviews AS w ON w.internal_id = v.review_internal_id
  JOIN market.ring_members AS author ON author.ring_id = voter.ring_id AND author.owner = w.author_owner
  JOIN market.ring_shops AS s ON s.ring_id = voter.ring_id AND s.merchant_id = w.merchant_id
  WHERE voter.ring_id = ${ringId} AND v.qualifies AND voter.owner <> author.owner`

export type PairRow = { voter: Buffer; author: Buffer; votes: number }

/** Who voted for whom, the most votes first. */
export function pairsOf(sql: Queryable, chainId: number, ringId: bigint, limit: number): Promise<PairRow[]> {
  return sql<PairRow[]>`
    SELECT voter.owner AS voter, author.owner AS author, count(*)::integer AS votes FROM ${votesInside(sql, chainId, ringId)}
    GROUP BY 1, 2 ORDER BY votes DESC, 1, 2 LIMIT ${limit}`
}

export type RingVoteRow = {
  cast_at: Date
  voter_agent_id: bigint
  voter: Buffer
  author_agent_id: bigint
  author: Buffer
  merchant_id: bigint
  product_id: Buffer
  internal_id: bigint
  reasoning: string
  weight: number
}

/** Newest first. */
export function votesOf(
  sql: Queryable,
  chainId: number,
  ringId: bigint,
  { limit, offset }: Page,
): Promise<RingVoteRow[]> {
  return sql<RingVoteRow[]>`
    SELECT v.cast_at, v.voter_agent_id, voter.owner AS voter, v.author_agent_id, author.owner AS author, w.merchant_id, w.product_id,
      w.internal_id, v.reasoning, v.weight
    FROM ${votesInside(sql, chainId, ringId)}
    ORDER BY v.cast_at DESC, v.ballot_id DESC, w.internal_id DESC LIMIT ${limit} OFFSET ${offset}`
}

export interface Dismissal {
  note: string
  by: Buffer
  at: Date
}

/** Dismisses a ring, until it has grown by half. */
export async function dismissRing(
  sql: Queryable,
  chainId: number,
  ringId: bigint,
  { note, by, at }: Dismissal,
): Promise<'unknown' | 'dismissed already' | 'dismissed'> {
  const { count } = await sql`
    UPDATE market.rings SET is_dismissed = true, members_then = members, note = ${note}, dismissed_by = ${by}, dismissed_at = ${at}
    WHERE ring_id = ${ringId} AND chain_id = ${chainId} AND NOT is_dismissed`
  if (count > 0) return 'dismissed'
  const known = await sql`SELECT FROM market.rings WHERE ring_id = ${ringId} AND chain_id = ${chainId}`
  return known.length > 0 ? 'dismissed already' : 'unknown'
}
