// Answers one discovery request.
import { createTurns } from '@referrer/net'
import { PRODUCT_TYPES, type ProductType } from '@referrer/ranking'
import { cosine, type Explained, type Hit, type Vector } from '@referrer/search'
import { cut } from '../../derived/texts/text.ts'
import { type Context, oncePerProcess } from '../../kit/context.ts'
import { findReviewRecords } from '../../market/reviews/store.ts'
import type { Search } from '../source.ts'
import { briefOf } from './brief.ts'
import { type Chosen, chooseProducts } from './choose.ts'
import { explainProducts, explainQuestion, explainSlate, type NoVectors } from './explain.ts'
import { discoveryJson, type Shown } from './json.ts'
import { Shortlists } from './shortlists.ts'
import { type Candidate, type Entry, slateOf } from './slate.ts'
import type { Filters, PublishedRow } from './store.ts'

export interface Asked extends Filters {
  chainId: number
  /** What the caller wants, in words. */
  intent: string
  /** The largest number of products to return. */
  most: number
  /** Whether to include reviews of the slot `overflow`. */
  includeAll: boolean
  /** Whether the answer is for a language model and must stay short: see `brief.ts`. */
  isBrief: boolean
  /** Whether to say how the question was read and what the scores are made of. */
  explain?: boolean
}

/** An intent as a vector, and the model that made it. */
interface Meaning {
  vector: Vector
  embedderId: string
}

interface Searched {
  hits: readonly Hit[]
  /** Whether the index could be asked. */
  isAvailable: boolean
  meaning: Meaning | undefined
  /** Undefined: nobody asked for it, or the index is not available. */
  explained: Explained | undefined
  /** Why there was no vector to compare. */
  noVectors: NoVectors | undefined
}

/** The rest of a longer intent is ignored. */
export const INTENT_CHARACTERS = 1_000
/** The source can be slightly behind, so this many more hits are requested in case some are closed by now. */
const SPARE = 5
/**
 * An answer with more reviews than this counts as large. Only a few large answers are written at the same time, to
 * limit memory.
 */
const MANY_TEXTS = 200
const LARGE_AT_ONCE = 4

export async function answerTo(context: Context, search: Search, asked: Asked): Promise<string> {
  // Postgres cannot store this character, so no category contains it.
  if (asked.category?.includes('\0')) return discoveryJson(context, asked.chainId, [], new Map())
  const searched = await searchFor(search, asked)
  const { hits, meaning } = searched
  const shortlists = new Shortlists(context.sql, asked.chainId, meaning?.embedderId)
  // Prefetch: usually the first hits are the products that are shown. If it fails, the read below tries again.
  const [chosen] = await Promise.all([
    chooseProducts(context.sql, asked, hits),
    shortlists.read(hits.slice(0, asked.most).map(({ key }) => ({ key }))).catch(() => {}),
  ])
  await shortlists.read(chosen)
  const products = withSlates(context, asked, chosen, shortlists, searched)
  const entries = products.flatMap(({ entries }) => entries)
  const ids = entries.map(({ internalId }) => internalId)
  const short = entries.filter((entry) => isShort(entry, asked)).map(({ internalId }) => internalId)
  const write = async () => {
    const rows = ids.length === 0 ? [] : await findReviewRecords(context.sql, ids, short)
    const reviews = new Map(rows.map((row) => [row.internal_id, row]))
    const explain = asked.explain
      ? explainQuestion(searched.explained, meaning?.embedderId, searched.noVectors)
      : undefined
    return discoveryJson(context, asked.chainId, products, reviews, explain)
  }
  return ids.length > MANY_TEXTS ? inTurns(context)(write) : write()
}

/** There can be many excluded and overflow reviews, so their texts are shortened. */
const isShort = (entry: Entry, { isBrief }: Asked) => isBrief || !isOnSlate(entry)

export const isOnSlate = ({ slot }: Entry) => slot !== 'excluded' && slot !== 'overflow'

const inTurns = oncePerProcess(() => createTurns(LARGE_AT_ONCE))

export async function searchFor(
  { source, embed }: Search,
  { chainId, most, category, ceiling, ...asked }: Omit<Asked, 'includeAll' | 'isBrief'>,
): Promise<Searched> {
  const intent = cut(asked.intent, INTENT_CHARACTERS).replaceAll('\0', ' ')
  if (intent.trim() === '') {
    const explained = { hits: [], share: 0, reading: { words: [], fillers: [], beyond: [] } }
    return { hits: [], isAvailable: true, meaning: undefined, explained, noVectors: 'no_vector' }
  }
  const { embedderId } = source
  const vector = embedderId === undefined ? undefined : await embed(intent, embedderId)
  // If the source has switched to another model meanwhile, the vectors cannot be compared and words alone decide.
  const comparable = source.embedderId === embedderId ? vector : undefined
  const question = { intent, vector: comparable, category, ceiling, limit: most + SPARE }
  const explained = asked.explain ? await source.explain(chainId, question) : undefined
  const hits = asked.explain ? explained?.hits : await source.find(chainId, question)
  const meaning = vector && embedderId !== undefined ? { vector, embedderId } : undefined
  const isUnderstood = vector?.some((value) => value !== 0) ?? false
  const noVectors = embedderId === undefined ? 'no_model' : isUnderstood ? undefined : 'no_vector'
  return { hits: hits ?? [], isAvailable: hits !== undefined, meaning, explained, noVectors }
}

function withSlates(
  { clock }: Context,
  { includeAll, isBrief, explain }: Asked,
  products: readonly Chosen[],
  shortlists: Shortlists,
  { meaning, explained }: Searched,
): Shown[] {
  const now = new Date(clock())
  const explanations = explain ? explainProducts(products, explained) : undefined
  return products.map((product) => {
    const type = PRODUCT_TYPES[product.row.product_type] ?? 'repeat'
    const rows = shortlists.of(product.key)
    const candidates = rows.map((review) => candidateOf(review, type, meaning))
    const slate = slateOf(candidates, type, now)
    const { entries, meanAuthorRank } = slate
    const shown = includeAll ? entries : entries.filter(({ slot }) => slot !== 'overflow')
    return {
      ...product,
      meanAuthorRank,
      ...(isBrief ? briefOf(shown, rows) : { entries: shown }),
      ...(explanations && {
        explain: {
          product: explanations.get(product.key),
          // For a model, `excluded_reason` says enough of those that are not on the slate.
          reviews: explainSlate(isBrief ? { ...slate, entries: entries.filter(isOnSlate) } : slate),
        },
      }),
    }
  })
}

export const candidateOf = (
  row: PublishedRow,
  type: ProductType,
  meaning: Meaning | undefined,
): Candidate => ({
  internalId: row.internal_id,
  agentId: row.agent_id,
  rank: row[type],
  flagged: row.flagged,
  satisfaction: row.satisfaction_score,
  publishedAt: row.published_at,
  isOwn: row.is_own,
  transferredAt: row.transferred_at,
  relevance: meaning && row.vector ? relevanceOf(meaning.vector, row.vector) : 0,
})

const relevanceOf = (intent: Vector, { buffer, byteOffset, length }: Buffer) =>
  Math.max(cosine(intent, new Int8Array(buffer, byteOffset, length)), 0)
