// The agent's queue at the marketplace: what its owner wants bought, and what became of it.
import { z } from 'zod'
import { type Ask, BackendRefused, withBackend } from '../backend.ts'
import type { Context } from '../context.ts'
import { decimal } from '../fields.ts'
import { printable } from '../printable.ts'
import { Refused } from '../refused.ts'
import { signExpected } from '../sign-commitment.ts'

const Intent = z.object({
  intent_id: z.string().min(1).max(200),
  type: z.string(),
  payload: z.unknown(),
})
export type Intent = z.output<typeof Intent>

/** A field that this runner does not know may limit the purchase, so it refuses such a payload. */
export const Purchase = z.strictObject({
  ref_link: z.string(),
  max_amount: z.union([z.int().min(0), decimal('')]).transform(BigInt),
  idempotency_key: z
    .string()
    .min(1)
    .refine((text) => text.isWellFormed(), 'must be well-formed text'),
  review: z.boolean().default(false),
})
export type Purchase = z.output<typeof Purchase>

const Proposed = z.object({ commitment: z.unknown(), nonce: z.string(), expiry: z.int() })
const Polled = z.object({ intents: z.array(Intent) })
const Marked = z.object({ marked: z.boolean() })
const Skipped = z.object({ skipped: z.boolean() })

/** An access signature is replaced this long before it expires. */
const MARGIN_SECONDS = 60
const LONGEST_WORDS = 1_000

export interface Queue {
  /** The pending intents, oldest first. */
  poll(): Promise<Intent[]>
  /** False when there was nothing to close: somebody else was faster. */
  markExecuted(intentId: string, result: string): Promise<boolean>
  markSkipped(intentId: string, reason: string): Promise<boolean>
}

export function openQueue(context: Context, chainId: number, agentId: string): Queue {
  const account = context.config.keys.ofAgent(agentId)
  const base = { agent_id: agentId, chain_id: chainId }
  let access: { nonce: string; expiry: number; agent_sig: string } | undefined

  async function signed(
    ask: Ask,
    tool: string,
    ...[type, fields, message]:
      | ['IntentAccessCommitment', object, object]
      | ['IntentMarkCommitment', object, { intentId: string; result: string }]
      | ['IntentSkipCommitment', object, { intentId: string; reason: string }]
  ) {
    const { commitment, nonce, expiry } = Proposed.parse(await ask(tool, { ...base, ...fields }))
    const expected = { chainId, message: { agentId, ...message } }
    return { nonce, expiry, agent_sig: await signExpected(account, type, commitment, expected) }
  }

  const withMarket = <T>(work: (ask: Ask) => Promise<T>): Promise<T> =>
    withBackend(context, work).catch((error: unknown) => {
      if (error instanceof z.ZodError) throw new Refused('the answer of the marketplace cannot be read')
      throw error
    })

  return {
    poll: () =>
      withMarket(async (ask) => {
        const now = context.now() / 1_000
        if (!access || access.expiry - MARGIN_SECONDS < now) {
          access = await signed(ask, 'get_pending_intents', 'IntentAccessCommitment', {}, {})
        }
        const answer = await ask('get_pending_intents', { ...base, ...access }).catch((error: unknown) => {
          // The signature may be the reason (the agent has another owner now, say): the next poll signs anew.
          if (error instanceof BackendRefused) access = undefined
          throw error
        })
        return Polled.parse(answer).intents
      }),
    markExecuted: (intentId, said) =>
      withMarket(async (ask) => {
        const result = wordsOf(said)
        const fields = { intent_id: intentId, result }
        const message = { intentId, result }
        const proof = await signed(ask, 'mark_intent_executed', 'IntentMarkCommitment', fields, message)
        return Marked.parse(await ask('mark_intent_executed', { ...base, ...fields, ...proof })).marked
      }),
    markSkipped: (intentId, said) =>
      withMarket(async (ask) => {
        const reason = wordsOf(said)
        const fields = { intent_id: intentId, reason }
        const message = { intentId, reason }
        const proof = await signed(ask, 'mark_intent_skipped', 'IntentSkipCommitment', fields, message)
        return Skipped.parse(await ask('mark_intent_skipped', { ...base, ...fields, ...proof })).skipped
      }),
  }
}

/** A text for the owner; parts of it may be a shop's. */
const wordsOf = (said: string) => [...printable(said)].slice(0, LONGEST_WORDS).join('')
