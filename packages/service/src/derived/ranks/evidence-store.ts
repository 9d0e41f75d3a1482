import type { Queryable, Transaction } from '@referrer/database'
import { dayOf, findingWeight } from '@referrer/ranking'
import type { Change, Choice, Group, Piece, Totals } from './evidence.ts'
import { isFull, thatCount } from './evidence.ts'

/** Identifies a purchase. */
export interface Payment {
  contract: Buffer
  payer: Buffer
  nonce: Buffer
}

/**
 * A unit of evidence that is chosen together: the votes of one owner for an author or, with an empty owner, the
 * author's findings.
 */
export type Unit = Pick<Piece, 'agentId' | 'voterOwner'>

/** `piece` is null if it does not count. */
export type Look = Unit & { piece: Piece | null }

const NOBODY = Buffer.alloc(0)

// ---- votes: `v` is a vote, `b` its ballot, `r` its review as last seen in `seen.ts`

const voteColumns = (sql: Queryable) => sql`
  v.author_agent_id AS "agentId", 'vote' AS kind, v.review_internal_id AS "reviewId", '' AS product,
  v.voter_owner AS "voterOwner", v.voter_agent_id AS "voterAgentId", v.ballot_id AS source, v.weight, v.cast_at AS "happenedAt"`

/** Whether a vote counts at all, whatever it weighs. */
export const voteHolds = (sql: Queryable) => sql`(
  r.internal_id IS NOT NULL
  AND NOT EXISTS (
    SELECT FROM market.agents AS a WHERE (a.chain_id, a.agent_id) = (v.chain_id, v.voter_agent_id) AND a.flagged)
  AND EXISTS (
    SELECT FROM chain.escrows AS e
    WHERE (e.chain_id, e.payer, e.nonce) = (b.chain_id, b.payer, b.nonce)
      AND e.contract = b.contract AND e.buyer_agent_id = v.voter_agent_id))`

type Row = Piece & { holds: boolean }

/** The ids of these ballots and of the ballots for these purchases, as SQL. */
export const ballotsLookedAt = (
  sql: Queryable,
  chainId: number,
  ballotIds: readonly bigint[],
  payments: readonly Payment[],
) => sql`
  SELECT unnest(${[...ballotIds]}::bigint[]) AS ballot_id
  UNION SELECT b.ballot_id
  FROM unnest(
    ${payments.map(({ contract }) => contract)}::bytea[],
    ${payments.map(({ payer }) => payer)}::bytea[],
    ${payments.map(({ nonce }) => nonce)}::bytea[]) AS p (contract, payer, nonce)
  JOIN market.ballots AS b ON b.chain_id = ${chainId} AND (b.payer, b.nonce, b.contract) = (p.payer, p.nonce, p.contract)`

/** The votes of these ballots and of the ballots for these purchases. */
export async function lookAtVotes(
  sql: Queryable,
  chainId: number,
  ballotIds: readonly bigint[],
  payments: readonly Payment[],
): Promise<Look[]> {
  if (ballotIds.length + payments.length === 0) return []
  const rows = await sql<Row[]>`
    WITH looked AS (
      ${ballotsLookedAt(sql, chainId, ballotIds, payments)}
    )
    SELECT ${voteColumns(sql)}, r.owner, r.product_type AS type, ${voteHolds(sql)} AS holds
    FROM looked JOIN market.ballots AS b USING (ballot_id) JOIN market.votes AS v USING (ballot_id)
    LEFT JOIN market.ranked_reviews AS r ON r.internal_id = v.review_internal_id
    WHERE v.weight > 0`
  return rows.map(({ holds, ...piece }) => ({ ...piece, piece: holds ? piece : null }))
}

function newestVotes(sql: Queryable, chainId: number, groups: readonly Group[], most: number) {
  return sql<(Piece & { at: number })[]>`
    SELECT g.at, newest.*
    FROM unnest(
      ${groups.map(({ agentId }) => agentId)}::bigint[], ${groups.map(({ owner }) => owner)}::bytea[],
      ${groups.map(({ type }) => type)}::int4[], ${groups.map(({ voterOwner }) => voterOwner)}::bytea[],
      ${groups.map((_, at) => at)}::int4[]) AS g (agent_id, owner, type, voter_owner, at)
    CROSS JOIN LATERAL (
      SELECT ${voteColumns(sql)}, r.owner, r.product_type AS type
      FROM market.votes AS v JOIN market.ballots AS b USING (ballot_id)
      JOIN market.ranked_reviews AS r ON r.internal_id = v.review_internal_id
      WHERE v.chain_id = ${chainId} AND v.author_agent_id = g.agent_id AND v.voter_owner = g.voter_owner AND v.weight > 0
        AND r.owner = g.owner AND r.product_type = g.type AND ${voteHolds(sql)}
      ORDER BY v.cast_at DESC, v.ballot_id DESC, v.review_internal_id DESC LIMIT ${most}) AS newest`
}

// ---- findings: `f` is a finding, `m` its review, `r` that review as last seen in `seen.ts`

