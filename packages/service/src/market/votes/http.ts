import { z } from 'zod'
import { bodyId } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { envelopeShown, proofFields, proofOf, proofRefusals } from '../commitments/http.ts'
import { castVotes, proposeVotes } from './operations.ts'
import { ballotOf, recorded, VotesRecorded, votesOf } from './shapes.ts'

const TYPE = 'VoteCommitment'

const fields = { agent_id: bodyId, escrow_id: bodyId, votes: votesOf(bodyId) }

const REFUSALS = [
  'votes must contain 1–3 items, got 4: invalid input',
  'reasoning is required for each vote: invalid input',
  'reasoning exceeds 280 characters for review_id 7: invalid input',
  'duplicate review_id 7 in votes: invalid input',
]

export const voteRoutes: Route[] = [
  route({
    method: 'POST',
    path: '/v1/votes/step1',
    tag: 'Votes',
    summary: 'What to sign to vote on the reviews that informed a purchase',
    about: 'Nothing is kept yet. The commitment holds a hash of the votes, in the order sent.',
    auth: 'caller',
    changes: false,
    body: { schema: z.object(fields), refusal: 'invalid request' },
    takesChain: true,
    response: envelopeShown(TYPE, 'awaiting_signature'),
    refusals: { 400: REFUSALS },
    handle: ({ context, chain, body }) => ({
      status: 'awaiting_signature',
      ...proposeVotes(context, chain, ballotOf(body)),
    }),
  }),
  route({
    method: 'POST',
    path: '/v1/votes/step2',
    tag: 'Votes',
    summary: 'Vote on the reviews that informed a purchase',
    about:
      'The body of step 1, with its commitment signed by the owner of the agent that bought. Once for a purchase. A review that is voted for must be published, of the product that was bought, and not the one whose link it was bought through. Votes on reviews of the same owner are kept and count for nothing.',
    auth: 'caller',
    body: { schema: z.object({ ...fields, ...proofFields(TYPE) }), refusal: 'invalid request' },
    takesChain: true,
    response: VotesRecorded,
    refusals: {
      400: [
        ...REFUSALS,
        ...proofRefusals(TYPE),
        'review 7 is not published: invalid input',
        'review 7 is not for the same product as this purchase: invalid input',
        'cannot vote for the ref-link review of this purchase: invalid input',
      ],
      403: 'not authorized',
      404: 'not found',
      409: [
        'votes already submitted for purchase record 7: already exists',
        "purchase 7 needs a vote on a review of another owner, and all of these are on reviews of its buyer's; add one and retry: conflict",
      ],
    },
    async handle({ context, chain, body }) {
      const ballot = ballotOf(body)
      await castVotes(context, chain, ballot, proofOf(body))
      return recorded(ballot)
    },
  }),
]
