import type { Address } from 'viem'
import { untilSeen } from '../agents/operations.ts'
import { resolveOwner } from '../agents/owner.ts'
import { recordAgent } from '../agents/store.ts'
import type { Chain, Context } from '../context.ts'
import { refused } from '../market-error.ts'
import { ownerOf } from '../onchain.ts'
import { countUnsignedProofsOf, findProof, insertProof, type ProofStatus } from './store.ts'

/** Bytes of JSON. */
const LARGEST_DATA = 1_048_576
/** Levels of objects and arrays: what reads the data later need not survive more. */
const DEEPEST_DATA = 1_000

const PREFIX = /^0x/
const PRODUCT_ID_BYTES = 32

export interface SubmittedProof {
  agentId: bigint
  merchantId: bigint
  /** Hex. */
  productId: string
  proofData: object | undefined
}

/** Of an agent. Strangers must not fill the queue, or the disk, in its name; its owner can always submit. */
const MOST_UNSIGNED = 10

/**
 * Takes what an agent shows for a product, for an admin to decide on, and returns its id. `requireOwner` refuses whoever does not own the
 * agent; without it anybody may submit, but not without end.
 */
export async function submitProof(
  context: Context,
  chain: Chain,
  { agentId, merchantId, productId, proofData }: SubmittedProof,
  requireOwner?: (owner: Address) => void,
): Promise<bigint> {
  requireNotNegative('agent_id', agentId)
  requireNotNegative('merchant_id', merchantId)
  const proof = { agentId, merchantId, productId: productIdOf(productId), proofData: textOf(proofData) }
  const owner = await resolveOwner(agentId, () => ownerOf(chain, agentId))
  const { chainId } = chain.config
  if (requireOwner) requireOwner(owner)
  else await requireFewUnsigned(context, chainId, agentId)
  const at = new Date(context.clock())
  await recordAgent(context.sql, chainId, agentId, at)
  const proofId = await insertProof(context.sql, chainId, { ...proof, byOwner: !!requireOwner, at })
  await untilSeen(context, chain, agentId)
  return proofId
}

async function requireFewUnsigned({ sql }: Context, chainId: number, agentId: bigint): Promise<void> {
  if ((await countUnsignedProofsOf(sql, chainId, agentId, MOST_UNSIGNED)) < MOST_UNSIGNED) return
  throw refused(
    'conflict',
    `agent ${agentId} has ${MOST_UNSIGNED} pending proofs that its owner did not sign; wait for a decision, or let the owner post to /v1/proof`,
  )
}

/** Of one of the agent's own; others do not exist for it. */
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
  // As much as can be decoded.
  const bytes = Buffer.from(digits, 'hex')
  if (bytes.length !== PRODUCT_ID_BYTES || digits.length !== 2 * PRODUCT_ID_BYTES) {
    throw refused('invalid input', `invalid product_id: must be 32-byte hex (got ${bytes.length} bytes)`)
  }
  return bytes
}

function textOf(data: object | undefined): string {
  if (!data || Object.keys(data).length === 0) throw refused('invalid input', 'proof_data is required')
  // Before it is made text: that takes a place on the stack for every level.
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
