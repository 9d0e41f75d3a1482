import { isAsking, isFiller, turns } from './filler.ts'
import { fold, stemOf } from './text.ts'

/** Statistics about the words of all products. */
export interface Vocabulary {
  /** How many products there are. */
  readonly size: number
  /** How many products use the term in their own text. */
  users(term: string): number
  /** How many products have the term only in reviews. */
  heard(term: string): number
  /** Words of products that are similar to this one: spelling candidates. */
  similar(word: string): readonly Similar[]
}

export interface Similar {
  word: string
  /** How many products use it. */
  users: number
  /** How likely this word was meant, from 0 to 1. */
  likeness: number
}

/** One concept of a query. */
export interface Wish<Term = string> {
  /** The weight (inverse document frequency): higher for rarer words. */
  weight: number
  /** The alternatives, of which one suffices; each needs all of its terms. Empty when no product uses the word. */
  ways: Way<Term>[]
}

export interface Way<Term = string> {
  terms: Term[]
  /** How likely this alternative was meant, from 0 to 1. */
  likeness: number
}

/** A word of the query that counts, with all the ways to read it. */
export interface ReadWord extends Wish {
  word: string
  ways: ReadWay[]
}

interface ReadWay extends Way {
  how: How
  /** The word or words that it was read as, before stemming. */
  text: string
}

/** `only_in_reviews`: as written, but no product says it of itself. */
export type How = 'as_written' | 'joined' | 'split' | 'misspelt' | 'only_in_reviews'

/** How a query was read, for those who ask. */
export interface Reading {
  /** In the order of the query; words with the same stem are one. */
  words: readonly ReadWord[]
  /** Words that say nothing of what is wanted. */
  fillers: string[]
  /** Words after the last one that counts. */
  beyond: string[]
}

const CHARACTERS = 1000
const WISHES = 32
const MISSPELT = 8
/** A word in fewer products than this may be misspelt there, if a very similar word is this many times more common. */
const RARE = 3
const MUCH_COMMONER = 20
/** Longer words are not tried as two words in one: there are too many ways to split them. */
const LONGEST_PARTED = 48
const PIECE = /[\p{L}\p{N}]+|[.,;:!?\n]+/gu
const WORD = /^[\p{L}\p{N}]/u
/** The likelihood of a split or a joined word. */
const OTHERWISE = 0.8
/** The weight of words about circumstances: they say less than the thing itself. */
const CIRCUMSTANCE = 0.5
/** In a query this short, stop words count too: "xbox one", "d battery", "best buy". */
const FEW_WORDS = 3
const ASKING = 0.25

interface Said {
  word: string
  weight: number
}

/** The significant words, each once with its weight. Circumstances come after the thing itself: "a lamp | for my desk". */
export function wordsThatMatter(intent: string): Said[] {
  const pieces = piecesOf(intent)
  const words = pieces.filter((piece) => WORD.test(piece))
  const conversational = words.filter(isFiller).length > 1
  const said = new Map<string, number>()
  let weight = 1
  for (const piece of pieces) {
    const isWord = WORD.test(piece)
    if (conversational && said.size > 0 && (!isWord || turns(piece))) weight = CIRCUMSTANCE
    if (!isWord || said.has(piece)) continue
    if (!isFiller(piece)) said.set(piece, weight)
    else if (words.length <= FEW_WORDS) said.set(piece, isAsking(piece) ? ASKING : 1)
  }
  if (said.size === 0) for (const word of words) said.set(word, 1)
  return [...said].slice(0, WISHES).map(([word, weight]) => ({ word, weight }))
}

/** The words and punctuation marks of an intent. */
function piecesOf(intent: string): string[] {
  const start = [...intent.slice(0, 2 * CHARACTERS)].slice(0, CHARACTERS).join('')
  return fold(start).match(PIECE) ?? []
}

/** What became of the words of an intent, of which these count. */
export function readingOf(intent: string, words: readonly ReadWord[]): Reading {
  const counted = new Set(wordsThatMatter(intent).map(({ word }) => word))
  const said = new Set(piecesOf(intent).filter((piece) => WORD.test(piece)))
  const leftOut = [...said].filter((word) => !counted.has(word))
  return {
    words,
    fillers: leftOut.filter(isFiller),
    beyond: leftOut.filter((word) => !isFiller(word)),
  }
}

