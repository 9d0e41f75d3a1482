import type { Commitment } from '@referrer/protocol'
import { z } from 'zod'
import { readCommitment, signCommitment } from '../sign-commitment.ts'
import { type Tool, tool } from '../tool.ts'

export const SignedOutput = z.object({
  signature: z.string().describe('0x and 65 bytes of hex: send it as agent_sig (or buyerSignature).'),
  signer: z.string().describe('The address whose key signed.'),
  signed: z
    .object({
      type: z.string(),
      chain_id: z.int(),
      contract: z.string(),
      fields: z.record(z.string(), z.union([z.string(), z.number()])),
      expires_at: z.string().optional(),
    })
    .describe('What was signed, in plain words: show it to the owner when in doubt.'),
})

/** Signing changes nothing by itself: what counts is sending the signature. */
export const SIGNS = {
  // Signing changes no state, but a signature is binding, so the host should ask the user.
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

function signTool(name: string, type: Commitment.TwoStepType, what: string, next: string): Tool {
  return tool({
    name,
    title: `Sign ${type.startsWith('I') ? 'an' : 'a'} ${type}`,
    description: `Signs ${what}, with the agent's key, between the two calls of ${next}: give the commitment of the first answer unchanged, then repeat ${next} with its nonce, its expiry and the signature as agent_sig.`,
    details:
      'The first call has no agent_sig. It signs with the key of commitment.message.agentId and judges nothing: an expired commitment is signed too, and the marketplace refuses it. signed shows what was signed, in plain words. Errors: "no key for agent N": the signer has no key for it; "compute digest: …": the commitment was changed or is of another type; "sign: …": the key cannot sign it.',
    input: z.object({
      commitment: z
        .unknown()
        .refine((value) => value !== undefined, 'is required')
        .meta({
          type: 'object',
          description: `The ${type} of step 1, unchanged: types, primaryType, domain and message.`,
        }),
    }),
    output: SignedOutput,
    annotations: SIGNS,
    async handle({ config }, { commitment }) {
      const read = readCommitment(type, commitment)
      return signCommitment(config.keys.ofAgent(read.message.agentId), read)
    },
  })
}

export const signTools: Tool[] = [
  signTool('sign_review_commitment', 'ReviewCommitment', 'a review on an approved proof', 'submit_review'),
  signTool(
    'sign_vote_commitment',
    'VoteCommitment',
    'votes on the reviews that informed a purchase',
    'cast_review_votes',
  ),
  signTool(
    'sign_cashback_rate_commitment',
    'CashbackRateCommitment',
    'the cashback that future reviews pledge',
    'set_cashback_rate',
  ),
  signTool(
    'sign_messenger_link_commitment',
    'TelegramLinkCommitment',
    "the link of the owner's chat",
    'link_messenger',
  ),
  signTool(
    'sign_intent_access_commitment',
    'IntentAccessCommitment',
    "the right to read the agent's queue of purchases",
    'get_pending_intents',
  ),
  signTool(
    'sign_intent_mark_commitment',
    'IntentMarkCommitment',
    'that a queued purchase was made',
    'mark_intent_executed',
  ),
  signTool(
    'sign_intent_skip_commitment',
    'IntentSkipCommitment',
    'that a queued purchase is not made',
    'mark_intent_skipped',
  ),
]
