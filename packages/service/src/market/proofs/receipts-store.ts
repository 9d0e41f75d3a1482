// Proofs whose data is a receipt: when a machine looks at them, and what became of it.
import type { Queryable, Transaction } from '@referrer/database'
import { keccak256, stringToBytes, zeroAddress } from 'viem'
import { bytesOf } from '../../machinery/db/bytes.ts'
import type { ProofRow } from './store.ts'

export interface NewReceipt {
  proofId: bigint
  /** Null: the receipt cannot be read. */
  receiptHash: Buffer | null
  transactionHash: Buffer | null
  /** Null: no machine looks at it. */
  dueAt: Date | null
  note: string | null
}

export async function insertReceipt(
  tx: Transaction,
  chainId: number,
  { proofId, receiptHash, transactionHash, dueAt, note }: NewReceipt,
): Promise<void> {
  await tx`
    INSERT INTO market.receipts (proof_id, chain_id, receipt_hash, transaction_hash, due_at, note)
    VALUES (${proofId}, ${chainId}, ${receiptHash}, ${transactionHash}, ${dueAt}, ${note})`
}

/** A pending proof that a worker has claimed. */
export type Claimed = Pick<ProofRow, 'proof_id' | 'agent_id' | 'merchant_id' | 'product_id'> & {
  chain_id: number
  /** JSON text of up to 1 MiB. */
  proof_data: string
  /** How often it was claimed, this time included; the lease is that of the newest claim. */
  attempts: number
}

/** Claims what is due, but `not` of these merchants, for as long as the lease lasts: after a crash it is due again. */
export async function claimReceipts(
  sql: Queryable,
  {
    chainIds,
    now,
    leaseMs,
    not = [],
    limit,
  }: { chainIds: number[]; now: Date; leaseMs: number; not?: readonly string[]; limit: number },
): Promise<Claimed[]> {
  const rows = await sql<(Claimed & { chain_id: bigint })[]>`
    -- An array and LIMIT 1 instead of joins, for which the planner may scan the whole tables.
    WITH claimed AS (
      UPDATE market.receipts SET due_at = ${new Date(now.getTime() + leaseMs)}, attempts = attempts + 1
      WHERE proof_id = ANY(ARRAY(
        SELECT due.proof_id FROM market.receipts AS due
        WHERE due.due_at <= ${now} AND due.chain_id = ANY(${chainIds}::bigint[]) AND NOT coalesce((
          SELECT p.merchant_id FROM market.proofs AS p WHERE p.proof_id = due.proof_id LIMIT 1) = ANY(${not}::bigint[]), false)
        ORDER BY due.due_at, due.proof_id LIMIT ${limit} FOR UPDATE SKIP LOCKED))
      RETURNING proof_id, chain_id, attempts
    )
    SELECT c.proof_id, c.chain_id, c.attempts, p.agent_id, p.merchant_id, p.product_id, p.proof_data
    FROM claimed AS c CROSS JOIN LATERAL (
      SELECT * FROM market.proofs AS p WHERE p.proof_id = c.proof_id LIMIT 1) AS p`
  return rows.map((row) => ({ ...row, chain_id: Number(row.chain_id) }))
}

/** Writes why a machine did not approve a proof, unless somebody else has claimed or decided it meanwhile. */
export async function postponeReceipt(
  sql: Queryable,
  { proof_id, attempts }: Pick<Claimed, 'proof_id' | 'attempts'>,
  { dueAt, note }: { dueAt: Date | null; note: string },
): Promise<void> {
  await sql`
    UPDATE market.receipts SET due_at = ${dueAt}, note = ${note}
    WHERE proof_id = ${proof_id} AND attempts = ${attempts} AND due_at IS NOT NULL`
}

export async function markVerified(tx: Transaction, proofId: bigint, at: Date): Promise<void> {
  await tx`UPDATE market.receipts SET approved_at = ${at}, note = NULL WHERE proof_id = ${proofId}`
}

/** How many of the hashes an approved proof other than this one rests on. */
export async function countSpent(
  sql: Queryable,
  chainId: number,
  proofId: bigint,
  hashes: readonly Buffer[],
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM market.spent_receipts
    WHERE chain_id = ${chainId} AND hash = ANY(${hashes}::bytea[]) AND proof_id <> ${proofId}`
  return row?.count ?? 0
}

/** What the records say about the agent and the product of a proof. */
export type Facts = {
  agent_owner: Buffer
  /** Null: it has none. */
  agent_wallet: Buffer | null
  is_flagged: boolean
  merchant_owner: Buffer
  payout: Buffer
  is_suspended: boolean
  /** The settlement signers by the present owner. */
  signers: Buffer[]
  min_price: bigint
  endpoint_url: string | null
  /** What the endpoint asked for when it was last asked; null: it is not known. */
  seen_price: bigint | null
}

const SETTLEMENT_SIGNER_ROLE = bytesOf(keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE')))
/** Signers beyond this number are not looked at. */
const MOST_SIGNERS = 100

/** Undefined: the agent, the merchant or the product is not in the records. */
export async function factsOf(
  sql: Queryable,
  { chain_id, agent_id, merchant_id, product_id }: Claimed,
): Promise<Facts | undefined> {
  const [facts] = await sql<Facts[]>`
    SELECT agent.owner AS agent_owner, nullif(agent.wallet, ${bytesOf(zeroAddress)}) AS agent_wallet,
      coalesce(a.flagged, false) AS is_flagged, shop.owner AS merchant_owner,
      CASE WHEN c.opened_by = shop.owner THEN coalesce(c.payout, shop.owner) ELSE shop.owner END AS payout,
      c.suspended AS is_suspended, p.min_price, m.endpoint_url, o.price AS seen_price, ARRAY(
        SELECT r.account FROM chain.merchant_roles AS r
        WHERE r.chain_id = ${chain_id} AND r.merchant_id = ${merchant_id} AND r.granted_by = shop.owner
          AND r.role = ${SETTLEMENT_SIGNER_ROLE} AND r.granted ORDER BY r.account LIMIT ${MOST_SIGNERS}) AS signers
    FROM chain.products AS p
    JOIN chain.merchants AS c ON c.chain_id = p.chain_id AND c.merchant_id = p.merchant_id
    JOIN chain.identities AS shop ON shop.chain_id = p.chain_id AND shop.agent_id = p.merchant_id
    JOIN chain.identities AS agent ON agent.chain_id = p.chain_id AND agent.agent_id = ${agent_id}
    LEFT JOIN market.agents AS a ON a.chain_id = p.chain_id AND a.agent_id = ${agent_id}
    LEFT JOIN market.products AS m
      ON m.chain_id = p.chain_id AND m.merchant_id = p.merchant_id AND m.product_id = p.product_id
    LEFT JOIN market.offers AS o
      ON o.chain_id = p.chain_id AND o.merchant_id = p.merchant_id AND o.product_id = p.product_id
    WHERE p.chain_id = ${chain_id} AND p.merchant_id = ${merchant_id} AND p.product_id = ${product_id}`
  return facts
}
