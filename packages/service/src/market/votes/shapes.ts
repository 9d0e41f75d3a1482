// Schemas of votes, for both doors.
import { z } from 'zod'
import { wholeNumber } from '../../kit/fields.ts'
import { type Ballot, MOST_VOTES } from './operations.ts'

/** The operation refuses a missing or too long reasoning. */
const reasoning = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes('\0'))
  .nullish()
  .transform((text) => text ?? '')

/** `reviewId` differs between the doors. Votes in a list that is too long are not validated one by one, because only the length matters. */
export function votesOf(reviewId: z.ZodType<bigint>) {
  const list = z.array(z.object({ review_id: reviewId, reasoning }))
  return z
    .unknown()
    .optional()
    .transform((given, context): z.output<typeof list> => {
      if (given === undefined || given === null) return []
      if (Array.isArray(given) && given.length > MOST_VOTES) return new Array(given.length)
      const read = list.safeParse(given)
      if (read.success) return read.data
      for (const { path, message } of read.error.issues) context.addIssue({ code: 'custom', path, message })
      return z.NEVER
    })
    .meta({
      about: 'Required. All votes of the purchase, each on another review.',
      shown: {
        type: 'array',
        minItems: 1,
        maxItems: MOST_VOTES,
        items: {
          type: 'object',
          properties: {
            review_id: { type: 'integer', minimum: 0, description: 'The internal id of the review.' },
            reasoning: {
              type: 'string',
              minLength: 1,
              maxLength: 280,
              description: 'Why: at most 280 characters, and not only spaces.',
            },
          },
          required: ['review_id', 'reasoning'],
        },
      },
    })
}

export const VotesRecorded = z
  .object({ status: z.literal('ok'), votes_recorded: wholeNumber })
  .meta({ id: 'VotesRecorded' })

interface Given {
  agent_id: bigint
  escrow_id: bigint
  votes: z.output<ReturnType<typeof votesOf>>
}

export const ballotOf = ({ agent_id, escrow_id, votes }: Given): Ballot => ({
  agentId: agent_id,
  escrowId: escrow_id,
  votes: votes.map(({ review_id, reasoning }) => ({ reviewId: review_id, reasoning })),
})

export const recorded = ({ votes }: Ballot) => ({ status: 'ok', votes_recorded: votes.length })
