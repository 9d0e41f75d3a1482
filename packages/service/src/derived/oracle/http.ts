import { revertReason } from '@referrer/chain'
import { z } from 'zod'
import { ERRORS } from '../../kit/contract-errors.ts'
import { hex32, id, momentShown, wholeNumber, words } from '../../kit/fields.ts'
import { hex, time, whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { comparisonShown, Findings } from './findings-shown.ts'
import { dispute, readComparison, readDecisions } from './operations.ts'
import type { DecisionRow } from './records-store.ts'

const Decisions = z
  .object({
    decisions: z.array(
      z.object({
        kind: z.enum(['release', 'settle']),
        attempt: wholeNumber.meta({ about: 'Counted from 1; a failed attempt is followed by another.' }),
        contradicted: z.boolean(),
        cashback_earned: z.boolean(),
        inputs: z.record(z.string(), z.unknown()).meta({ about: 'What the decision is based on.' }),
        decided_at: momentShown,
        transaction: z.object({
          state: z.enum(['enqueued', 'sent', 'confirmed', 'failed']),
          hash: hex32
            .nullable()
            .meta({ about: 'Null: not signed yet. One transaction may carry many decisions.' }),
          reason: z.string().nullable().meta({ about: 'Why it failed, or what delays it.' }),
        }),
      }),
    ),
  })
  .meta({ id: 'EscrowDecisions' })

const reviewParams = z.object({ id: id(1, 'invalid review id', 'The id on the chain.') })

export const oracleRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/review/{id}/comparison',
    tag: 'Reviews',
    summary: 'The findings on a review, with the opinions of buyers that they are based on',
    about:
      'Newest first. A review is confirmed when its satisfaction is within 250000 millionths of the mean of the opinions of other owners, ' +
      'which weigh as much as their purchases: |satisfaction × weight − weighted| ≤ 250000 × weight, else contradicted. With fewer than three ' +
      'others it is pending.',
    auth: 'none',
    params: reviewParams,
    takesChain: true,
    response: Findings,
    refusals: { 404: 'review not found' },
    async handle({ context, chain, params }) {
      return comparisonShown(context, await readComparison(context, chain, params.id))
    },
  }),
  route({
    method: 'POST',
    path: '/v1/review/{id}/dispute',
    tag: 'Reviews',
    summary: 'Dispute the contradiction of a review',
    about: 'Once, by the owner of the agent that wrote it. An admin then decides.',
    auth: 'caller',
    params: reviewParams,
    body: {
      schema: z.object({ reason: words(2_000).meta({ about: 'Why the buyers are wrong.' }) }),
      refusal: 'invalid request',
    },
    takesChain: true,
    response: z
      .object({
        review_id: wholeNumber.meta({ about: 'The `internal_id`.' }),
        comparison_outcome: z.literal('disputed'),
      })
      .meta({ id: 'DisputedReview' }),
    refusals: {
      403: 'caller does not own this agent',
      404: 'review not found',
      409: 'review is not contradicted',
    },
    async handle({ context, chain, caller, params, body }) {
      const internalId = await dispute(context, chain, { reviewId: params.id, reason: body.reason, caller })
      return { review_id: whole(internalId), comparison_outcome: 'disputed' }
    },
  }),
  route({
    method: 'GET',
    path: '/v1/escrow/{id}/decisions',
    tag: 'Earnings and escrows',
    summary: 'The decisions of the oracle about an escrow, with their inputs and transactions',
    about: 'Newest first.',
    auth: 'none',
    params: z.object({ id: id(1, 'invalid escrow id', 'The escrow.') }),
    takesChain: true,
    response: Decisions,
    refusals: { 404: 'not found' },
    async handle({ context, chain, params }) {
      return { decisions: (await readDecisions(context, chain, params.id)).map(decisionShown) }
    },
  }),
]

const decisionShown = ({ hash, decided_at, ...decision }: DecisionRow) => ({
  kind: decision.kind,
  attempt: decision.attempt,
  contradicted: decision.contradicted,
  cashback_earned: decision.cashback_earned,
  inputs: decision.inputs,
  decided_at: time(decided_at),
  transaction: { ...transactionState(decision), hash: hash && hex(hash) },
})

/** For an escrow that its batch skipped, the transaction counts as failed, although it succeeded for others. */
function transactionState({
  state,
  reason,
  skipped_for,
}: Pick<DecisionRow, 'state' | 'reason' | 'skipped_for'>) {
  if (skipped_for === null) return { state, reason }
  return {
    state: state === 'confirmed' ? ('failed' as const) : state,
    reason: `mined, but ${revertReason(hex(skipped_for), ERRORS)}`,
  }
}