const findingColumns = (sql: Queryable) => sql`
  f.agent_id AS "agentId", f.outcome AS kind, f.internal_id AS "reviewId",
  m.merchant_id || '/' || encode(m.product_id, 'hex') AS product, ''::bytea AS "voterOwner", NULL::bigint AS "voterAgentId",
  f.finding_id AS source, f.size, f.found_at AS "happenedAt"`

const findingHolds = (sql: Queryable) => sql`(
  r.internal_id IS NOT NULL AND f.outcome <> 'pending' AND f.size > 0 AND NOT (
    m.comparison_outcome = 'resolved' AND NOT EXISTS (
      SELECT FROM market.dispute_decisions AS d WHERE d.internal_id = m.internal_id AND d.upheld)))`

const latestFinding = (sql: Queryable) => sql`(
  SELECT * FROM market.findings AS f WHERE f.internal_id = m.internal_id ORDER BY f.finding_id DESC LIMIT 1)`

type FindingRow = Omit<Piece, 'weight' | 'kind'> & { kind: 'confirmed' | 'contradicted'; size: number }

const weighed = ({ size, ...row }: FindingRow): Piece => ({ ...row, weight: findingWeight(row.kind, size) })

/** The latest finding on each of these reviews. */
export async function lookAtFindings(sql: Queryable, reviewIds: readonly bigint[]): Promise<Look[]> {
  if (reviewIds.length === 0) return []
  const rows = await sql<(FindingRow & { holds: boolean })[]>`
    SELECT ${findingColumns(sql)}, r.owner, r.product_type AS type, ${findingHolds(sql)} AS holds
    FROM market.reviews AS m CROSS JOIN LATERAL ${latestFinding(sql)} AS f
    LEFT JOIN market.ranked_reviews AS r ON r.internal_id = m.internal_id
    WHERE m.internal_id = ANY(${[...reviewIds]}::bigint[])`
  return rows.map(({ holds, ...row }) => ({
    agentId: row.agentId,
    voterOwner: NOBODY,
    piece: holds ? weighed(row) : null,
  }))
}

async function newestFindings(sql: Queryable, chainId: number, groups: readonly Group[], most: number) {
  const rows = await sql<(FindingRow & { at: number })[]>`
    SELECT g.at, newest.*
    FROM unnest(
      ${groups.map(({ agentId }) => agentId)}::bigint[], ${groups.map(({ owner }) => owner)}::bytea[],
      ${groups.map(({ type }) => type)}::int4[], ${groups.map(({ kind }) => kind)}::text[],
      ${groups.map((_, at) => at)}::int4[]) AS g (agent_id, owner, type, kind, at)
    CROSS JOIN LATERAL (
      SELECT ${findingColumns(sql)}, r.owner, r.product_type AS type
      FROM market.findings AS f JOIN market.reviews AS m USING (internal_id)
      JOIN market.ranked_reviews AS r ON r.internal_id = m.internal_id
      WHERE f.chain_id = ${chainId} AND f.agent_id = g.agent_id AND f.outcome = g.kind
        AND r.owner = g.owner AND r.product_type = g.type AND ${findingHolds(sql)}
        AND NOT EXISTS (
          SELECT FROM market.findings AS later WHERE later.internal_id = f.internal_id AND later.finding_id > f.finding_id)
      ORDER BY f.finding_id DESC LIMIT ${most}) AS newest`
  return rows.map(({ at, ...row }) => ({ at, ...weighed(row) }))
}

// ---- evidence

/** The evidence that counts for these units now, and whether each piece is still valid. */
export async function countedOf(sql: Queryable, chainId: number, units: readonly Unit[]): Promise<Row[]> {
  const voters = units.filter(({ voterOwner }) => voterOwner.length > 0)
  const authors = units.filter(({ voterOwner }) => voterOwner.length === 0)
  const isInPlace = sql`(r.owner, r.product_type) IS NOT DISTINCT FROM (x.owner, x.product_type)`
  const [votes, findings] = await Promise.all([
    voters.length === 0
      ? []
      : sql<Row[]>`
          SELECT ${voteColumns(sql)}, x.owner, x.product_type AS type, ${voteHolds(sql)} AND ${isInPlace} AS holds
          FROM unnest(${voters.map(({ agentId }) => agentId)}::bigint[], ${voters.map(({ voterOwner }) => voterOwner)}::bytea[])
            AS u (agent_id, voter_owner)
          JOIN market.rank_evidence AS x
            ON x.chain_id = ${chainId} AND x.agent_id = u.agent_id AND x.voter_owner = u.voter_owner
          JOIN market.votes AS v ON v.ballot_id = x.source AND v.review_internal_id = x.review_internal_id
          JOIN market.ballots AS b ON b.ballot_id = v.ballot_id
          LEFT JOIN market.ranked_reviews AS r ON r.internal_id = v.review_internal_id`,
    authors.length === 0
      ? []
      : sql<(FindingRow & { holds: boolean })[]>`
          SELECT ${findingColumns(sql)}, x.owner, x.product_type AS type,
            ${findingHolds(sql)} AND ${isInPlace} AND latest.finding_id = f.finding_id AS holds
          FROM unnest(${authors.map(({ agentId }) => agentId)}::bigint[]) AS u (agent_id)
          JOIN market.rank_evidence AS x
            ON x.chain_id = ${chainId} AND x.agent_id = u.agent_id AND x.voter_owner = ''
          JOIN market.findings AS f ON f.finding_id = x.source
          JOIN market.reviews AS m ON m.internal_id = f.internal_id
          CROSS JOIN LATERAL ${latestFinding(sql)} AS latest
          LEFT JOIN market.ranked_reviews AS r ON r.internal_id = m.internal_id`,
  ])
  return [...votes, ...findings.map(({ holds, ...row }) => ({ holds, ...weighed(row) }))]
}

