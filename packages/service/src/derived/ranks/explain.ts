// Explains a rank by its evidence, so that everybody can recompute it.

import {
  coverOf,
  dateOf,
  dayOf,
  deflate,
  inflate,
  MILLION,
  neededFor,
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
import { authorsVoice, coverOn, rankSteps, type Trusted } from './rank.ts'
import { type Evidence, evidenceOf, ranksOf, type Sums, sumsOf, trustedOf } from './store.ts'

const Piece = z
  .object({
    kind: z.enum(['vote', 'confirmed', 'contradicted']),
    review_id: wholeNumber.meta({ about: 'The `internal_id` of the review.' }),
    voter_agent_id: wholeNumber.optional().meta({ about: 'Of a vote.' }),
    weight: z.number().meta({ about: 'Its weight on its day; 1 is a vote that counts in full.' }),
    happened_at: momentShown,
    voter_standing: z.number().nullable().optional().meta({
      about:
        'Of a vote: how far the money of the voter’s owner went to verified shops when it voted, 0 to 1. Null: no shop was verified, or the owner had bought nothing before.',
    }),
    shop_standing: z.number().nullable().optional().meta({
      about:
        'Of a vote: how far the money of the shop’s customers went to verified shops, 0 to 1; 1 for a verified shop. Null: no shop was verified.',
    }),
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
    evidence_rank: z.number().nullable().meta({
      about: 'The rank from the evidence alone. Null: gain + loss is less than 0.5.',
    }),
    voiced_rank: z.number().nullable().meta({
      about:
        'The same with gain × `standing.voice` instead of gain. Without standings it is `evidence_rank`.',
    }),
    evidence_total: wholeNumber,
    evidence: z.array(Piece).meta({ about: 'Newest first; `limit` and `offset` select a page.' }),
  })
  .meta({
    id: 'RankExplanation',
    about:
      '`evidence_rank` is (prior.gain + gain) / (prior.gain + prior.loss + gain + loss), if gain + loss is at least 0.5; `voiced_rank` is the same with gain × voice. If that is above P = prior.gain / (prior.gain + prior.loss), the rank is P + (voiced_rank − P) × cover, otherwise it is `voiced_rank`.',
  })

const StandingOfOwner = z
  .object({
    standing: z.number().nullable().meta({
      about:
        'How far the money of the agent’s owner went to verified shops, 0 to 1. Null: the owner has bought nothing, and its voice is 1.',
    }),
    voice: z.number().meta({
      about: 'How much the evidence for the agent counts: (standing / 0.8)⁵, at most 1.',
    }),
  })
  .nullable()
  .meta({ id: 'RankStanding', about: 'Null: no shop is verified, and everything counts in full.' })

const Cover = z
  .object({
    support: z.number().meta({
      about:
        'The money that speaks for the agent on the day of `as_of`, in base units: what buyers who agreed or voted for it paid at verified shops, and a part of what they spent at others, by the standing of the shop. It halves every 180 days.',
    }),
    sales: z.number().meta({
      about: 'The commission of all sales through its links as it would be at rank 1, on the same day.',
    }),
    needed: z.number().meta({
      about:
        'The support that covers the rank in full: 1.26 × (sales + ten full commissions, RANK_FULL_COMMISSION).',
    }),
    cover: z.number().meta({ about: '(support / needed)², at most 1.' }),
  })
  .nullable()
  .meta({
    id: 'RankCover',
    about: 'Of both types together. Null: no shop is verified, and nothing needs cover.',
  })

const HOW = {
  off: 'No shop is verified, so everything counts in full: the rank is evidence_rank.',
  on: 'Shops are verified, so what speaks for an agent counts by the standing of its owner (voiced_rank), and a rank above the prior only as far as support covers the sales.',
}

export const ExplainedRank = ReviewRank.extend({
  explain: z
    .object({
      how: z.string().meta({ about: 'How the rank follows from the parts, in words.' }),
      standing: StandingOfOwner,
      cover: Cover,
      repeat: Explanation,
      one_off: Explanation,
    })
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
  { sql, clock, config: { fullCommission } }: Pick<Context, 'sql' | 'clock' | 'config'>,
  chainId: number,
  agentId: bigint,
  page: Page,
): Promise<z.output<typeof ExplainedRank>> {
  return inOneSnapshot(sql, async (tx) => {
    const [[row], { day, sums }, evidence, trusted] = await Promise.all([
      ranksOf(tx, [{ chainId, agentId }]),
      sumsOf(tx, chainId, agentId),
      evidenceOf(tx, chainId, agentId, page),
      trustedOf(tx, chainId, agentId),
    ])
    if (!row) throw new Error('the query returned no row for the agent')
    const asOf = day ?? dayOf(new Date(clock()))
    const explained = (type: ProductType) =>
      explanation(
        type,
        { asOf, trusted, fullCommission },
        sums.find((one) => one.type === PRODUCT_TYPES.indexOf(type)),
        evidence.filter((one) => one.type === PRODUCT_TYPES.indexOf(type)),
      )
    return {
      ...reviewRankOf(row),
      explain: {
        ...trustShown(asOf, trusted, fullCommission),
        repeat: explained('repeat'),
        one_off: explained('one_off'),
      },
    }
  })
}

function trustShown(asOf: number, trusted: Trusted | null, fullCommission: bigint) {
  if (!trusted) return { how: HOW.off, standing: null, cover: null }
  const money = coverOn(asOf, trusted)
  return {
    how: HOW.on,
    standing: { standing: share(trusted.standing), voice: authorsVoice(trusted.standing) / MILLION },
    cover: {
      ...money,
      needed: neededFor(money.sales, fullCommission),
      cover: coverOf(money, fullCommission),
    },
  }
}

const share = (millionths: number | null) => (millionths === null ? null : millionths / MILLION)

function explanation(
  type: ProductType,
  { asOf, trusted, fullCommission }: { asOf: number; trusted: Trusted | null; fullCommission: bigint },
  sums: Sums | undefined,
  evidence: readonly Evidence[],
): z.output<typeof Explanation> {
  const { gain, loss } = sums ?? { gain: 0n, loss: 0n }
  const steps = rankSteps(type, { gain, loss, day: asOf, trusted }, fullCommission)
  return {
    as_of: dateOf(asOf),
    prior: PRIORS[type],
    gain: deflate(gain, asOf) / MILLION,
    loss: deflate(loss, asOf) / MILLION,
    evidence_rank: steps.evidence,
    voiced_rank: steps.voiced,
    evidence_total: sums?.pieces ?? 0,
    evidence: evidence.map(({ kind, review_id, voter_agent_id, weight, happened_at, day, ...vote }) => ({
      kind,
      review_id: whole(review_id),
      ...(voter_agent_id !== null && {
        voter_agent_id: whole(voter_agent_id),
        voter_standing: share(vote.voter_standing),
        shop_standing: share(vote.shop_standing),
      }),
      weight: weight / MILLION,
      happened_at: time(happened_at),
      counts: deflate(inflate(weight, day), asOf) / MILLION,
    })),
  }
}
