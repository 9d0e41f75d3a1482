// A product is in one list for each of its terms: a term has a list for each class of what it can be worth (a step).
// It is also in the lists of its category, of its class of rank and of its class of cost, which are lists of
// pseudo-terms. All lists are one column with one index, so that the index itself intersects words and filters.
import { createHash } from 'node:crypto'
import { type Product, STEPS, stepOf } from '@referrer/search'

/** Longer terms are not words and do not fit into an index. */
export const LONGEST_TERM = 250
/** Ranks and costs are divided into so many classes: eight terms with a list for each step. */
const CLASSES = 64
const CLASSES_BELOW_DOUBLE = 1.5

export const listOf = (term: number, step: number): number => term * STEPS + step
export const listOfWorth = (term: number, worth: number): number => listOf(term, stepOf(worth))

/** The price or, if unknown, the lowest possible price: the value that price filters compare. */
export const costOf = ({ price, leastPrice }: Pick<Product, 'price' | 'leastPrice'>): number =>
  price ?? leastPrice

/** A list by its term, whose number must be looked up. */
export interface NamedList {
  term: string
  step: number
}

/** No word starts with such a character: words consist of letters and digits. */
export function listOfCategory(category: string): NamedList {
  const name = category.length < LONGEST_TERM ? category : createHash('sha256').update(category).digest('hex')
  return { term: `=${name}`, step: 0 }
}

const listOfClass = (kind: 'rank' | 'cost', value: number): NamedList => {
  const at = Math.max(0, Math.min(CLASSES - 1, Math.floor(value)))
  return { term: `#${kind}${Math.floor(at / STEPS)}`, step: at % STEPS }
}
export const listOfRank = (rank: number): NamedList => listOfClass('rank', rank * CLASSES)
export const listOfCost = (cost: number): NamedList =>
  listOfClass('cost', CLASSES_BELOW_DOUBLE * Math.log2(1 + Math.max(0, cost)))

/** All classes, the lowest first. */
export const listsOf = (kind: 'rank' | 'cost'): NamedList[] =>
  Array.from({ length: CLASSES }, (_, at) => listOfClass(kind, at))
