// Votes and publishes the review that an intent asks for. Every step can be repeated, and is, until the review is published or its time is over.
import type { Hex } from 'viem'
import { z } from 'zod'
import { BackendRefused } from '../backend.ts'
import { connect } from '../chain/chain.ts'
import { checkContent } from '../check-content.ts'
import { type Draft, publishDraft, voteOnce } from '../jobs/publish.ts'
import { reviewOfEscrow } from '../publish-review.ts'
import { withLock } from '../purchase/lock.ts'
import { checkVotes } from '../purchase/order.ts'
import { explain, Refused } from '../refused.ts'
import { nameOf } from './output.ts'
import { type IntentRecord, isReviewDue } from './records.ts'
import { type Briefing, brief } from './review-document.ts'
import type { Runner } from './runner.ts'
import type { Writer } from './writer.ts'

const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 6 * 3_600_000
/** Enough to take over the lock of a process that has died. */
const LOCK_MS = 1_000
const TRIES = 2
const MAX_CONTENT_BYTES = 16_384

const Answer = z.object({
  votes: z
    .array(z.object({ review_id: z.int(), reasoning: z.string() }))
    .max(3)
    .default([]),
  content: z.record(z.string(), z.unknown()),
})

/** The writer's answer cannot be used; the message tells the writer why. */
class DraftRefused extends Refused {}

/** Returns whether no review is left to do. */
export async function reviewAll(runner: Runner, signal: AbortSignal): Promise<boolean> {
  const { records, context, output, writer } = runner
  let isDone = true
  for (const { intentId, review, name } of (await records.listOpen()).filter(isReviewDue)) {
    if (signal.aborted) break
    if (review && review.nextAt > context.now()) {
      isDone = false
      continue
    }
    const about = `${nameOf(intentId)} review of ${JSON.stringify(name)}`
    if (!writer) {
      output.sayOnce(`${intentId} review`, `${about} … needs --review-with or --review-mcp`)
      isDone = false
      continue
    }
    const { SIGNER_STATE_DIR: stateDir } = context.config
    try {
      await withLock(stateDir, `review-${records.stemOf(intentId)}`, LOCK_MS, async () => {
        // Another runner with the same journal may have published it meanwhile.
        const record = await records.find(intentId)
        if (record && isReviewDue(record))
          isDone = (await attempt(runner, record, { writer, about, signal })) && isDone
      })
    } catch (error) {
      output.sayOnce(`${intentId} review`, `${about} … waits: ${explain(error)}`)
      isDone = false
    }
  }
  return isDone
}

interface Attempt {
  writer: Writer
  about: string
  signal: AbortSignal
}

async function attempt(
  runner: Runner,
  record: IntentRecord,
  { writer, about, signal }: Attempt,
): Promise<boolean> {
  const { records, output, context } = runner
  let newest = record
  const update = (change: Partial<NonNullable<IntentRecord['review']>>) => {
    newest = { ...newest, review: newest.review && { ...newest.review, ...change } }
    return records.save(newest)
  }
  try {
    const { state, text } = await publish(runner, record, {
      write: (briefing) => writeDraft(runner, record, briefing, { writer, about, signal }),
      keep: (draft) => update({ draft }),
    })
    await update({ state })
    output.say(`${about} … ${text}`)
    return true
  } catch (error) {
    // A review that ended with the runner is begun again by the next one.
    if (signal.aborted) return true
    const tries = (record.review?.tries ?? 0) + 1
    const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), LONGEST_WAIT_MS)
    await update({ tries, nextAt: context.now() + waitMs })
    output.say(`${about} … is tried again in ${waitMs / 60_000} min: ${explain(error)}`)
    return false
  }
}

interface Steps {
  write(briefing: Briefing): Promise<Draft>
  keep(draft: Draft): Promise<void>
}

async function publish(
  runner: Runner,
  record: IntentRecord,
  { write, keep }: Steps,
): Promise<{ state: 'published' | 'over'; text: string }> {
  const { context, chainId, agentId } = runner
  const { escrowId } = record
  const chain = await connect(context, chainId)
  const earlier = await reviewOfEscrow(context, chain, escrowId)
  let draft = record.review?.draft
  if (earlier === undefined) {
    const briefing = await brief(runner, record)
    if (briefing.deadline.getTime() < context.now()) {
      return { state: 'over', text: `not published: its time was over at ${briefing.document.deadline}` }
    }
    draft ??= await write(briefing)
    await keep(draft)
  }
  const others = (id: number | undefined) =>
    ({ state: 'published', text: `review ${id} was published by another runner` }) as const
  if (!draft) return others(earlier)
  const { reviewId, refLink } = await publishDraft(context, { chainId, agentId, escrowId }, draft, keep)
  if (refLink === undefined) return others(reviewId)
  const votes = draft.votes.length
  const voted = votes === 0 ? '' : `, ${votes} ${votes === 1 ? 'vote' : 'votes'} cast`
  return { state: 'published', text: `review ${reviewId} is published${voted}` }
}

/** Asks the writer, and once more with the problem when its answer cannot be used. Casts the votes, which the marketplace checks. */
async function writeDraft(
  runner: Runner,
  record: IntentRecord,
  briefing: Briefing,
  { writer, about, signal }: Attempt,
): Promise<Draft> {
  let { document } = briefing
  for (let left = TRIES - 1; ; left -= 1) {
    const answer = await writer(document, signal)
    try {
      const draft = await readDraft(runner, record, briefing, answer)
      await vote(runner, record, draft)
      return draft
    } catch (error) {
      if (!(error instanceof DraftRefused) || left === 0) throw error
      runner.output.say(`${about} … the writer is asked again: ${error.message}`)
      document = { ...document, problem: error.message }
    }
  }
}

async function readDraft(
  { context, chainId, agentId }: Runner,
  { merchantId, productId }: IntentRecord,
  { votable, isVoteNeeded }: Briefing,
  answer: unknown,
): Promise<Draft> {
  const read = Answer.safeParse(answer)
  if (!read.success) {
    const why = read.error.issues.map(({ path, message }) => `${path.join('.') || 'the answer'}: ${message}`)
    throw new DraftRefused(
      `expected {"votes": [{"review_id", "reasoning"}], "content": {…}}: ${why.join('; ')}`,
    )
  }
  const { votes } = read.data
  const content = JSON.stringify(read.data.content)
  const stranger = votes.find(({ review_id }) => !votable.has(review_id))
  if (stranger) throw new DraftRefused(`review_id ${stranger.review_id} is not one of reviews`)
  if (isVoteNeeded && votes.length === 0) {
    throw new DraftRefused('votes is empty, and this purchase needs a vote for one of reviews')
  }
  if (Buffer.byteLength(content) > MAX_CONTENT_BYTES) {
    throw new DraftRefused(`content has more than ${MAX_CONTENT_BYTES} bytes`)
  }
  try {
    if (votes.length > 0) checkVotes(votes, agentId)
    await checkContent(context, {
      chainId,
      merchantId: BigInt(merchantId),
      productId: productId as Hex,
      content,
    })
  } catch (error) {
    throw error instanceof Refused ? new DraftRefused(error.message) : error
  }
  return { votes, content, transaction: null }
}

async function vote(
  { context, chainId, agentId }: Runner,
  { escrowId }: IntentRecord,
  { votes }: Draft,
): Promise<void> {
  if (votes.length === 0) return
  try {
    await voteOnce(context, { chainId, agentId, escrowId }, votes)
  } catch (error) {
    if (!(error instanceof BackendRefused) || /not yet indexed/.test(error.message)) throw error
    throw new DraftRefused(error.message)
  }
}
