import { hash } from 'node:crypto'
import { Numbers } from './numbers.ts'
import { dominantSubspace, type Sparse } from './subspace.ts'
import { kept } from './text.ts'
import { damped, type Part, type TermVector, termCounts, WordVectors } from './word-vectors.ts'

/** The text of a product, to learn from. */
export interface Lesson {
  name: string
  category: string
  description: string
  /** The words of its reviews, each repeated as often as it counts. */
  evidence: string
}

/** The length of the learned part. */
const DIMS = 128
/** There are this many terms and lessons for each dimension: with as many dimensions as terms, each would only mean itself. */
const A_DIMENSION = 8
/** A term in fewer products has nothing to learn from. */
const LEAST_USERS = 2
const MOST_TERMS = 50_000
/** Longer ones are not words. */
const LONGEST_TERM = 40
/** The words of reviews count less than those of the product itself. */
const EVIDENCE_TIMES = 0.5
/** What the learned part counts in a cosine beside the common one, by the number of lessons: in a small market little can be learned. */
const HALF_LEARNED = 3_000
const MOST_LEARNED = 0.8

/**
 * Learns what words mean from how products use them: words that stand in the same texts, or beside the same words, come near each other
 * (latent semantic analysis: tf-idf and a truncated SVD). Words that the market does not use keep their common meaning.
 */
export function learnWords(
  lessons: Iterable<Lesson>,
  common: WordVectors | undefined,
  onProgress: (share: number) => void = () => {},
): WordVectors {
  const counted = countTerms(lessons)
  const { size } = counted
  const chosen = [...counted.users.keys()]
    .filter((id) => (counted.users[id] as number) >= LEAST_USERS)
    .sort((a, b) => (counted.users[b] as number) - (counted.users[a] as number) || a - b)
    .slice(0, MOST_TERMS)
  const dims = dimsFor(chosen.length, size)
  const basis = dominantSubspace(matrixOf(counted, chosen), dims, onProgress)
  const entries: TermVector[] = chosen.map((id, place) => {
    const term = counted.terms[id] as string
    const learned = basis.subarray(place * dims, (place + 1) * dims)
    return {
      term,
      weight: information(counted.users[id] as number, size),
      vectors: [commonPart(common, term), learned],
    }
  })
  const known = new Set(entries.map(({ term }) => term))
  for (const term of common?.terms ?? [])
    if (!known.has(term))
      entries.push({ term, weight: information(0, size), vectors: [commonPart(common, term)] })
  return WordVectors.of(partsOf(size, dims, common), entries)
}

const dimsFor = (terms: number, lessons: number): number =>
  Math.floor(Math.min(DIMS, terms / A_DIMENSION, lessons / A_DIMENSION))

const commonPart = (common: WordVectors | undefined, term: string) => common?.partOf(term, 0)

function partsOf(size: number, dims: number, common: WordVectors | undefined): Part[] {
  const learned = common === undefined ? 1 : (MOST_LEARNED * size) / (size + HALF_LEARNED)
  return [
    { dims: common?.parts[0]?.dims ?? 0, share: Math.sqrt(1 - learned) },
    { dims, share: Math.sqrt(learned) },
  ]
}

/** How much a term says; the fewer products use it, the more. */
const information = (users: number, size: number): number => Math.log((size + 1) / (users + 1)) + 1

/** The terms of the lessons, numbered, and how often each occurs in each. */
interface Counted {
  size: number
  terms: string[]
  /** How many lessons use a term. */
  users: number[]
  /** Where the entries of each lesson start. */
  starts: number[]
  /** The term of each entry, and how often it occurs, in halves. */
  entries: Numbers
  halves: Numbers
}

/** The same text counts once, whoever repeats it. */
function countTerms(lessons: Iterable<Lesson>): Counted {
  const ids = new Map<string, number>()
  const counted: Counted = {
    size: 0,
    terms: [],
    users: [],
    starts: [0],
    entries: new Numbers(),
    halves: new Numbers(),
  }
  const seen = new Set<string>()
  for (const { name, category, description, evidence } of lessons) {
    const text = `${name}\n${category}\n${description}`
    const print = hash('sha256', text, 'base64')
    if (seen.has(print)) continue
    seen.add(print)
    for (const [term, times] of termCounts(evidence, termCounts(text), EVIDENCE_TIMES)) {
      if (term.length > LONGEST_TERM) continue
      const id = ids.get(term) ?? counted.terms.push(kept(term)) - 1
      ids.set(counted.terms[id] as string, id)
      counted.users[id] = (counted.users[id] ?? 0) + 1
      counted.entries.push(id)
      counted.halves.push(2 * times)
    }
    counted.starts.push(counted.entries.length)
    counted.size += 1
  }
  return counted
}

/** Tf-idf, with rows of length 1. */
function matrixOf(
  { size, terms, users, starts, entries, halves }: Counted,
  chosen: readonly number[],
): Sparse {
  const places = new Int32Array(terms.length).fill(-1)
  chosen.forEach((id, place) => {
    places[id] = place
  })
  const column = new Uint32Array(entries.length)
  const value = new Float32Array(entries.length)
  const rows = new Uint32Array(size + 1)
  let end = 0
  for (let r = 0; r < size; r += 1) {
    let square = 0
    for (let at = starts[r] as number; at < (starts[r + 1] as number); at += 1) {
      const id = entries.array[at] as number
      const place = places[id] as number
      if (place < 0) continue
      const weight = damped((halves.array[at] as number) / 2) * information(users[id] as number, size)
      column[end] = place
      value[end] = weight
      square += weight * weight
      end += 1
    }
    for (let at = rows[r] as number; at < end; at += 1) value[at] = (value[at] as number) / Math.sqrt(square)
    rows[r + 1] = end
  }
  return { rows: size, columns: chosen.length, starts: rows, column, value }
}