const READ_STEP = 32

/**
 * Reloads groups that have lost a piece, from the newest evidence on. Reads more, in growing steps, until a group is
 * full or has no more.
 */
export async function refill(sql: Queryable, chainId: number, choices: readonly Choice[]): Promise<void> {
  let open = choices.filter(({ isOpen }) => isOpen)
  for (let most = READ_STEP; open.length > 0; most *= READ_STEP) {
    const votes = open.filter(({ kind }) => kind === 'vote')
    const findings = open.filter(({ kind }) => kind !== 'vote')
    const [ofVotes, ofFindings] = await Promise.all([
      votes.length === 0 ? [] : newestVotes(sql, chainId, votes, most),
      findings.length === 0 ? [] : newestFindings(sql, chainId, findings, most),
    ])
    for (const choice of open) choice.candidates = []
    for (const { at, ...piece } of ofVotes) votes[at]?.candidates.push(piece)
    for (const { at, ...piece } of ofFindings) findings[at]?.candidates.push(piece)
    open = open.filter(
      (choice) => choice.candidates.length === most && !isFull(choice, thatCount(choice, choice.candidates)),
    )
  }
}

export async function writeEvidence(tx: Transaction, chainId: number, { gone, come }: Change): Promise<void> {
  if (gone.length > 0) {
    await tx`
      DELETE FROM market.rank_evidence AS x
      USING unnest(${gone.map(({ reviewId }) => reviewId)}::bigint[], ${gone.map(({ voterOwner }) => voterOwner)}::bytea[])
        AS g (review_internal_id, voter_owner)
      WHERE x.chain_id = ${chainId} AND x.review_internal_id = g.review_internal_id AND x.voter_owner = g.voter_owner`
  }
  if (come.length === 0) return
  const column = <T>(pick: (piece: Piece) => T) => come.map(pick)
  await tx`
    INSERT INTO market.rank_evidence
      (chain_id, review_internal_id, voter_owner, agent_id, owner, product_type, kind, voter_agent_id, source, weight, happened_at, day)
    SELECT ${chainId}, c.* FROM unnest(
      ${column(({ reviewId }) => reviewId)}::bigint[], ${column(({ voterOwner }) => voterOwner)}::bytea[],
      ${column(({ agentId }) => agentId)}::bigint[], ${column(({ owner }) => owner)}::bytea[],
      ${column(({ type }) => type)}::int2[], ${column(({ kind }) => kind)}::text[],
      ${column(({ voterAgentId }) => voterAgentId)}::bigint[], ${column(({ source }) => source)}::bigint[],
      ${column(({ weight }) => weight)}::int4[], ${column(({ happenedAt }) => happenedAt)}::timestamptz[],
      ${column(({ happenedAt }) => dayOf(happenedAt))}::int4[]) AS c`
}

/** Adds differences to the totals. Totals without evidence have no row. */
export async function addTotals(tx: Transaction, chainId: number, totals: readonly Totals[]): Promise<void> {
  if (totals.length === 0) return
  const [agents, owners, types] = [
    totals.map(({ agentId }) => agentId),
    totals.map(({ owner }) => owner),
    totals.map(({ type }) => type),
  ]
  await tx`
    INSERT INTO market.rank_totals AS t (chain_id, agent_id, owner, product_type, gain, loss, pieces)
    SELECT ${chainId}, d.* FROM unnest(
      ${agents}::bigint[], ${owners}::bytea[], ${types}::int2[],
      ${totals.map(({ gain }) => gain)}::numeric[], ${totals.map(({ loss }) => loss)}::numeric[],
      ${totals.map(({ pieces }) => pieces)}::int4[]) AS d
    ON CONFLICT (chain_id, agent_id, owner, product_type)
      DO UPDATE SET gain = t.gain + excluded.gain, loss = t.loss + excluded.loss, pieces = t.pieces + excluded.pieces`
  await tx`
    DELETE FROM market.rank_totals AS t USING unnest(${agents}::bigint[], ${owners}::bytea[], ${types}::int2[]) AS d (agent_id, owner, type)
    WHERE t.chain_id = ${chainId} AND t.agent_id = d.agent_id AND t.owner = d.owner AND t.product_type = d.type AND t.pieces = 0`
}
