import type { Queryable } from '@referrer/database'

export type ProofRow = {
  proof_id: bigint
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  status: 'pending' | 'approved' | 'rejected'
  submitted_at: Date
  reviewed_at: Date | null
}

const columns = (sql: Queryable) => sql`
  proof_id, agent_id, merchant_id, product_id, status, submitted_at, reviewed_at`

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
