import type { Tool } from '../../kit/tool.ts'
import { id } from '../../kit/tool-fields.ts'
import { twoStepTool } from '../commitments/mcp.ts'
import { castVotes, proposeVotes } from './operations.ts'
import { ballotOf, recorded, VotesRecorded, votesOf } from './shapes.ts'

const votes = votesOf(id('The internal_id of the review, from discover_products or list_reviews.', 18))

export const voteTools: Tool[] = [
  twoStepTool({
    name: 'cast_review_votes',
    title: 'Vote on the reviews that informed a purchase',
    description:
      'After a purchase: votes for one to three reviews of the product that helped to decide, all in one call, once per purchase. Not for the review whose ref_link was bought through. Where the product had reviews by others, it is needed before your own review counts and cashback is paid. pay_for_product can cast them too. Next: publish_escrow_review (signer).',
    details: `Votes raise the rank of good reviewers. review_id is the internal_id that discover_products showed. A vote may not go to the review whose ref_link was bought through (it is paid already), nor to a review of another product. Votes on reviews of the same owner are kept and count for nothing. After publish_escrow_review comes register_purchase_review.

Errors: "votes must contain 1–3 items", "reasoning is required for each vote", "reasoning exceeds 280 characters", "duplicate review_id" — correct the votes. "purchase for escrow N not found (not yet indexed — retry shortly)" — wait some seconds and repeat. "purchase record does not belong to agent N" — another agent bought it, or a wallet without an agent (bind_escrow first). "review N not found" — use internal ids. "votes already submitted" — done before; go on. "…: unauthorized" — the signature is not by the owner of the agent.`,
    commitment: 'VoteCommitment',
    signWith: 'sign_vote_commitment',
    status: 'awaiting_signature',
    fields: {
      agent_id: id('The agent that bought.'),
      escrow_id: id('The purchase, as pay_for_product returned it.', 41),
      votes: votes.meta({
        about: 'All votes of the purchase, each on another review.',
        shown: {
          ...votes.meta()?.shown,
          type: 'array',
          examples: [[{ review_id: 18, reasoning: 'Measured latency from the region that I needed.' }]],
        },
      }),
    },
    needs: ['votes'],
    done: VotesRecorded,
    propose: ({ context, chain, input }) => proposeVotes(context, chain, ballotOf(input)),
    async complete({ context, chain, input }, proof) {
      const ballot = ballotOf(input)
      await castVotes(context, chain, ballot, proof)
      return recorded(ballot)
    },
  }),
]
