// What votes take and answer, in all doors.
import { z } from 'zod'
import { wholeNumber } from '../http/fields.ts'
import type { Ballot } from './operations.ts'

/** That there is none, and of which length, is for the operation to say. */
const reasoning = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes('\0'))
  .nullish()
  .transform((text) => text ?? '')

/** Doors differ in how an id may be written. */
export const votesOf = (reviewId: z.ZodType<bigint>) =>
  z
    .array(z.object({ review_id: reviewId, reasoning }))
    .nullish()
    .transform((given) => given ?? [])
    .meta({
      about: 'Required. All votes of the purchase, each on another review.',
      shown: {
        type: 'array',
        minItems: 1,
        maxItems: 3,
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
