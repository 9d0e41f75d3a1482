import type { Queryable, Transaction } from '@referrer/database'
import { LONGEST_URI } from '../../kit/onchain.ts'
import type { StoredFile } from './shapes.ts'

/** An agent may change its URI with every block: it is read at most this often. */
const LEAST_MINUTES = 10

/** Lets the URI of an agent be read, in the transaction that registers it; once it is queued it stays so. */
export async function queueReading(tx: Transaction, chainId: number, agentId: bigint): Promise<void> {
  await tx`
    INSERT INTO market.registrations (chain_id, agent_id) VALUES (${chainId}, ${agentId})
    ON CONFLICT DO NOTHING`
}

/**
 * Queues what is registered and not queued, among the ids of one stretch: the stretches have `size` ids each, and follow each other around
 * by `turn`. Returns how many there were.
 */
export async function queueMissing(
  sql: Queryable,
  chainId: number,
  { turn, size }: { turn: number; size: number },
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    WITH last AS (
      SELECT greatest(
        (SELECT max(agent_id) FROM market.agents WHERE chain_id = ${chainId}),
        (SELECT max(merchant_id) FROM market.merchants WHERE chain_id = ${chainId})) AS id
    ), stretch AS MATERIALIZED (
      SELECT ${turn}::bigint % (id / ${size}::bigint + 1) * ${size}::bigint AS first_id FROM last WHERE id IS NOT NULL
    ), registered AS (
      SELECT agent_id FROM market.agents WHERE chain_id = ${chainId} AND registered_at IS NOT NULL
        AND agent_id >= (SELECT first_id FROM stretch) AND agent_id < (SELECT first_id FROM stretch) + ${size}::bigint
      UNION
      SELECT merchant_id FROM market.merchants WHERE chain_id = ${chainId}
        AND merchant_id >= (SELECT first_id FROM stretch) AND merchant_id < (SELECT first_id FROM stretch) + ${size}::bigint
    ), queued AS (
      INSERT INTO market.registrations (chain_id, agent_id)
      SELECT ${chainId}::bigint, agent_id FROM registered
      -- A scalar subquery, because the planner may turn a join into a scan of the whole table.
      WHERE (SELECT true FROM market.registrations AS r WHERE r.chain_id = ${chainId} AND r.agent_id = registered.agent_id) IS NULL
      ON CONFLICT DO NOTHING RETURNING 1
    )
    SELECT count(*)::integer AS count FROM queued`
  return row?.count ?? 0
}

/** Lets changed URIs be read again, of agents that are queued. */
export async function readAgain(tx: Transaction, chainId: number, agentIds: bigint[]): Promise<void> {
  if (agentIds.length === 0) return
  await tx`
    UPDATE market.registrations SET failures = 0,
      next_read_at = greatest(now(), read_at + make_interval(mins => ${LEAST_MINUTES}))
    WHERE chain_id = ${chainId} AND agent_id = ANY(${agentIds}::bigint[])`
}

/** `uri` is empty when the identity has none, or one that is too long to be read. */
export type DueRow = { chain_id: bigint; agent_id: bigint; failures: number; uri: string }

/**
 * Takes URIs that are due, so that nobody else reads them until `until`, also when this process dies. `read_at` is when one was last taken,
 * whatever came of it: whoever changes a URI again and again must not have it read more often because it cannot be read.
 */
export function takeDue(
  sql: Queryable,
  { now, until, limit }: { now: Date; until: Date; limit: number },
): Promise<DueRow[]> {
  return sql<DueRow[]>`
    WITH due AS (
      SELECT chain_id, agent_id, next_read_at AS due_at FROM market.registrations WHERE next_read_at <= ${now}
      ORDER BY next_read_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), taken AS (
      UPDATE market.registrations AS r SET next_read_at = ${until}, read_at = ${now} FROM due
      WHERE (r.chain_id, r.agent_id) = (due.chain_id, due.agent_id)
      RETURNING r.chain_id, r.agent_id, r.failures, due.due_at
    )
    SELECT taken.chain_id, taken.agent_id, taken.failures, CASE WHEN octet_length(i.uri) <= ${LONGEST_URI} THEN i.uri ELSE '' END AS uri
    FROM taken LEFT JOIN chain.identities AS i USING (chain_id, agent_id)
    ORDER BY taken.due_at`
}

export interface Reading {
  file: StoredFile | undefined
  failures: number
  nextReadAt: Date
  /** As it was taken. A URI that changed meanwhile is due earlier than what we would write. */
  until: Date
}

/** A file that could not be read again stays, if it is from the same URI. */
export async function noteReading(
  sql: Queryable,
  { chain_id, agent_id, uri }: DueRow,
  { file, failures, nextReadAt, until }: Reading,
): Promise<void> {
  await sql`
    UPDATE market.registrations AS r SET
      file = CASE WHEN ${file !== undefined} OR r.uri IS DISTINCT FROM ${uri} THEN ${file ? JSON.stringify(file) : null}::text::jsonb
        ELSE r.file END,
      uri = ${uri}, failures = ${failures},
      -- Where there was nothing to read, the first URI need not wait.
      read_at = CASE WHEN ${uri !== ''} THEN r.read_at END,
      next_read_at = CASE WHEN r.next_read_at = ${until} THEN ${nextReadAt}
        ELSE r.next_read_at END
    WHERE chain_id = ${chain_id} AND agent_id = ${agent_id}`
}

/** Lets URIs wait that were taken and not read, unless they changed since they were taken until `until`. */
export async function postpone(
  sql: Queryable,
  later: readonly { row: DueRow; nextReadAt: Date }[],
  until: Date,
): Promise<void> {
  if (later.length === 0) return
  await sql`
    UPDATE market.registrations AS r SET next_read_at = k.next_read_at
    FROM unnest(
      ${later.map(({ row }) => row.chain_id)}::bigint[], ${later.map(({ row }) => row.agent_id)}::bigint[],
      ${later.map(({ nextReadAt }) => nextReadAt)}::timestamptz[]
    ) AS k (chain_id, agent_id, next_read_at)
    WHERE (r.chain_id, r.agent_id) = (k.chain_id, k.agent_id) AND r.next_read_at = ${until}`
}

/** Null: none was read. */
export type FileColumn = { registration: { file: StoredFile; read_at: string } | null }

/** The file of the identity `i` as a column, while it has the very URI that the file was read from. */
export const fileColumn = (sql: Queryable) => sql`(
  SELECT jsonb_build_object('file', r.file, 'read_at', r.read_at) FROM market.registrations AS r
  WHERE r.chain_id = i.chain_id AND r.agent_id = i.agent_id AND r.uri = i.uri AND r.file IS NOT NULL) AS registration`
