// Reviews on approved proofs: the author's owner signs, and the service publishes on the chain.
import { withdrawTransaction } from '@referrer/chain'
import type { Transaction } from '@referrer/database'
import { ContentHash } from '@referrer/protocol'
import type { Address, Hex } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import { refused } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { despiteDeadlock } from '../../machinery/db/deadlock.ts'
import {
  onChainSignature,
  type Proof,
  proposeCommitment,
  requireSigned,
  type Signed,
  type Terms,
} from '../commitments/operations.ts'
import { findProof, type ProofRow } from '../proofs/store.ts'
import { linkPublished } from '../ref-tokens/refresh.ts'
import { requireListed } from './check.ts'
import { checkText, parseContent, satisfactionOf } from './content.ts'
import { enqueuePublication, requirePublisher } from './publish.ts'
import { checkCategory, reviewSchemas } from './schemas.ts'
import type { Text } from './store.ts'
import {
  enterSubmitted,
  lockProof,
  readUse,
  replaceSubmitted,
  type Use,
  writeAttempt,
} from './submit-store.ts'

export interface Submission {
  agentId: bigint
  proofId: bigint
  /** The exact text to be hashed. */
  contentJson: string
}

export interface Submitted {
  internalId: bigint
  contentHash: Hex
}

/** Limit for attempts with one proof, because each attempt that fails on the chain costs us gas. */
const MOST_ATTEMPTS = 5

interface Draft {
  proof: ProofRow
  text: Text
  terms: Terms<'ReviewCommitment'>
}

/** Step 1: validates the submission and returns the commitment to sign; stores nothing. */
export async function proposeReview(context: Context, chain: Chain, submission: Submission) {
  requirePublisher(context)
  const { terms } = await draftOf(context, chain, submission)
  const { proofId } = submission
  requireFree(proofId, await readUse(context.sql, chain.config.chainId, proofId))
  return proposeCommitment(context, chain, 'ReviewCommitment', terms)
}

/**
 * Step 2: stores the review, its text and its transaction in one database transaction. It is idempotent. When the transaction on the
 * chain fails, the next attempt reuses the review's row with a new text and transaction.
 */
export async function submitReview(
  context: Context,
  chain: Chain,
  submission: Submission,
  given: Proof,
): Promise<Submitted> {
  const from = requirePublisher(context)
  const draft = await draftOf(context, chain, submission)
  const asSigned = await requireSigned(context, chain, 'ReviewCommitment', draft.terms, given)
  const signed = { ...asSigned, signature: await onChainSignature(chain, asSigned) }
  const internalId = await despiteDeadlock(() =>
    context.sql.begin(async (tx) => {
      const id = await enter(tx, chain, { from, draft, signed })
      // The author may have published the review directly meanwhile; then it is visible from this commit on and needs its link.
      await linkPublished(tx, context, chain, [id])
      return id
    }),
  )
  return { internalId, contentHash: draft.terms.contentHash }
}

async function draftOf(
  context: Context,
  chain: Chain,
  { agentId, proofId, contentJson }: Submission,
): Promise<Draft> {
  const { chainId } = chain.config
  checkText(contentJson)
  const content = parseContent(contentJson)
  const proof = await findProof(context.sql, chainId, agentId, proofId)
  if (!proof) throw refused('not found', `proof with proof_id ${proofId} not found`)
  requireApproved(proof)
  const { merchant_id: merchantId, product_id: productId } = proof
  const { category } = await requireListed(context, chainId, merchantId, productId)
  checkCategory(reviewSchemas(context), category, { content, text: contentJson })
  const of = { agentId, merchantId, productId: hex(productId) }
  const contentHash = ContentHash.contentHash({ ...of, content: contentJson })
  return {
    proof,
    text: { content: contentJson, hash: bytesOf(contentHash), satisfaction: satisfactionOf(content) },
    terms: { ...of, contentHash },
  }
}

function requireApproved({ proof_id: proofId, status }: ProofRow): void {
  if (status === 'pending')
    throw refused('conflict', `proof ${proofId} is not approved yet; get_proof_status tells when it is`)
  if (status === 'rejected') throw refused('conflict', `proof ${proofId} was rejected; submit another one`)
}

/** Refuses a proof that is used already: it is good for one review. */
function requireFree(proofId: bigint, { published, submitted, is_over, attempts }: Use): void {
  const use = (internalId: bigint, what: string) =>
    refused(
      'already exists',
      `proof ${proofId} is used by the review with internal_id ${internalId}, ${what}`,
    )
  if (published !== null) throw use(published, 'which is published')
  if (submitted !== null && !is_over)
    throw use(submitted, 'which is being published; get_review tells when it is')
  if (attempts >= MOST_ATTEMPTS) {
    throw refused('conflict', `publishing with proof ${proofId} failed ${attempts} times; submit another one`)
  }
}

/** Stores the submission and returns the review's internal id. */
async function enter(
  tx: Transaction,
  chain: Chain,
  { from, draft: { proof, text, terms }, signed }: { from: Address; draft: Draft; signed: Signed },
): Promise<bigint> {
  const { chainId } = chain.config
  const { proof_id: proofId } = proof
  await lockProof(tx, proofId)
  const use = await readUse(tx, chainId, proofId)
  if (use.submitted !== null && isRepeat(use, text, signed)) return use.submitted
  requireFree(proofId, use)

  // The former transaction may still be queued under an account that no longer sends, and would wait for ever.
  if (use.transaction_id !== null) await withdrawTransaction(tx, use.transaction_id)
  const isReplaced = use.submitted !== null && (await replaceSubmitted(tx, use.submitted, text))
  const internalId = isReplaced ? (use.submitted as bigint) : await enterSubmitted(tx, chainId, proof, text)
  const attempt = use.attempts + 1
  const transactionId = await enqueuePublication(tx, chain, from, {
    proofId,
    attempt,
    internalId,
    terms,
    signed,
  })
  const [nonce, expiresAt] = [bytesOf(signed.nonce), new Date(signed.expiry * 1_000)]
  await writeAttempt(tx, { proofId, internalId, attempt, nonce, expiresAt, transactionId })
  return internalId
}

/** Whether this commitment was submitted before, and has succeeded or can still succeed. */
function isRepeat(use: Use, { hash }: Text, { nonce }: Signed): boolean {
  const isSame = use.commitment_nonce?.equals(bytesOf(nonce)) && use.published_hash?.equals(hash)
  return !!isSame && (use.published === null ? !use.is_over : use.published === use.submitted)
}
