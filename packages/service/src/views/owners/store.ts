import type { Queryable } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'
import { type PurchaseRow, purchaseColumns } from '../../market/escrows/purchase.ts'
import { type EscrowRow, escrowColumns, relatedColumns, relatedJoins } from '../../market/escrows/store.ts'
import type { ProofStatus } from '../../market/proofs/store.ts'

/** The owner of an agent by the index; undefined when there is no such agent. */
export async function ownerOfAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
): Promise<Buffer | undefined> {
  const [row] = await sql<{ owner: Buffer }[]>`
    SELECT owner FROM chain.identities WHERE chain_id = ${chainId} AND agent_id = ${agentId}`
  return row?.owner
}

export type BoughtRow = EscrowRow & PurchaseRow & { has_voted: boolean }

/** Who bought: an agent, or a wallet that paid, for an agent or not. */
export type Buyer = { agentId: bigint } | { payer: Buffer }

/** What a buyer bought, newest first. */
export function purchasesOf(
  sql: Queryable,
  chainId: number,
  buyer: Buyer,
  { limit, offset }: Page,
): Promise<BoughtRow[]> {
  const isBuyer = 'agentId' in buyer ? sql`buyer_agent_id = ${buyer.agentId}` : sql`payer = ${buyer.payer}`
  return sql<BoughtRow[]>`
    WITH page AS (
      SELECT chain_id, transaction_hash, ${escrowColumns(sql)} FROM chain.escrows
      WHERE chain_id = ${chainId} AND ${isBuyer}
      ORDER BY deposited_at DESC, escrow_id DESC LIMIT ${limit} OFFSET ${offset}
    )
    SELECT e.*, ${relatedColumns(sql)}, ${purchaseColumns(sql)}, coalesce((
      -- A scalar subquery, because the planner may turn EXISTS into a scan of the whole table.
      SELECT true FROM market.ballots AS b
      WHERE b.chain_id = ${chainId} AND b.payer = e.payer AND b.nonce = e.nonce AND b.contract = e.contract), false) AS has_voted
    FROM page AS e ${relatedJoins(sql, chainId)} ORDER BY e.deposited_at DESC, e.escrow_id DESC`
}

export type OwnProofRow = {
  proof_id: bigint
  merchant_id: bigint
  product_id: Buffer
  product_name: string | null
  status: ProofStatus
  submitted_at: Date
  reviewed_at: Date | null
  machine_note: string | null
}

/** The proofs of an agent, newest first. */
export function proofsOfAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { limit, offset }: Page,
): Promise<OwnProofRow[]> {
  return sql<OwnProofRow[]>`
    SELECT f.proof_id, f.merchant_id, f.product_id, f.status, f.submitted_at, f.reviewed_at, p.name AS product_name,
      -- A scalar subquery, because the planner may turn a join into a scan of the whole table.
      (SELECT r.note FROM market.receipts AS r WHERE r.proof_id = f.proof_id) AS machine_note
    FROM (
      SELECT * FROM market.proofs WHERE chain_id = ${chainId} AND agent_id = ${agentId}
      ORDER BY proof_id DESC LIMIT ${limit} OFFSET ${offset}
    ) AS f
    LEFT JOIN market.products AS p USING (chain_id, merchant_id, product_id)
    ORDER BY f.proof_id DESC`
}
