import type { Queryable, Transaction } from '@referrer/database'
import type { AgentKey } from '../../kit/keys.ts'
import type { StoredFile } from './shapes.ts'

/** An agent may change its URI with every block: it is read at most this often. */
const LEAST_MINUTES = 10

/** Lets the URI of an agent be read; once it is queued it stays so. */
export async function queueReading(sql: Queryable, chainId: number, agentId: bigint): Promise<void> {
  await sql`
    INSERT INTO market.registrations (chain_id, agent_id) VALUES (${chainId}, ${agentId})
    ON CONFLICT DO NOTHING`
}

/** Lets changed URIs be read again, of agents that are queued. */
export async function readAgain(tx: Transaction, chainId: number, agentIds: bigint[]): Promise<void> {
  if (agentIds.length === 0) return
  await tx`
    UPDATE market.registrations SET failures = 0,
      next_read_at = greatest(now(), read_at + make_interval(mins => ${LEAST_MINUTES}))
    WHERE chain_id = ${chainId} AND agent_id = ANY(${agentIds}::bigint[])`
}

export type DueRow = { chain_id: bigint; agent_id: bigint; failures: number; uri: string }

/** Takes URIs that are due, so that nobody else reads them until `until`, also when this process dies. */
export function takeDue(
  sql: Queryable,
  { now, until, limit }: { now: Date; until: Date; limit: number },
): Promise<DueRow[]> {
  return sql<DueRow[]>`
    WITH due AS (
      SELECT chain_id, agent_id FROM market.registrations WHERE next_read_at <= ${now}
      ORDER BY next_read_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), taken AS (
      UPDATE market.registrations AS r SET next_read_at = ${until} FROM due
      WHERE (r.chain_id, r.agent_id) = (due.chain_id, due.agent_id)
      RETURNING r.chain_id, r.agent_id, r.failures
    )
    SELECT taken.*, coalesce(i.uri, '') AS uri FROM taken LEFT JOIN chain.identities AS i USING (chain_id, agent_id)`
}

export interface Reading {
  file: StoredFile | undefined
  failures: number
  nextReadAt: Date
  now: Date
  /** As it was taken. A URI that changed meanwhile is due earlier than what we would write. */
  until: Date
}

/** A file that could not be read again stays, if it is from the same URI. */
export async function noteReading(
  sql: Queryable,
  { chain_id, agent_id, uri }: DueRow,
  { file, failures, nextReadAt, now, until }: Reading,
): Promise<void> {
  await sql`
    UPDATE market.registrations AS r SET
      file = CASE WHEN ${file !== undefined} OR r.uri IS DISTINCT FROM ${uri} THEN ${file ? JSON.stringify(file) : null}::text::jsonb
        ELSE r.file END,
      read_at = CASE WHEN ${file !== undefined} OR r.uri IS DISTINCT FROM ${uri} THEN ${now} ELSE r.read_at END,
      uri = ${uri}, failures = ${failures},
      next_read_at = CASE WHEN r.next_read_at = ${until} THEN ${nextReadAt}
        ELSE r.next_read_at END
    WHERE chain_id = ${chain_id} AND agent_id = ${agent_id}`
}

/** Lets a URI wait that was taken and not read. */
export async function postpone(sql: Queryable, rows: readonly DueRow[], nextReadAt: Date): Promise<void> {
  if (rows.length === 0) return
  await sql`
    UPDATE market.registrations AS r SET next_read_at = ${nextReadAt}
    FROM unnest(${rows.map((row) => row.chain_id)}::bigint[], ${rows.map((row) => row.agent_id)}::bigint[]) AS k (chain_id, agent_id)
    WHERE (r.chain_id, r.agent_id) = (k.chain_id, k.agent_id)`
}

export type FileRow = { file: StoredFile; read_at: Date }

/** The files in the order of the keys, each only while the identity has the URI that it was read from. */
export async function findFiles(sql: Queryable, keys: readonly AgentKey[]): Promise<(FileRow | undefined)[]> {
  const rows = await sql<(FileRow & { at: bigint })[]>`
    SELECT key.at, r.file, r.read_at
    FROM unnest(${keys.map(({ chainId }) => chainId)}::bigint[], ${keys.map(({ agentId }) => agentId)}::bigint[])
      WITH ORDINALITY AS key (chain_id, agent_id, at)
    JOIN market.registrations AS r USING (chain_id, agent_id)
    JOIN chain.identities AS i USING (chain_id, agent_id)
    WHERE r.file IS NOT NULL AND r.uri = i.uri`
  const found = new Map(rows.map(({ at, ...row }) => [Number(at), row]))
  return keys.map((_, index) => found.get(index + 1))
}
