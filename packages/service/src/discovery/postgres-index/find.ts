// Postgres finds the candidates; the scores come from the same functions as in the memory index.
import type { Sql, Transaction } from '@referrer/database'
import {
  type Aim,
  aimAt,
  type Explained,
  type ExplainedHit,
  GUIDES,
  type Hit,
  intentMatch,
  keyOf,
  nearness,
  productScore,
  type Question,
  type ReadWord,
  readingOf,
  type Vector,
  type Wish,
  WORTH_OF_STEP,
  wordMatch,
} from '@referrer/search'
import {
  type CandidateRow,
  type Class,
  type Filter,
  type Gain,
  type IndexedChain,
  readAll,
  readBest,
  readCosines,
  readNearest,
  readVectors,
  searchSettings,
  type Way,
} from './candidates.ts'
import { listOf, listOfCategory, listOfCost, listsOf } from './lists.ts'
import { worthIn } from './uses.ts'
import { readQuestion, type Understood } from './vocabulary.ts'

/** Up to this many products, all are scored. */
const FEW = 1_000
/** Up to this many, the vectors of all are compared. */
const NARROW = 5_000
/** The same for all of a category, whose vectors lie together. */
const NARROW_CATEGORY = 30_000
const BY_WORDS = 150
/** How many of the best by approximate score are scored exactly. */
const RESCORED = 300
/** Lists add candidates until they have this many entries together. */
const ENTRIES = 5_000
/** Of the lists that only complete scores, those that add the most; each costs as much as a thousand entries. */
const COMPLETING = 6
/** What each of them must add at least: the longest lists add the least. */
const LEAST_GAIN = 0.02

const EVERYTHING: Filter = { category: undefined, ceiling: undefined, groups: [] }

interface Candidate extends CandidateRow {
  key: string
  words: number
}

/** Throws if it takes longer than `timeoutMs`. */
export async function findProducts(
  sql: Sql,
  indexed: IndexedChain,
  question: Question,
  timeoutMs: number,
): Promise<Hit[]> {
  const { hits } = await searchTables(sql, indexed, question, timeoutMs)
  return hits.map(({ key, intentMatch, rank }) => ({ key, intentMatch, rank }))
}

/** The same, with how it came about. */
export async function explainProducts(
  sql: Sql,
  indexed: IndexedChain,
  question: Question,
  timeoutMs: number,
): Promise<Explained> {
  const { hits, share, words } = await searchTables(sql, indexed, question, timeoutMs)
  return { hits, share, reading: readingOf(question.intent, words) }
}

interface Found {
  hits: ExplainedHit[]
  share: number
}

async function searchTables(
  sql: Sql,
  indexed: IndexedChain,
  question: Question,
  timeoutMs: number,
): Promise<Found & { words: readonly ReadWord[] }> {
  const { category } = question
  const categoryTerm = category === undefined ? undefined : listOfCategory(category).term
  const understood = await readQuestion(sql, indexed, question.intent, categoryTerm)
  const scope = scopeOf(indexed, understood, question)
  const { words } = understood
  if (scope.most === 0) return { hits: [], share: 0, words }
  return sql.begin(async (tx) => {
    // The settings are sent first, and the first query with them.
    const [, found] = await Promise.all([
      searchSettings(tx, timeoutMs),
      find(tx, indexed, question, understood, scope),
    ])
    return { ...found, words }
  })
}

