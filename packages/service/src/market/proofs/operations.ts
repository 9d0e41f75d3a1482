import type { Transaction } from '@referrer/database'
import type { Address } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { refused } from '../../kit/market-error.ts'
import { ownerOf } from '../../kit/onchain.ts'
import { resolveOwner } from '../../kit/owner.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { untilIndexed } from '../agents/operations.ts'
import { recordAgent } from '../agents/store.ts'
import { ALL_CLIENTS, clientBytes, type QuotaUse, spendQuota } from '../quotas/store.ts'
import { isReceipt, type Receipt, readReceipt } from '../receipts/receipt.ts'
import { Unproven } from '../receipts/verdict.ts'
import { insertReceipt } from './receipts-store.ts'
import { countUnsignedProofsOf, findProof, insertProof, type ProofStatus } from './store.ts'

/** Size limit in bytes of JSON. */
const LARGEST_DATA = 1_048_576
/** Limit for nested objects and arrays, because parsers that read the data later may not support more. */
const DEEPEST_DATA = 1_000

const PREFIX = /^0x/
const PRODUCT_ID_BYTES = 32

export interface SubmittedProof {
  agentId: bigint
  merchantId: bigint
  /** 32 bytes as hex. */
  productId: string
  proofData: object | undefined
}

/** Limit for pending unsigned proofs of one agent from one client, so that a client cannot use up the quota of others. */
const MOST_UNSIGNED = 10
/** Bytes that a proof takes besides its data. */
const OVERHEAD = 1_024

/** The submitter: the agent's owner, which `requireOwner` checks, or an unauthenticated client. */
export type Submitter = { requireOwner: (owner: Address) => void } | { client: string }

/** Stores a proof that an agent used a product, for a machine or an admin to decide on. Returns the proof's id. */
export async function submitProof(
  context: Context,
  chain: Chain,
  { agentId, merchantId, productId, proofData }: SubmittedProof,
  by: Submitter,
): Promise<bigint> {
  requireNotNegative('agent_id', agentId)
  requireNotNegative('merchant_id', merchantId)
  const proof = { agentId, merchantId, productId: productIdOf(productId), proofData: textOf(proofData) }
  const owner = await resolveOwner(agentId, () => ownerOf(chain, agentId))
  const { chainId } = chain.config
  if ('requireOwner' in by) by.requireOwner(owner)
  const client = 'client' in by ? clientBytes(by.client) : null
  if (client) await requireFewUnsigned(context, chainId, { agentId, client })
  const now = context.clock()
  const at = new Date(now)
  await recordAgent(context.sql, chainId, agentId, at)
  const bytes = Buffer.byteLength(proof.proofData) + OVERHEAD
  const proofId = await context.sql.begin(async (tx) => {
    for (const use of quotasOf(context, { client, owner, bytes })) await spendQuota(tx, now, use)
    const proofId = await insertProof(tx, chainId, { ...proof, client, at })
    if (proofData && isReceipt(proofData)) await enterReceipt(tx, chainId, { proofId, proofData, at })
    return proofId
  })
  await untilIndexed(context, chain, agentId)
  return proofId
}

/** What is no receipt is noted at once; a worker verifies the others. */
async function enterReceipt(
  tx: Transaction,
  chainId: number,
  { proofId, proofData, at }: { proofId: bigint; proofData: object; at: Date },
): Promise<void> {
  let receipt: Receipt
  try {
    receipt = readReceipt(proofData)
  } catch (error) {
    if (!(error instanceof Unproven)) throw error
    const note = error.message
    return insertReceipt(tx, chainId, {
      proofId,
      receiptHash: null,
      transactionHash: null,
      dueAt: null,
      note,
    })
  }
  const { hash, transaction } = receipt
  const transactionHash = transaction ? bytesOf(transaction) : null
  await insertReceipt(tx, chainId, { proofId, receiptHash: hash, transactionHash, dueAt: at, note: null })
}

function quotasOf(
  { config: { bytesPerDay } }: Context,
  { client, owner, bytes }: { client: Buffer | null; owner: Address; bytes: number },
): QuotaUse[] {
  if (!client) {
    return [{ what: 'proofs of this owner', who: bytesOf(owner), bytes, most: bytesPerDay.proofsOfOwner }]
  }
  const what = 'proofs that no owner signed'
  return [
    { what: `${what}, of this client,`, who: client, bytes, most: bytesPerDay.unsignedProofsOfClient },
    { what: `${what}, of everybody,`, who: ALL_CLIENTS, bytes, most: bytesPerDay.unsignedProofs },
  ]
}

async function requireFewUnsigned(
  { sql }: Context,
  chainId: number,
  of: { agentId: bigint; client: Buffer },
): Promise<void> {
  if ((await countUnsignedProofsOf(sql, chainId, { ...of, most: MOST_UNSIGNED })) < MOST_UNSIGNED) return
  throw refused(
    'conflict',
    `agent ${of.agentId} has ${MOST_UNSIGNED} pending proofs that its owner did not sign; all came from this client: wait for a decision, or let the owner post to /v1/proof`,
  )
}

/** The status of a proof of this agent; proofs of other agents are not found. */
export async function getProofStatus(
  { sql }: Pick<Context, 'sql'>,
  { config: { chainId } }: Chain,
  { agentId, proofId }: { agentId: bigint; proofId: bigint },
): Promise<{ status: ProofStatus; reviewedAt: Date | null }> {
  requireNotNegative('agent_id', agentId)
  const proof = await findProof(sql, chainId, agentId, proofId)
  if (!proof) throw refused('not found', `proof with proof_id ${proofId} not found`)
  return { status: proof.status, reviewedAt: proof.reviewed_at }
}

function requireNotNegative(name: string, id: bigint): void {
  if (id < 0n) throw refused('invalid input', `${name} must not be negative`)
}

function productIdOf(text: string): Buffer {
  const digits = text.replace(PREFIX, '')
  // `Buffer.from` decodes up to the first character that is not hex.
  const bytes = Buffer.from(digits, 'hex')
  if (bytes.length !== PRODUCT_ID_BYTES || digits.length !== 2 * PRODUCT_ID_BYTES) {
    throw refused('invalid input', `invalid product_id: must be 32-byte hex (got ${bytes.length} bytes)`)
  }
  return bytes
}

function textOf(data: object | undefined): string {
  if (!data || Object.keys(data).length === 0) throw refused('invalid input', 'proof_data is required')
  // Checked before serialization, because `JSON.stringify` needs stack for every level.
  if (isDeeperThan(data, DEEPEST_DATA)) {
    throw refused('invalid input', `proof_data too deep: must be <= ${DEEPEST_DATA} levels`)
  }
  const text = JSON.stringify(data)
  if (Buffer.byteLength(text) > LARGEST_DATA) {
    throw refused('invalid input', `proof_data too large: must be <= ${LARGEST_DATA} bytes`)
  }
  return text
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((child) => isDeeperThan(child, levels - 1))
}
