// Explains a rank by its evidence, so that everybody can recompute it.

import {
  dateOf,
  dayOf,
  deflate,
  inflate,
  MILLION,
  PRIORS,
  PRODUCT_TYPES,
  type ProductType,
} from '@referrer/ranking'
import { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { momentShown, wholeNumber } from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import type { AgentKey } from '../../kit/keys.ts'
import { inOneSnapshot } from '../../machinery/db/snapshot.ts'
import { ReviewRank, reviewRankOf } from './operations.ts'
import { type Evidence, evidenceOf, ranksOf, type Sums, sumsOf } from './store.ts'

const Piece = z
  .object({
    kind: z.enum(['vote', 'confirmed', 'contradicted']),
    review_id: wholeNumber.meta({ about: 'The `internal_id` of the review.' }),
    voter_agent_id: wholeNumber.optional().meta({ about: 'Of a vote.' }),
    weight: z.number().meta({ about: 'Its weight on its day; 1 is a vote that counts in full.' }),
    happened_at: momentShown,
    counts: z.number().meta({ about: 'Its weight on the day of `as_of`: it halves every 180 days.' }),
  })
  .meta({ id: 'RankEvidence' })

const Explanation = z
  .object({
    as_of: z
      .string()
      .meta({ about: 'The day of the rank, in UTC.', shown: { type: 'string', format: 'date' } }),
    prior: z
      .object({ gain: z.number(), loss: z.number() })
      .meta({ about: 'What counts before there is evidence.' }),
    gain: z.number().meta({ about: 'The sum of what votes and confirmed reviews count.' }),
    loss: z.number().meta({ about: 'The sum of what contradicted reviews count.' }),
    evidence_total: wholeNumber,
    evidence: z.array(Piece).meta({ about: 'Newest first; `limit` and `offset` select a page.' }),
  })
  .meta({
    id: 'RankExplanation',
    about:
      'The rank is (prior.gain + gain) / (prior.gain + prior.loss + gain + loss), if gain + loss is at least 0.5.',
  })

export const ExplainedRank = ReviewRank.extend({
  explain: z
    .object({ repeat: Explanation, one_off: Explanation })
    .optional()
    .meta({ about: 'Only when asked for.' }),
}).meta({ id: 'ReviewRank' })

interface Page {
  limit: number
  offset: number
}

/** The rank with its evidence. */
export const explainedRank = (
  context: Context,
  { config: { chainId } }: Chain,
  agentId: bigint,
  { limit, offset }: Page,
): Promise<z.output<typeof ExplainedRank>> => readExplained(context)({ chainId, agentId, limit, offset })

/** How many are read at once: an agent may have very much evidence, and everybody may ask. */
const READ_AT_ONCE = 4

const readExplained = once((context) =>
  coalesceInTurns<AgentKey & Page, z.output<typeof ExplainedRank>>(
    READ_AT_ONCE,
    ({ chainId, agentId, limit, offset }) => `${chainId}/${agentId}/${limit}/${offset}`,
    ({ chainId, agentId, ...page }) => explain(context, chainId, agentId, page),
  ),
)

/** Reads the rank and its evidence in one snapshot. */
function explain(
  { sql, clock }: Pick<Context, 'sql' | 'clock'>,
  chainId: number,
  agentId: bigint,
  page: Page,
): Promise<z.output<typeof ExplainedRank>> {
  return inOneSnapshot(sql, async (tx) => {
    const [[row], { day, sums }, evidence] = await Promise.all([
      ranksOf(tx, [{ chainId, agentId }]),
      sumsOf(tx, chainId, agentId),
      evidenceOf(tx, chainId, agentId, page),
    ])
    if (!row) throw new Error('the query returned no row for the agent')
    const asOf = day ?? dayOf(new Date(clock()))
    const explained = (type: ProductType) =>
      explanation(
        type,
        asOf,
        sums.find((one) => one.type === PRODUCT_TYPES.indexOf(type)),
        evidence.filter((one) => one.type === PRODUCT_TYPES.indexOf(type)),
      )
    return { ...reviewRankOf(row), explain: { repeat: explained('repeat'), one_off: explained('one_off') } }
  })
}

function explanation(
  type: ProductType,
  asOf: number,
  sums: Sums | undefined,
  evidence: readonly Evidence[],
): z.output<typeof Explanation> {
  return {
    as_of: dateOf(asOf),
    prior: PRIORS[type],
    gain: deflate(sums?.gain ?? 0n, asOf) / MILLION,
    loss: deflate(sums?.loss ?? 0n, asOf) / MILLION,
    evidence_total: sums?.pieces ?? 0,
    evidence: evidence.map(({ kind, review_id, voter_agent_id, weight, happened_at, day }) => ({
      kind,
      review_id: whole(review_id),
      ...(voter_agent_id !== null && { voter_agent_id: whole(voter_agent_id) }),
      weight: weight / MILLION,
      happened_at: time(happened_at),
      counts: deflate(inflate(weight, day), asOf) / MILLION,
    })),
  }
}
