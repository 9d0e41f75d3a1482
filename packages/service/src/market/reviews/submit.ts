// Reviews on approved proofs: the owner of the author signs, and the service publishes.
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
  holdProof,
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

/** Each that fails on the chain costs us gas. */
const MOST_ATTEMPTS = 5

interface Draft {
  proof: ProofRow
  text: Text
  terms: Terms<'ReviewCommitment'>
}

/** Step 1: whatever can be checked is checked, and nothing is kept. */
export async function proposeReview(context: Context, chain: Chain, submission: Submission) {
  requirePublisher(context)
  const { terms } = await draftOf(context, chain, submission)
  const { proofId } = submission
  requireFree(proofId, await readUse(context.sql, chain.config.chainId, proofId))
  return proposeCommitment(context, chain, 'ReviewCommitment', terms)
}

/**
 * Step 2: record, text and transaction are written together or not at all. Repeated, it changes nothing and answers the same. A review
 * whose transaction came to nothing keeps its record, which takes the text and the transaction of the next attempt.
 */
export async function submitReview(
  context: Context,
  chain: Chain,
  submission: Submission,
  given: Proof,
): Promise<Submitted> {
  const from = requirePublisher(context)
  const draft = await draftOf(context, chain, submission)
  const signed = await requireSigned(context, chain, 'ReviewCommitment', draft.terms, given)
  const internalId = await despiteDeadlock(() =>
    context.sql.begin(async (tx) => {
      const id = await enter(tx, chain, { from, draft, signed })
      // Whoever published it himself at this very moment: it is shown from now on.
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

/** A proof is good for one review. */
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
    throw refused('conflict', `proof ${proofId} was tried ${attempts} times in vain; submit another one`)
  }
}

/** Returns the record's id. */
async function enter(
  tx: Transaction,
  chain: Chain,
  { from, draft: { proof, text, terms }, signed }: { from: Address; draft: Draft; signed: Signed },
): Promise<bigint> {
  const { chainId } = chain.config
  const { proof_id: proofId } = proof
  await holdProof(tx, proofId)
  const use = await readUse(tx, chainId, proofId)
  if (use.submitted !== null && isRepeat(use, text, signed)) return use.submitted
  requireFree(proofId, use)

  // Nobody may be left to send it, and it would wait for ever.
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

/** The same commitment again, of which something came or may still come. */
function isRepeat(use: Use, { hash }: Text, { nonce }: Signed): boolean {
  const isSame = use.commitment_nonce?.equals(bytesOf(nonce)) && use.published_hash?.equals(hash)
  return !!isSame && (use.published === null ? !use.is_over : use.published === use.submitted)
}
