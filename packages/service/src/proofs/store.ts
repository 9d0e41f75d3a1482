import type { Queryable } from '@referrer/database'
import type { Page } from '../db/page.ts'

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

/** With what only admins may see. */
export type ProofCaseRow = ProofRow & {
  /** JSON, as text: up to 1 MiB of it. */
  proof_data: string
  reviewed_by: Buffer | null
  note: string | null
  by_owner: boolean
}

export interface NewProof {
  agentId: bigint
  merchantId: bigint
  productId: Buffer
  /** JSON. */
  proofData: string
  /** Whether the owner of the agent brought it, or somebody. */
  byOwner: boolean
  at: Date
}

export interface Decision {
  status: Exclude<ProofStatus, 'pending'>
  note: string | null
  by: Buffer
  at: Date
}

const columns = (sql: Queryable) => sql`
  proof_id, agent_id, merchant_id, product_id, status, submitted_at, reviewed_at`

/** Returns its id. */
export async function insertProof(
  sql: Queryable,
  chainId: number,
  { agentId, merchantId, productId, proofData, byOwner, at }: NewProof,
): Promise<bigint> {
  const [row] = await sql<{ proof_id: bigint }[]>`
    INSERT INTO market.proofs (chain_id, agent_id, merchant_id, product_id, proof_data, by_owner, submitted_at)
    VALUES (${chainId}, ${agentId}, ${merchantId}, ${productId}, ${proofData}, ${byOwner}, ${at}) RETURNING proof_id`
  if (!row) throw new Error('the insert of a proof returned no row')
  return row.proof_id
}

/** Newest first. */
export function pendingProofsOf(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  limit: number,
): Promise<ProofRow[]> {
  return sql<ProofRow[]>`
    SELECT ${columns(sql)} FROM market.proofs
    WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND status = 'pending'
    ORDER BY proof_id DESC LIMIT ${limit}`
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

/** Those that nobody knows to be of the agent's owner. So many at most are counted. */
export async function countUnsignedProofsOf(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  most: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM market.proofs
      WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND status = 'pending' AND NOT by_owner LIMIT ${most}) AS few`
  return row?.count ?? 0
}

/** One of this agent's own. */
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

/** Oldest first: in the order in which they wait. */
export function listProofs(
  sql: Queryable,
  chainId: number,
  { status, limit, offset }: Page & { status: ProofStatus },
): Promise<ProofCaseRow[]> {
  return sql<ProofCaseRow[]>`
    SELECT ${columns(sql)}, proof_data, reviewed_by, note, by_owner FROM market.proofs
    WHERE chain_id = ${chainId} AND status = ${status}
    ORDER BY submitted_at, proof_id LIMIT ${limit} OFFSET ${offset}`
}

/** Of decisions at the same moment the first one counts. */
export async function decideProof(
  sql: Queryable,
  chainId: number,
  proofId: bigint,
  { status, note, by, at }: Decision,
): Promise<'decided' | 'not pending' | 'unknown'> {
  const { count } = await sql`
    UPDATE market.proofs SET status = ${status}, note = ${note}, reviewed_by = ${by}, reviewed_at = ${at}
    WHERE proof_id = ${proofId} AND chain_id = ${chainId} AND status = 'pending'`
  if (count === 1) return 'decided'
  const [row] = await sql`SELECT FROM market.proofs WHERE proof_id = ${proofId} AND chain_id = ${chainId}`
  return row ? 'not pending' : 'unknown'
}
