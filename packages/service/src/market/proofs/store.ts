import type { Queryable } from '@referrer/database'
import type { Config } from '../../kit/config.ts'
import type { Page } from '../../machinery/db/page.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

export type ProofStatus = 'pending' | 'approved' | 'rejected'

export type ProofRow = {
  proof_id: bigint
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  status: ProofStatus
  submitted_at: Date
  reviewed_at: Date | null
}

/** A proof with the fields that only admins see. */
export type ProofCaseRow = ProofRow & {
  /** JSON text of up to 1 MiB. */
  proof_data: string
  reviewed_by: Buffer | null
  note: string | null
  by_owner: boolean
  /** Whether a machine approved the proof by its receipt. */
  by_machine: boolean
  /** Why no machine has approved the receipt; null for other proofs, and while a machine has not looked yet. */
  machine_note: string | null
}

export interface NewProof {
  agentId: bigint
  merchantId: bigint
  productId: Buffer
  /** The data as JSON. */
  proofData: string
  /** Hash of the client that submitted the proof; null when the agent's owner signed it. */
  client: Buffer | null
  at: Date
}

export interface Decision {
  status: Exclude<ProofStatus, 'pending'>
  note: string | null
  /** Null: a machine decides. */
  by: Buffer | null
  at: Date
}

const columns = (sql: Queryable) => sql`
  proof_id, agent_id, merchant_id, product_id, status, submitted_at, reviewed_at`

/** Returns the id of the proof. */
export async function insertProof(
  sql: Queryable,
  chainId: number,
  { agentId, merchantId, productId, proofData, client, at }: NewProof,
): Promise<bigint> {
  const [row] = await sql<{ proof_id: bigint }[]>`
    INSERT INTO market.proofs (chain_id, agent_id, merchant_id, product_id, proof_data, by_owner, client, submitted_at)
    VALUES (${chainId}, ${agentId}, ${merchantId}, ${productId}, ${proofData}, ${client === null}, ${client}, ${at})
    RETURNING proof_id`
  if (!row) throw new Error('the insert of a proof returned no row')
  return row.proof_id
}

/** The pending proofs of an agent: those that the owner signed, newest first, then the unsigned ones. */
export function pendingProofsOf(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  limit: number,
): Promise<ProofRow[]> {
  return sql<ProofRow[]>`
    SELECT ${columns(sql)} FROM market.proofs
    WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND status = 'pending'
    ORDER BY by_owner DESC, proof_id DESC LIMIT ${limit}`
}

export async function countPendingProofsOf(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
): Promise<bigint> {
  const [row] = await sql<{ count: bigint }[]>`
    SELECT count(*) FROM market.proofs
    WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND status = 'pending'`
  return row?.count ?? 0n
}

/** Counts the pending unsigned proofs from a client, up to `most`. */
export async function countUnsignedProofsOf(
  sql: Queryable,
  chainId: number,
  { agentId, client, most }: { agentId: bigint; client: Buffer; most: number },
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM market.proofs
      WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND client = ${client} AND status = 'pending'
      LIMIT ${most}) AS few`
  return row?.count ?? 0
}

/** A proof of this agent. */
export async function findProof(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  proofId: bigint,
): Promise<ProofRow | undefined> {
  const [row] = await sql<ProofRow[]>`
    SELECT ${columns(sql)} FROM market.proofs
    WHERE proof_id = ${proofId} AND chain_id = ${chainId} AND agent_id = ${agentId}`
  return row
}

/** Proofs in the order of the admins' queue: signed ones first, and each group oldest first. */
export function listProofs(
  sql: Queryable,
  chainId: number,
  { status, limit, offset }: Page & { status: ProofStatus },
): Promise<ProofCaseRow[]> {
  return sql<ProofCaseRow[]>`
    SELECT page.*, r.approved_at IS NOT NULL AS by_machine, r.note AS machine_note
    FROM (
      SELECT ${columns(sql)}, proof_data, reviewed_by, note, by_owner FROM market.proofs
      WHERE chain_id = ${chainId} AND status = ${status}
      ORDER BY by_owner DESC, submitted_at, proof_id LIMIT ${limit} OFFSET ${offset}) AS page
    LEFT JOIN LATERAL (SELECT * FROM market.receipts AS r WHERE r.proof_id = page.proof_id LIMIT 1) AS r ON true
    ORDER BY by_owner DESC, submitted_at, page.proof_id`
}

export type Outcome =
  | {
      state: 'decided'
      /** Whether no other approved proof rests on the receipt or the payment of this one; true for proofs without. */
      isFirstUse: boolean
    }
  | { state: 'not pending' | 'unknown' }

/**
 * Decides a pending proof. Of concurrent decisions the first one wins. The receipt of an approved proof, and its payment, prove nothing
 * else to a machine from then on.
 */
export async function decideProof(
  sql: Queryable,
  chainId: number,
  proofId: bigint,
  { status, note, by, at }: Decision,
): Promise<Outcome> {
  const [decided] = await sql<[{ count: number; named: number; spent: number }]>`
    WITH decided AS (
      UPDATE market.proofs SET status = ${status}, note = ${note}, reviewed_by = ${by}, reviewed_at = ${at}
      WHERE proof_id = ${proofId} AND chain_id = ${chainId} AND status = 'pending' RETURNING proof_id
    ), receipt AS (
      UPDATE market.receipts SET due_at = NULL WHERE proof_id = (SELECT proof_id FROM decided)
      RETURNING chain_id, proof_id, receipt_hash, transaction_hash
    ), named AS (
      SELECT chain_id, hash, proof_id FROM receipt, unnest(ARRAY[receipt_hash, transaction_hash]) AS hash
      WHERE hash IS NOT NULL AND ${status} = 'approved' ORDER BY hash
    ), spent AS (
      INSERT INTO market.spent_receipts (chain_id, hash, proof_id) SELECT * FROM named
      ON CONFLICT DO NOTHING RETURNING hash
    )
    SELECT (SELECT count(*) FROM decided)::int AS count, (SELECT count(*) FROM named)::int AS named,
      (SELECT count(*) FROM spent)::int AS spent`
  if (decided.count === 1) return { state: 'decided', isFirstUse: decided.spent === decided.named }
  const [row] = await sql`SELECT FROM market.proofs WHERE proof_id = ${proofId} AND chain_id = ${chainId}`
  return { state: row ? 'not pending' : 'unknown' }
}

const SWEPT_AT_ONCE = 100

/** Deletes old unsigned proofs that were not approved. */
export const sweepProofs = ({ unsignedProofDays }: Pick<Config, 'unsignedProofDays'>): Schedule => ({
  name: 'sweep-proofs',
  everySeconds: 3_600,
  async run({ sql, signal }) {
    for (;;) {
      signal.throwIfAborted()
      const { count } = await sql`
        DELETE FROM market.proofs WHERE proof_id IN (
          SELECT proof_id FROM market.proofs
          WHERE NOT by_owner AND status <> 'approved' AND submitted_at < now() - ${unsignedProofDays} * INTERVAL '1 day'
          ORDER BY submitted_at LIMIT ${SWEPT_AT_ONCE}) AND status <> 'approved'`
      if (count < SWEPT_AT_ONCE) return
    }
  },
})