async function find(
  tx: Transaction,
  indexed: IndexedChain,
  question: Question,
  { wishes, lengths }: Understood,
  { filter, most, way }: Scope,
): Promise<Found> {
  const gains = gainsOf(wishes, lengths)
  const isFew = most <= FEW
  const isFiltered = question.category !== undefined || question.ceiling !== undefined
  // With filters the lists are read twice: without them for the guides, then with them.
  const entries = isFiltered ? ENTRIES / 2 : ENTRIES
  const search: Search = {
    tx,
    indexed,
    gains,
    wishes,
    entries,
    limit: Math.max(BY_WORDS, 2 * question.limit),
  }
  const { vectors } = indexed
  const isNear = vectors !== undefined && isFit(question.vector, vectors.dims)

  const found = isNear || !isFiltered ? await bestOfAll(search) : []
  const aim = isNear ? await aimOf(tx, vectors, question.vector as Vector, found) : undefined
  let candidates = found
  if (isFew) candidates = await read(search, readAll(tx, filter, 2 * FEW))
  // What people ask for in a category are often words of that category: more products pass than by chance.
  else if (isFiltered) candidates = await bestByWords(search, filter, Math.sqrt(most / indexed.size))

  const [near, cosines] =
    aim === undefined || vectors === undefined
      ? [[], new Map<number, number>()]
      : await Promise.all([
          isFew
            ? []
            : readNearest(tx, vectors, aim.vector, {
                filter,
                way,
                limit: question.limit,
              }),
          readCosines(
            tx,
            vectors,
            aim.vector,
            candidates.map(({ slot }) => slot),
          ),
        ])
  for (const { slot, cosine } of near) cosines.set(slot, cosine)
  const all = new Map([...candidates, ...near.map(measured(wishes))].map((each) => [each.slot, each]))
  const share = aim?.share ?? 0
  const hits = [...all.values()].map(({ slot, key, rank, words }): ExplainedHit => {
    const near = nearness(cosines.get(slot) ?? 0)
    return { key, intentMatch: intentMatch(words, near, share), rank, words, near }
  })
  const score = (hit: Hit) => productScore(hit.intentMatch, hit.rank)
  const best = hits
    .filter((hit) => hit.intentMatch > 0)
    .sort((a, b) => score(b) - score(a) || (a.key < b.key ? -1 : 1))
    .slice(0, question.limit)
  return { hits: best, share }
}

interface Scope {
  filter: Filter
  /** At most this many products pass it. */
  most: number
  way: Way
}

function scopeOf(
  { size, ranks, costs }: IndexedChain,
  { category }: Understood,
  { ceiling }: Question,
): Scope {
  const groups: number[][] = []
  let most = size
  if (ceiling !== undefined) {
    const { term, step } = listOfCost(ceiling)
    const end = listsOf('cost').findIndex((list) => list.term === term && list.step === step)
    const cheap = costs.slice(0, end + 1)
    most = Math.min(most, total(cheap))
    // Reading that many lists at once takes time: only where these leave few products it is worth it.
    if (20 * total(cheap) < size || most <= NARROW) groups.push(listed(cheap))
  }
  const inCategory = category?.lengths[0] ?? 0
  if (category !== undefined) most = Math.min(most, inCategory)
  else if (groups.length === 0 && most <= FEW) groups.push(listed(ranks))
  const list = category?.number === undefined ? undefined : listOf(category.number, 0)
  const way =
    list !== undefined && inCategory <= NARROW_CATEGORY ? 'category' : most <= NARROW ? 'each' : 'index'
  return { filter: { category: list, ceiling, groups }, most, way }
}

const total = (classes: readonly Class[]) => classes.reduce((sum, { entries }) => sum + entries, 0)
const listed = (classes: readonly Class[]) =>
  classes.flatMap(({ list, entries }) => (entries > 0 ? list : []))

/** A vector of another model is left out: words alone decide. */
const isFit = (vector: Vector | undefined, dims: number) => vector?.length === dims

interface Search {
  tx: Transaction
  indexed: IndexedChain
  gains: readonly Gain[]
  wishes: readonly Wish<number>[]
  /** How many entries of lists are read. */
  entries: number
  limit: number
}

const measured =
  (wishes: readonly Wish<number>[]) =>
  (row: CandidateRow): Candidate => ({
    ...row,
    key: keyOf(row.merchant_id, row.product_id),
    words: wordMatch(wishes, (term) => worthIn(row.uses, term)),
  })

const read = async ({ wishes }: Search, rows: Promise<CandidateRow[]>) => (await rows).map(measured(wishes))

const bestOfAll = (search: Search): Promise<Candidate[]> => {
  const { tx, indexed } = search
  if (indexed.size > FEW) return bestByWords(search, EVERYTHING, 1)
  return read(search, readAll(tx, { ...EVERYTHING, groups: [listed(indexed.ranks)] }, 2 * FEW))
}

