// Says how a question was read, and why a product and a review are where they are. Only for those who ask.
import { type Explained, productScore, type Reading } from '@referrer/search'
import type { Chosen } from './choose.ts'
import type { ProductExplanation, QuestionExplanation, ReviewExplanation } from './shapes.ts'
import { type Entry, type Slate, WEIGHTS } from './slate.ts'

/** Why no vectors were compared, where the index did not say it. */
export type NoVectors = Extract<QuestionExplanation['vectors']['because'], 'no_model' | 'no_vector'>

const part = (value: number, weight: number) => ({ value, weight, contributes: weight * value })

/** `explained` is undefined if the index was not available. */
export function explainQuestion(
  explained: Explained | undefined,
  modelId: string | undefined,
  none: NoVectors | undefined,
): QuestionExplanation {
  const share = explained?.share ?? 0
  const because = explained ? (none ?? 'not_comparable') : 'index_not_available'
  return {
    ...(explained && wordsOf(explained.reading)),
    vectors: { model: modelId ?? null, share, ...(share === 0 && { because }) },
  }
}

const wordsOf = ({ words, fillers, beyond }: Reading) => ({
  words: words.map(({ word, weight, ways }) => ({
    word,
    weight,
    read_as: ways.map(({ text, how, likeness }) => ({ meant: text, how, likeness })),
  })),
  fillers,
  ...(beyond.length > 0 && { beyond }),
})

/** By the key of the product. `explained` is undefined if the index was not available. */
export function explainProducts(
  products: readonly Chosen[],
  explained: Explained | undefined,
): Map<string, ProductExplanation> {
  const hits = new Map(explained?.hits.map((hit) => [hit.key, hit]))
  const isMatch = ({ intentMatch }: Chosen) => intentMatch > 0
  // Without any match, the score of a product is its rank.
  const isByRankAlone = !products.some(isMatch)
  const [ofMatch, ofRank] = isByRankAlone ? [0, 1] : [productScore(1, 0), productScore(0, 1)]
  const none = explained ? 'nothing_matched' : 'index_not_available'
  const others = isByRankAlone ? none : 'filled_up_by_rank'
  return new Map(
    products.map((product) => {
      const hit = isMatch(product) ? hits.get(product.key) : undefined
      const { words = 0, near = 0 } = hit ?? {}
      const explanation: ProductExplanation = {
        shown_because: hit ? 'matches' : others,
        intent_match: { words, near, share: explained?.share ?? 0, ...part(product.intentMatch, ofMatch) },
        product_rank: part(product.row.rank, ofRank),
      }
      return [product.key, explanation]
    }),
  )
}

/** By the internal id of the review. */
export function explainSlate({ entries, side }: Slate): Map<bigint, ReviewExplanation> {
  let place = 0
  return new Map(
    entries.map((entry) => {
      if (entry.slot === 'highlight' || entry.slot === 'overflow') place += 1
      const { authorRank, rankFrom, relevance, freshness, ageDays } = entry
      const explanation = {
        slot_because: reasonOf(entry, place, side),
        author_rank: { from: rankFrom, ...part(authorRank, WEIGHTS.authorRank) },
        relevance: part(relevance, WEIGHTS.relevance),
        freshness: { days: ageDays, ...part(freshness, WEIGHTS.freshness) },
      }
      return [entry.internalId, explanation]
    }),
  )
}

function reasonOf({ slot, reason }: Entry, place: number, side: number): string {
  switch (slot) {
    case 'newcomer':
      return 'best of the authors without a rank'
    case 'dissent':
      return `best of the minority: reviews are mostly ${side > 0 ? 'good' : 'bad'}`
    case 'excluded':
      return reason === 'self_review'
        ? 'its author belongs, or belonged, to the owner of the shop'
        : 'its author was sold within the last 7 days'
    default:
      return `${ordinal(place)} of the rest`
  }
}

const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ')
const ENDINGS = { one: 'st', two: 'nd', few: 'rd', other: 'th', zero: 'th', many: 'th' }
const plural = new Intl.PluralRules('en', { type: 'ordinal' })

const ordinal = (place: number): string => ORDINALS[place - 1] ?? `${place}${ENDINGS[plural.select(place)]}`
