// The oracle's findings on a review as answers show them.
import { z } from 'zod'
import type { Context } from '../../kit/context.ts'
import { accountShown, momentShown, wholeNumber } from '../../kit/fields.ts'
import { address, time, whole } from '../../kit/json-values.ts'
import { type Compared, MOST_OPINIONS } from './operations.ts'
import type { FindingRow } from './records-store.ts'

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

export const Findings = z
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

export function comparisonShown(
  context: Pick<Context, 'recovery'>,
  { review, findings, inputs }: Compared,
): z.input<typeof Findings> {
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
