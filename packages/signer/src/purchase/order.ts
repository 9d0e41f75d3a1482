// Validates the arguments of a purchase, before anything is looked up.
import { Ids } from '@referrer/protocol'
import { z } from 'zod'
import { chainId, decimal, idText, USDC_UNITS } from '../fields.ts'
import { Refused } from '../refused.ts'
import { orFail } from '../sign-commitment.ts'

const MOST_VOTES = 3
const LONGEST_QUERY = 4_096
const LONGEST_BODY = 256 * 1024
/** In characters (code points). */
const LONGEST_REASONING = 280

export const OrderInput = z.strictObject({
  ref_link: z.string().describe('The ref_link of a review: it ends in /r/<token>.'),
  agent_id: idText('The agent that buys. Left out: the wallet buys for itself.').optional(),
  submit_votes: z
    .array(
      z.strictObject({
        review_id: z
          .int()
          .min(0)
          .describe('internal_id of a review of the same product, not of the one whose link is paid.'),
        reasoning: z.string().describe('Why it helped: 1 to 280 characters.'),
      }),
    )
    .optional()
    .meta({
      minItems: 1,
      maxItems: MOST_VOTES,
      description: 'Votes for the reviews that informed the purchase, cast once it is paid. Needs agent_id.',
    }),
  max_amount: decimal(`The most that may be paid, in ${USDC_UNITS}, as a decimal string.`).optional(),
  idempotency_key: z.string().min(1).max(256).optional().describe('Name of this one purchase.'),
  request: z
    .strictObject({
      query: z
        .string()
        .max(LONGEST_QUERY)
        .optional()
        .describe("Added to the shop's URL, such as city=Tokyo&days=3."),
      body: z.string().max(LONGEST_BODY).optional().describe('Posted to the shop.'),
      content_type: z
        .string()
        .regex(/^[\w.+/;= -]{1,100}$/)
        .optional()
        .describe('Of the body; application/json when left out.'),
    })
    .optional()
    .meta({
      description: 'What the shop is asked for. It is sent with the price question and with the payment.',
      examples: [{ query: 'city=Tokyo' }, { body: '{"text":"…"}' }],
    }),
  chain_id: chainId,
})

export interface Vote {
  review_id: number
  reasoning: string
}

export interface Order {
  refLink: string
  agentId: string | undefined
  votes: Vote[] | undefined
  maxAmount: bigint | undefined
  idempotencyKey: string | undefined
  query: string
  posted: Posted | null
}

/** The request that the shop gets besides the payment. */
export interface Posted {
  body: string
  type: string
}

export function readOrder(input: z.output<typeof OrderInput>): Order {
  const { ref_link: refLink, agent_id: agentId, submit_votes: votes } = input
  const { max_amount, idempotency_key, request = {} } = input
  if (agentId !== undefined) orFail('agent_id', () => Ids.parse(agentId))
  if (votes) checkVotes(votes, agentId)
  if (idempotency_key !== undefined && !idempotency_key.isWellFormed()) {
    throw new Refused('idempotency_key must be well-formed text')
  }
  return {
    refLink,
    agentId,
    votes,
    maxAmount: max_amount === undefined ? undefined : BigInt(max_amount),
    idempotencyKey: idempotency_key,
    query: request.query ?? '',
    posted:
      request.body === undefined
        ? null
        : { body: request.body, type: request.content_type ?? 'application/json' },
  }
}

/** The same validation as at the marketplace, but before anything is paid. */
export function checkVotes(votes: Vote[], agentId: string | undefined): void {
  if (agentId === undefined) {
    throw new Refused(
      'submit_votes needs agent_id: a purchase without an agent cannot vote; nothing was paid',
    )
  }
  if (votes.length < 1 || votes.length > MOST_VOTES) {
    throw new Refused(`votes must contain 1–${MOST_VOTES} items, got ${votes.length}: invalid input`)
  }
  const seen = new Set<number>()
  for (const { review_id, reasoning } of votes) {
    if (reasoning.trim() === '') throw new Refused('reasoning is required for each vote: invalid input')
    if ([...reasoning].length > LONGEST_REASONING || !reasoning.isWellFormed()) {
      throw new Refused(
        `reasoning exceeds ${LONGEST_REASONING} characters for review_id ${review_id}: invalid input`,
      )
    }
    if (seen.has(review_id)) throw new Refused(`duplicate review_id ${review_id} in votes: invalid input`)
    seen.add(review_id)
  }
}