/** The concepts of a query, in terms that products use. */
export function wishesOf(intent: string, vocabulary: Vocabulary): ReadWord[] {
  const said = wordsThatMatter(intent)
  const wishes = new Map<string, ReadWord>()
  let misspelt = 0
  said.forEach(({ word, weight }, i) => {
    const term = stemOf(word)
    if (wishes.has(term)) return
    const ways: ReadWay[] =
      vocabulary.users(term) > 0 ? [{ terms: [term], likeness: 1, how: 'as_written', text: word }] : []
    for (const text of [joinedWith(said[i - 1]?.word, word), joinedWith(word, said[i + 1]?.word)]) {
      const joined = text === undefined ? undefined : stemOf(text)
      if (text !== undefined && joined !== undefined && vocabulary.users(joined) > 0)
        ways.push({ terms: [joined], likeness: OTHERWISE, how: 'joined', text })
    }
    if (ways.every((way) => usersOf(way, vocabulary) < RARE) && misspelt < MISSPELT) {
      misspelt += 1
      ways.push(...meantWith(word, ways, vocabulary))
    }
    if (vocabulary.users(term) === 0 && vocabulary.heard(term) > 0)
      ways.push({ terms: [term], likeness: 1, how: 'only_in_reviews', text: word })
    wishes.set(term, { word, weight: weight * informationOf(ways, vocabulary), ways })
  })
  return withUnknown([...wishes.values()])
}

function joinedWith(before: string | undefined, after: string | undefined): string | undefined {
  return before === undefined || after === undefined ? undefined : before + after
}

/** Alternatives for a rare word: a misspelt word, or two words in one. */
function meantWith(word: string, known: readonly Way[], vocabulary: Vocabulary): ReadWay[] {
  const similar = vocabulary.similar(word)
  if (known.length > 0) {
    const used = Math.max(...known.map((way) => usersOf(way, vocabulary)))
    return similar.filter(({ users }) => users >= MUCH_COMMONER * used).map(asWay)
  }
  const most = Math.max(0, ...similar.map(({ users }) => users))
  return [
    ...similar.map(asWay),
    ...splits(word, vocabulary).filter((way) => usersOf(way, vocabulary) >= most),
  ]
}

const asWay = ({ word, likeness }: Similar): ReadWay => ({
  terms: [stemOf(word)],
  likeness,
  how: 'misspelt',
  text: word,
})

const usersOf = ({ terms }: Way, vocabulary: Vocabulary): number =>
  Math.min(...terms.map((term) => vocabulary.users(term)))

/** Joins neighbouring words: "smartwatch" for "smart watch", "iphone7" for "iPhone 7". */
function splits(word: string, vocabulary: Vocabulary): ReadWay[] {
  const ways: ReadWay[] = []
  if (word.length > LONGEST_PARTED) return ways
  for (let at = 1; at < word.length; at += 1) {
    const parts = [word.slice(0, at), word.slice(at)] as const
    const atDigit = /\p{N}/u.test(word[at - 1] ?? '') !== /\p{N}/u.test(word[at] ?? '')
    if (!atDigit && Math.min(parts[0].length, parts[1].length) < 3) continue
    const terms = parts.map(stemOf)
    if (terms.every((term) => vocabulary.users(term) > 0))
      ways.push({ terms, likeness: OTHERWISE, how: 'split', text: parts.join(' ') })
  }
  return ways
}

/** The weight of the most common of the likeliest alternatives, so that a rare spelling does not raise the weight. */
function informationOf(ways: readonly Way[], vocabulary: Vocabulary): number {
  if (ways.length === 0) return 0
  const holders = Math.max(
    ...ways.map((way) =>
      Math.min(...way.terms.map((term) => vocabulary.users(term) || vocabulary.heard(term))),
    ),
  )
  return information(holders, vocabulary.size)
}

const information = (holders: number, size: number): number =>
  Math.log(1 + (size - holders + 0.5) / (holders + 0.5))

/** A word that no product uses gets the average weight of the others. */
function withUnknown(wishes: ReadWord[]): ReadWord[] {
  const known = wishes.filter((wish) => wish.ways.length > 0)
  const average = known.length === 0 ? 0 : known.reduce((sum, wish) => sum + wish.weight, 0) / known.length
  return wishes.map((wish) => (wish.ways.length > 0 ? wish : { ...wish, weight: average }))
}
