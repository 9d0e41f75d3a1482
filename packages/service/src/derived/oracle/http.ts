import { revertReason } from '@referrer/chain'
import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { ERRORS } from '../../kit/contract-errors.ts'
import { accountShown, hex32, id, momentShown, wholeNumber, words } from '../../kit/fields.ts'
import { address, hex, time, whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { type Compared, dispute, MOST_OPINIONS, readComparison, readDecisions } from './operations.ts'
import type { DecisionRow, FindingRow } from './records-store.ts'

const outcome = z.enum(['pending', 'confirmed', 'contradicted'])
const millionths = (about: string) => wholeNumber.meta({ about: `${about} In millionths.` })

const Comparison = z
  .object({
    comparison_id: wholeNumber,
    made_at: momentShown,
    voided_at: momentShown
      .optional()
      .meta({ about: 'When one of the opinions stopped counting; left out: the comparison is valid.' }),
    count: wholeNumber.meta({ about: 'The number of opinions.' }),
    size: millionths('The sum of the sizes of all opinions.'),
    weight: millionths('The sum of the weights of all opinions.'),
    weighted: wholeNumber.meta({ about: 'The sum of weight × satisfaction of all.' }),
    opinions: z
      .array(
        z.object({
          owner: accountShown,
          review_id: wholeNumber.meta({ about: 'The `internal_id` of the review that says it.' }),
          satisfaction: millionths('0 to 1.'),
          size: millionths(
            'The size of its purchase: the commission as a part of the full commission, at most 1.',
          ),
          weight: millionths('The size, at least one millionth.'),
        }),
      )
      .meta({ about: `At most ${MOST_OPINIONS}.` }),
  })
  .meta({ id: 'Comparison' })

const Findings = z
  .object({
    internal_id: wholeNumber,
    author_owner: accountShown
      .nullable()
      .meta({ about: 'Who owned the author when the review was published; null: not known.' }),
    comparison_outcome: z.enum(['pending', 'confirmed', 'contradicted', 'disputed', 'resolved']),
    findings: z.array(
      z.object({
        outcome,
        satisfaction: millionths('What the review said then.'),
        mean: millionths(
          'The mean satisfaction of these opinions: weighted ÷ weight, rounded; null with `pending`.',
        ).nullable(),
        others: wholeNumber.meta({ about: 'The number of opinions by other owners than the author’s.' }),
        weight: millionths('The sum of the weights of these opinions.'),
        weighted: wholeNumber.meta({ about: 'The sum of weight × satisfaction of these opinions.' }),
        size: millionths(
          'The mean size of these opinions, rounded down; 0 if the author’s owner owns the merchant.',
        ),
        found_at: momentShown,
        comparison: Comparison.nullable(),
      }),
    ),
  })
  .meta({ id: 'Findings' })

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

function comparisonShown(context: Context, { review, findings, inputs }: Compared): z.input<typeof Findings> {
  const account = (bytes: Buffer) => address(context.recovery, bytes)
  const comparison = ({ comparison_id, made_at, voided_at, ...row }: FindingRow) => {
    if (comparison_id === null) return null
    return {
      comparison_id: whole(comparison_id),
      made_at: time(made_at),
      ...(voided_at && { voided_at: time(voided_at) }),
      count: row.opinions,
      size: whole(row.size_sum),
      weight: whole(row.weight),
      weighted: whole(row.weighted),
      opinions: (inputs.get(comparison_id) ?? []).map(
        ({ owner, internal_id, satisfaction, size, weight }) => ({
          owner: account(owner),
          review_id: whole(internal_id),
          satisfaction,
          size,
          weight,
        }),
      ),
    }
  }
  return {
    internal_id: whole(review.internal_id),
    author_owner: review.author_owner && account(review.author_owner),
    comparison_outcome: review.comparison_outcome as z.input<typeof Findings>['comparison_outcome'],
    findings: findings.map((row) => ({
      outcome: row.outcome,
      satisfaction: row.satisfaction,
      mean: meanOf(row),
      others: row.others,
      weight: whole(row.others_weight),
      weighted: whole(row.others_weighted),
      size: row.size,
      found_at: time(row.found_at),
      comparison: comparison(row),
    })),
  }
}

/** Rounded to the nearest integer. */
const meanOf = ({ others_weight: weight, others_weighted: weighted }: FindingRow): number | null =>
  weight > 0n ? Number((weighted + weight / 2n) / weight) : null

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
