import type { Queryable, Transaction } from '@referrer/database'
import type { ProofRow } from '../proofs/store.ts'
import type { Text } from './store.ts'

/** The `proof_kind` of a review on an approved proof. */
const ON_PROOF = 1

/** The use of a proof so far. */
export type Use = {
  /** Internal id of the review on the chain; null when there is none. */
  published: bigint | null
  /** Internal id of the submitted review; null, like the fields of the last submission, when there is none. */
  submitted: bigint | null
  published_hash: Buffer | null
  commitment_nonce: Buffer | null
  transaction_id: bigint | null
  attempts: number
  /** Whether the last submission can no longer succeed: its transaction failed, or the indexed chain time is past its expiry. */
  is_over: boolean
}

export async function readUse(sql: Queryable, chainId: number, proofId: bigint): Promise<Use> {
  const [use] = await sql<Use[]>`
    SELECT c.internal_id AS published, s.internal_id AS submitted, m.published_hash, s.commitment_nonce, s.transaction_id,
      coalesce(s.attempt, 0) AS attempts, coalesce(i.state = 'failed' OR s.expires_at < (
        SELECT block_time FROM indexer.checkpoints WHERE chain_id = ${chainId}), false) AS is_over
    FROM market.proofs AS p
    LEFT JOIN chain.reviews AS c
      ON c.chain_id = ${chainId} AND c.proof_kind = ${ON_PROOF} AND c.proof_id = p.proof_id
    LEFT JOIN market.submissions AS s ON s.proof_id = p.proof_id
    LEFT JOIN market.reviews AS m ON m.internal_id = s.internal_id
    LEFT JOIN sender.intents AS i ON i.id = s.transaction_id
    WHERE p.proof_id = ${proofId}`
  if (!use) throw new Error(`proof ${proofId} is gone`)
  return use
}

/**
 * Locks a proof and its review until the transaction ends; to be called before they are read. The indexer waits for the review's lock too.
 */
export async function lockProof(tx: Transaction, proofId: bigint): Promise<void> {
  await tx`SELECT FROM market.proofs WHERE proof_id = ${proofId} FOR NO KEY UPDATE`
  await tx`
    SELECT FROM market.submissions AS s JOIN market.reviews AS m USING (internal_id)
    WHERE s.proof_id = ${proofId} FOR UPDATE OF m`
}

/** Inserts a review that is not on the chain yet, with the author's present cashback rate. Returns its internal id. */
export async function enterSubmitted(
  tx: Transaction,
  chainId: number,
  { proof_id, agent_id, merchant_id, product_id }: ProofRow,
  { content, hash, satisfaction }: Text,
): Promise<bigint> {
  const [row] = await tx<{ internal_id: bigint }[]>`
    INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps,
      content, content_hash, satisfaction_score)
    VALUES (${chainId}, ${agent_id}, ${merchant_id}, ${product_id}, ${hash}, ${ON_PROOF}, ${proof_id}, coalesce((
        SELECT bps FROM market.cashback_rates WHERE chain_id = ${chainId} AND agent_id = ${agent_id}), 0),
      ${content}, ${hash}, ${satisfaction})
    ON CONFLICT (chain_id, proof_kind, proof_id, published_hash, agent_id, merchant_id, product_id, repeated)
      DO UPDATE SET content = excluded.content, content_hash = excluded.content_hash,
        satisfaction_score = excluded.satisfaction_score
    RETURNING internal_id`
  if (!row) throw new Error('the insert of a review returned no row')
  return row.internal_id
}

/** Replaces the text of a review that never reached the chain. Returns false when a reorganisation left another row with that text. */
export async function replaceSubmitted(
  tx: Transaction,
  internalId: bigint,
  { content, hash, satisfaction }: Text,
): Promise<boolean> {
  const { count } = await tx`
    UPDATE market.reviews AS own SET published_hash = ${hash}, content = ${content}, content_hash = ${hash},
      satisfaction_score = ${satisfaction}
    WHERE internal_id = ${internalId} AND NOT EXISTS (
      SELECT FROM market.reviews AS other
      WHERE (other.chain_id, other.proof_kind, other.proof_id) = (own.chain_id, own.proof_kind, own.proof_id)
        AND other.published_hash = ${hash} AND other.internal_id <> own.internal_id)`
  return count === 1
}

export interface Attempt {
  proofId: bigint
  internalId: bigint
  attempt: number
  nonce: Buffer
  expiresAt: Date
  transactionId: bigint
}

/** Stores an attempt in place of the previous one. */
export async function writeAttempt(tx: Transaction, written: Attempt): Promise<void> {
  const { proofId, internalId, attempt, nonce, expiresAt, transactionId } = written
  await tx`
    INSERT INTO market.submissions (proof_id, internal_id, attempt, commitment_nonce, expires_at, transaction_id)
    VALUES (${proofId}, ${internalId}, ${attempt}, ${nonce}, ${expiresAt}, ${transactionId})
    ON CONFLICT (proof_id) DO UPDATE SET internal_id = excluded.internal_id, attempt = excluded.attempt, commitment_nonce = excluded.commitment_nonce,
      expires_at = excluded.expires_at, transaction_id = excluded.transaction_id`
}