/** The best by words among those that pass the filter, which are about this share of all. */
async function bestByWords(search: Search, filter: Filter, share: number): Promise<Candidate[]> {
  const { indexed, gains, entries, limit, wishes } = search
  const { read: short, rest } = split(gains, share, entries)
  const rows = [...(await readLists(search, short, rest, filter))]
  const [next] = rest
  if (next && short.reduce((sum, { length }) => sum + share * length, 0) < limit) {
    // The remaining lists are too long to be read: of their products, those of the best ranks are.
    const best = bestRanks(indexed, next.length * share, entries)
    const few = split(gains, share * best.share, entries)
    const long = few.read.includes(next) ? few.read : [...few.read, next]
    const others = few.rest.filter((gain) => gain !== next)
    rows.push(
      ...(await readLists(search, long, others, { ...filter, groups: [...filter.groups, best.lists] })),
    )
  }
  const score = ({ words, rank }: Candidate) => productScore(words, rank)
  const candidates = [...new Map(rows.map((row) => [row.slot, row])).values()].map(measured(wishes))
  return candidates.sort((a, b) => score(b) - score(a) || (a.key < b.key ? -1 : 1)).slice(0, limit)
}

function readLists(search: Search, lists: readonly Gain[], rest: readonly Gain[], filter: Filter) {
  const completing = rest.slice(0, COMPLETING).filter(({ gain }) => gain >= LEAST_GAIN)
  return lists.length === 0
    ? []
    : readBest(search.tx, { read: lists, rest: completing }, filter, {
        entries: search.entries,
        most: Math.max(RESCORED, search.limit),
      })
}

/** The lists that are read, by what they add, and those that would be too much. */
function split(gains: readonly Gain[], share: number, most: number): { read: Gain[]; rest: Gain[] } {
  const [read, rest]: [Gain[], Gain[]] = [[], []]
  let entries = 0
  for (const gain of gains) {
    if (entries + share * gain.length > most) rest.push(gain)
    else {
      entries += share * gain.length
      read.push(gain)
    }
  }
  return { read, rest }
}

/** The highest classes of ranks that leave as many of so many products as can be read; at least one. */
function bestRanks(
  { ranks, size }: IndexedChain,
  products: number,
  most: number,
): { lists: number[]; share: number } {
  const lists: number[] = []
  let entries = 0
  for (const { list, entries: more } of ranks.toReversed()) {
    if (lists.length > 0 && ((entries + more) / size) * products > most) break
    entries += more
    if (more > 0) lists.push(list)
  }
  return { lists, share: entries / size }
}

/** Adjusts the vector by the best word matches of the whole catalogue, without filters. */
async function aimOf(
  tx: Transaction,
  vectors: NonNullable<IndexedChain['vectors']>,
  vector: Vector,
  found: readonly Candidate[],
): Promise<Aim | undefined> {
  const guides = found
    .filter(({ words }) => words > 0)
    .sort((a, b) => b.words - a.words || (a.key < b.key ? -1 : 1))
    .slice(0, GUIDES)
  const near = await readVectors(
    tx,
    vectors,
    guides.map(({ slot }) => slot),
  )
  return aimAt(
    vector,
    guides.map(({ words, slot }) => ({ words, vector: near.get(slot) })),
  )
}

/** The lists of the question, those first that add the most to a score. */
function gainsOf(wishes: readonly Wish<number>[], lengths: Understood['lengths']): Gain[] {
  const all = wishes.reduce((sum, { weight }) => sum + weight, 0)
  const gains = new Map<number, Gain>()
  for (const { weight, ways } of wishes) {
    for (const { terms, likeness } of ways) {
      for (const term of terms) {
        for (const [step, worth] of WORTH_OF_STEP.entries()) {
          const list = listOf(term, step)
          const gain = (weight * likeness * worth) / terms.length / all + (gains.get(list)?.gain ?? 0)
          const length = lengths(term)[step] ?? 0
          if (length > 0) gains.set(list, { list, length, gain })
        }
      }
    }
  }
  return [...gains.values()].sort((a, b) => b.gain - a.gain || a.list - b.list)
}
