import { z } from 'zod'
import { wholeNumber } from '../../kit/fields.ts'
import { whole } from '../../kit/json-values.ts'
import type { Tool } from '../../kit/tool.ts'
import { id } from '../../kit/tool-fields.ts'
import { twoStepTool } from '../commitments/mcp.ts'
import { IntentShown } from './http.ts'
import { pendingJson } from './json.ts'
import {
  LONGEST_WORDS,
  type Mark,
  markIntent,
  type Polled,
  pollIntents,
  proposeAccess,
  proposeMark,
} from './runner.ts'

const agent_id = id('The agent whose owner queued the intents.')

/** A text that is optional here; the operation refuses a missing one, with another message in step 2 than in step 1. */
const words = (about: string, example: string) =>
  z
    .string()
    .default('')
    .meta({ about, shown: { type: 'string', maxLength: LONGEST_WORDS, examples: [example] } })

const intent_id = words('The intent_id of get_pending_intents.', '9f86d081884c7d659a2feaa0c55ad015')
const base = { status: 'commitment', hasPlainErrors: true } as const
const ERRORS =
  'Errors: "intent queue not enabled": this service has no queue, there is nothing to poll. "signature not from agent owner": sign with the key that owns the agent, not with a wallet that it is bound to. "commitment expired": begin again with the first call.'

export const intentTools: Tool[] = [
  twoStepTool({
    ...base,
    name: 'get_pending_intents',
    title: 'Poll what the owner wants bought',
    isReadOnly: true,
    reads: 'primary',
    description:
      'For the loop that runs an agent: what its owner queued to be bought. For each intent pay_for_product (signer) with ref_link, max_amount and idempotency_key of its payload, then mark_intent_executed; or mark_intent_skipped. payload.review true: vote and review afterwards, too. Keep to per_tx_cap_usdc and, when budget_enforced, to remaining_budget (USDC base units) yourself. One signature serves an hour of polls.',
    details: `At most 100 intents, oldest first, that the owner confirmed and nobody has closed yet. Intents to buy have the type buy_product. For payload.review: cast_review_votes, publish_escrow_review of the signer, register_purchase_review. The service stops no payment: when budget_enforced is true spend no more than remaining_budget in all, and never more than per_tx_cap_usdc for one purchase when that is set. remaining_budget null does not mean unlimited: look at budget_enforced. Money that was spent counts once the purchase is in the records, a few seconds later. The signed call may be repeated until its expiry.

${ERRORS} "get pending intents": try again.`,
    commitment: 'IntentAccessCommitment',
    signWith: 'sign_intent_access_commitment',
    fields: { agent_id },
    done: z.object({
      status: z.literal('ok'),
      intents: z.array(IntentShown),
      remaining_budget: wholeNumber.nullable().meta({
        about:
          'The least that the daily and the total cap leave, in USDC base units; null: neither is known.',
      }),
      per_tx_cap_usdc: wholeNumber
        .nullable()
        .meta({ about: 'For one purchase, in USDC base units; null: none is known.' }),
      budget_enforced: z.boolean().meta({ about: 'Whether remaining_budget is to be kept to.' }),
    }),
    propose: ({ context, chain, input }) => proposeAccess(context, chain, input.agent_id),
    complete: async ({ context, chain, input }, proof) =>
      polledJson(await pollIntents(context, chain, input.agent_id, proof)),
  }),
  twoStepTool({
    ...base,
    name: 'mark_intent_executed',
    title: 'Say that an intent was executed',
    description:
      'Closes an intent of get_pending_intents after you bought. marked false: it was closed or expired already; do not buy again.',
    details: `No poll gives it again. Put what came of it into result, such as the escrow id and the transaction hash: its owner reads it, and the signature covers it. marked is false, and that is no failure, when there was nothing to close: the intent is closed already, has expired, is unknown or of another agent.

${ERRORS} "mark intent executed": try again.`,
    isIdempotent: true,
    needs: ['intent_id'],
    commitment: 'IntentMarkCommitment',
    signWith: 'sign_intent_mark_commitment',
    fields: {
      agent_id,
      intent_id,
      result: words('What came of it, for the owner; may be left out.', 'escrow 41, transaction 0x26fb…'),
    },
    done: z.object({ status: z.literal('ok'), marked: z.boolean() }),
    propose: ({ context, chain, input }) =>
      proposeMark(context, chain, markOf('executed', input, input.result)),
    complete: async ({ context, chain, input }, proof) => ({
      status: 'ok',
      marked: await markIntent(context, chain, markOf('executed', input, input.result), proof),
    }),
  }),
  twoStepTool({
    ...base,
    name: 'mark_intent_skipped',
    title: 'Say that an intent was skipped',
    description:
      'Closes an intent of get_pending_intents that you will not execute. skipped false: it was closed or expired already.',
    details: `For one that costs more than the budget leaves, say. No poll gives it again. Say why in reason: its owner reads it, and the signature covers it. skipped is false, and that is no failure, when there was nothing to close: the intent is closed already, has expired, is unknown or of another agent.

${ERRORS} "mark intent skipped": try again.`,
    isIdempotent: true,
    needs: ['intent_id', 'reason'],
    commitment: 'IntentSkipCommitment',
    signWith: 'sign_intent_skip_commitment',
    fields: {
      agent_id,
      intent_id,
      reason: words('Why it was not executed, for the owner.', 'It costs more than the budget leaves.'),
    },
    done: z.object({ status: z.literal('ok'), skipped: z.boolean() }),
    propose: ({ context, chain, input }) =>
      proposeMark(context, chain, markOf('skipped', input, input.reason)),
    complete: async ({ context, chain, input }, proof) => ({
      status: 'ok',
      skipped: await markIntent(context, chain, markOf('skipped', input, input.reason), proof),
    }),
  }),
]

const markOf = (as: Mark['as'], input: { agent_id: bigint; intent_id: string }, said: string): Mark => ({
  as,
  agentId: input.agent_id,
  intentId: input.intent_id,
  words: said,
})

function polledJson({ intents, budget }: Polled): string {
  const { remaining = null, perTx = null, isEnforced = false } = budget ?? {}
  const told = JSON.stringify({
    remaining_budget: remaining === null ? null : whole(remaining),
    per_tx_cap_usdc: perTx === null ? null : whole(perTx),
    budget_enforced: isEnforced,
  })
  return `{"status":"ok","intents":${pendingJson(intents)},${told.slice(1)}`
}
