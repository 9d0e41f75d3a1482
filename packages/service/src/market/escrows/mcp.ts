import { z } from 'zod'
import { clamp } from '../../kit/fields.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { id, integer } from '../../kit/tool-fields.ts'
import { Escrow, Escrows, escrowStatus, listEscrows } from './operations.ts'
import { EscrowTerms, escrowTerms } from './terms.ts'

export const escrowTools: Tool[] = [
  tool({
    name: 'list_escrows',
    title: 'The purchases in which an agent has a part',
    description:
      'The purchases of an agent as reviewer or buyer, newest first: what is held back, what cashback waits and until when, and action_needed for it. Next: cashback "pending_buyer_review" needs cast_review_votes, publish_escrow_review (signer) and register_purchase_review.',
    details:
      "From the records, seconds behind the chain; get_escrow_status reads the chain too. The buyer's votes and review are needed before window_end.",
    input: z.object({
      agent_id: id('The agent.'),
      limit: integer(50, 'At most so many, 1 to 200.', clamp(1, 200)),
      offset: integer(0, 'How many to skip; negative is 0.', (number) => Math.max(number, 0)),
    }),
    output: Escrows,
    isReadOnly: true,
    handle: ({ context, chain, input: { agent_id: agentId, ...page } }) =>
      listEscrows(context, chain, agentId, page),
  }),
  tool({
    name: 'get_escrow_status',
    title: 'Where one purchase stands',
    description:
      'One purchase as one of its agents sees it: state on the chain, commission held back for the reviewer, cashback for the buyer; for each none, pending, pending_buyer_review, claimable (on its way), released (paid) or window_closed. fallback_available: trigger_settle_fallback (signer) works.',
    details: `Status: none (amount 0), pending (the window is open), pending_buyer_review (review or votes missing), claimable (earned, on its way), released (paid), window_closed (it went elsewhere).

Errors: "escrow_id is required" — 0 is none. "escrow N of agent M not found" — the agent has no part in it, or the purchase is some seconds too new: try again.`,
    input: z.object({ agent_id: id('The agent.'), escrow_id: id('The escrow.', 41) }),
    output: Escrow,
    isReadOnly: true,
    handle: ({ context, chain, input }) =>
      escrowStatus(context, chain, { agentId: input.agent_id, escrowId: input.escrow_id }),
  }),
  tool({
    name: 'get_escrow_terms',
    title: 'What the escrow contract wants to be told',
    description:
      'For programs that send transactions: the terms of an escrow as the contract takes them in every call about it. The signer asks for them by itself.',
    details: `The signer asks this before it publishes a review, binds or settles. All of it is public on the chain, and the contract checks it.

Errors: "escrow N not found" — no such purchase, or some seconds too new.`,
    input: z.object({ escrow_id: id('The escrow.', 41) }),
    output: EscrowTerms,
    isReadOnly: true,
    handle: ({ context, chain, input }) => escrowTerms(context, chain, input.escrow_id),
  }),
]
