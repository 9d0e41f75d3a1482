// Votes on a purchase and publishes its review. Each step is on disk before the next begins, so a repeated call goes on where it stopped.
import { join } from 'node:path'
import { z } from 'zod'
import { type Chain, connect } from '../chain/chain.ts'
import { type EscrowTerms, readTerms } from '../chain/terms.ts'
import { checkContent } from '../check-content.ts'
import type { Context } from '../context.ts'
import { strangersText, whole } from '../fields.ts'
import { requireAgent, reviewOfEscrow } from '../publish-review.ts'
import { withLock } from '../purchase/lock.ts'
import { checkVotes, type Vote } from '../purchase/order.ts'
import { explain, isExpected, Refused } from '../refused.ts'
import { Draft, publishDraft, voteOnce } from './publish.ts'
import { readRecord, saveRecord } from './record.ts'
import { type Cashback, type Purchase, readCashback, readSituation } from './situation.ts'

const MOST_SHOWN = 10
const LONGEST_SHOWN = 400

const ReviewRecord = z.object({
  draft: Draft,
  hasVoted: z.boolean(),
  /** Once it is registered. */
  published: z.object({ reviewId: z.int(), refLink: z.string(), notes: z.array(z.string()) }).nullable(),
})
type ReviewRecord = z.output<typeof ReviewRecord>

export interface Opinion {
  votes: Vote[] | undefined
  /** JSON text. */
  content: string
}

export interface Reviewed {
  reviewId: number
  refLink: string
  hasVoted: boolean
  cashback: Cashback
  notes: string[]
}

export async function reviewPurchase(
  context: Context,
  { agentId, escrowId, wanted }: Pick<Purchase, 'agentId' | 'escrowId'> & { wanted: number | undefined },
  opinion: Opinion,
): Promise<Reviewed> {
  const { SIGNER_STATE_DIR: stateDir, keys } = context.config
  keys.ofAgent(agentId)
  const chain = await connect(context, wanted)
  const purchase = { chainId: chain.chainId, agentId, escrowId }
  const terms = await readTerms(context, chain, BigInt(escrowId))
  requireBuyer(terms, agentId)
  // Not by the number of the escrow: another marketplace on the chain, or a sandbox that began anew, has escrows of the same numbers.
  const name = `review-${chain.chainId}-${terms.payer.toLowerCase()}-${terms.nonce.toLowerCase()}`
  const path = join(stateDir, 'jobs', `${name}.json`)
  return withLock(stateDir, name, context.timeouts.lock, async () => {
    const record = await readRecord(path, ReviewRecord)
    const save = (newest: ReviewRecord) => saveRecord(stateDir, path, newest)
    const { published, hasVoted, draft } = record?.published
      ? { ...record, published: record.published }
      : await publish(context, chain, purchase, { terms, opinion, record, save })
    const notes = draft.content === opinion.content ? [] : [OTHER_TEXT]
    return {
      ...published,
      hasVoted,
      cashback: await readCashback(context, purchase),
      notes: [...published.notes, ...notes],
    }
  })
}

const OTHER_TEXT =
  'Published was the content of an earlier call. To change it: update_review_content_onchain, within 7 days.'

interface Progress {
  terms: EscrowTerms
  opinion: Opinion
  record: ReviewRecord | undefined
  save(record: ReviewRecord): Promise<void>
}

async function publish(
  context: Context,
  chain: Chain,
  purchase: Purchase,
  { terms, opinion, record: earlier, save }: Progress,
): Promise<ReviewRecord & { published: NonNullable<ReviewRecord['published']> }> {
  const isOnChain = (await reviewOfEscrow(context, chain, purchase.escrowId)) !== undefined
  // What is on the chain, or on its way there, can no longer be changed here.
  const isFixed = earlier !== undefined && (isOnChain || earlier.draft.transaction !== null)
  const votes = opinion.votes ?? earlier?.draft.votes ?? []
  const draft = isFixed ? earlier.draft : { votes, content: opinion.content, transaction: null }
  let record: ReviewRecord = { draft, hasVoted: earlier?.hasVoted ?? false, published: null }
  const update = (change: Partial<ReviewRecord>) => {
    record = { ...record, ...change }
    return save(record)
  }
  if (!isFixed && !isOnChain) {
    await check(context, purchase, terms, { ...opinion, hasVoted: record.hasVoted })
  }
  await update({})
  try {
    if (votes.length > 0 && !record.hasVoted) {
      await voteOnce(context, purchase, votes)
      await update({ hasVoted: true })
    }
    const { reviewId, refLink, notes } = await publishDraft(context, purchase, draft, (sent) =>
      update({ draft: sent }),
    )
    if (refLink === undefined) {
      throw new Refused(
        `review ${reviewId} of this purchase was published with another content, and not by this call: register that one with register_purchase_review`,
      )
    }
    const published = { reviewId, refLink, notes }
    await update({ published })
    return { ...record, published }
  } catch (error) {
    throw isExpected(error) ? interrupted(error, record, isOnChain) : error
  }
}

function interrupted(error: unknown, { hasVoted, draft }: ReviewRecord, isOnChain: boolean): Refused {
  const steps = [
    hasVoted ? 'the votes are cast' : 'no vote is cast',
    isOnChain ? 'a review is on the chain' : sentIn(draft),
  ]
  return new Refused(`${explain(error)}. So far ${steps.join(', ')}: call again to go on from there`)
}

const sentIn = ({ transaction }: Draft) =>
  transaction ? `the review was sent in transaction ${transaction}` : 'nothing is published'

function requireBuyer(terms: EscrowTerms, agentId: string): void {
  requireAgent(terms)
  if (terms.buyerAgentId === BigInt(agentId)) return
  throw new Refused(`escrow ${terms.escrowId} was bought by agent ${terms.buyerAgentId}, not by ${agentId}`)
}

/** Everything that can be refused before the first step. */
async function check(
  context: Context,
  purchase: Purchase,
  terms: EscrowTerms,
  { votes, content, hasVoted }: Opinion & { hasVoted: boolean },
): Promise<void> {
  const { chainId, agentId } = purchase
  const { merchantId, productId, reviewId } = terms
  await checkContent(context, { chainId, merchantId, productId, content })
  if (votes) return checkVotes(votes, agentId)
  if (hasVoted) return
  const item = { merchantId: whole(merchantId, 'merchant'), productId, reviewId: whole(reviewId, 'review') }
  const { others, cashback } = await readSituation(context, purchase, item)
  const isVoteNeeded = cashback.action_needed?.includes('vote') ?? true
  if (others.length === 0 || !isVoteNeeded) return
  throw new Refused(
    'this purchase needs votes for one to three of reviews, those that helped: call again with votes [{review_id, reasoning}] (votes that were cast before stay as they are); nothing was published',
    {
      reviews: others.slice(0, MOST_SHOWN).map(({ internal_id, content_json }) => ({
        review_id: internal_id,
        content: JSON.stringify(content_json).slice(0, LONGEST_SHOWN),
      })),
      untrusted_text: strangersText('reviews'),
    },
  )
}
