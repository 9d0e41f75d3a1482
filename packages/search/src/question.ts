import { isAsking, isFiller, turns } from './filler.ts'
import { fold, stemOf } from './text.ts'

/** What the words of all products are known for. */
export interface Vocabulary {
  /** How many products there are. */
  readonly size: number
  /** How many of them use the term themselves. */
  users(term: string): number
  /** Of how many only reviews use it. */
  heard(term: string): number
  /** Words that products use and that may have been meant. */
  similar(word: string): readonly Similar[]
}

export interface Similar {
  word: string
  /** How many products use it. */
  users: number
  /** How likely it was meant. */
  likeness: number
}

/** One thing that a question asks for. */
export interface Wish<Term = string> {
  /** What it tells, as information; the rarer the more. */
  weight: number
  /** Any of these fulfils it; all terms of one are needed. None: nobody uses the word. */
  ways: Way<Term>[]
}

export interface Way<Term = string> {
  terms: Term[]
  /** How surely this is what was meant. */
  likeness: number
}

const CHARACTERS = 1000
const WISHES = 32
const MISSPELT = 8
/** A word of fewer products than this may be a mistake of theirs, if one very much like it is so much commoner. */
const RARE = 3
const MUCH_COMMONER = 20
/** Longer ones are no two words in one, and there are too many ways to part them. */
const LONGEST_PARTED = 48
const PIECE = /[\p{L}\p{N}]+|[.,;:!?\n]+/gu
const WORD = /^[\p{L}\p{N}]/u
/** Two words in one, or one in two. */
const OTHERWISE = 0.8
/** What something is for tells less than what it is. */
const CIRCUMSTANCE = 0.5
/** In so few words hardly any is said for nothing: "xbox one", "d battery", "best buy". */
const FEW_WORDS = 3
const ASKING = 0.25

interface Said {
  word: string
  weight: number
}

/** The words that matter, each once and with its weight. Circumstances follow what is wanted: "a lamp | for my desk". */
export function wordsThatMatter(intent: string): Said[] {
  const start = [...intent.slice(0, 2 * CHARACTERS)].slice(0, CHARACTERS).join('')
  const pieces = fold(start).match(PIECE) ?? []
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

/** What a question asks for, in terms that products use. */
export function wishesOf(intent: string, vocabulary: Vocabulary): Wish[] {
  const said = wordsThatMatter(intent)
  const wishes = new Map<string, Wish>()
  let misspelt = 0
  said.forEach(({ word, weight }, i) => {
    const term = stemOf(word)
    if (wishes.has(term)) return
    const ways: Way[] = vocabulary.users(term) > 0 ? [{ terms: [term], likeness: 1 }] : []
    for (const joined of [joinedWith(said[i - 1]?.word, word), joinedWith(word, said[i + 1]?.word)]) {
      if (joined !== undefined && vocabulary.users(joined) > 0)
        ways.push({ terms: [joined], likeness: OTHERWISE })
    }
    if (ways.every((way) => usersOf(way, vocabulary) < RARE) && misspelt < MISSPELT) {
      misspelt += 1
      ways.push(...meantWith(word, ways, vocabulary))
    }
    if (vocabulary.users(term) === 0 && vocabulary.heard(term) > 0) ways.push({ terms: [term], likeness: 1 })
    wishes.set(term, { weight: weight * informationOf(ways, vocabulary), ways })
  })
  return withUnknown([...wishes.values()])
}

function joinedWith(before: string | undefined, after: string | undefined): string | undefined {
  return before === undefined || after === undefined ? undefined : stemOf(before + after)
}

/** What else a word may be that hardly anybody uses: another one, misspelt, or two in one. */
function meantWith(word: string, known: readonly Way[], vocabulary: Vocabulary): Way[] {
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

const asWay = ({ word, likeness }: Similar): Way => ({ terms: [stemOf(word)], likeness })

const usersOf = ({ terms }: Way, vocabulary: Vocabulary): number =>
  Math.min(...terms.map((term) => vocabulary.users(term)))

/** "smartwatch" for whoever writes "smart watch"; "iphone7" for whoever writes "iPhone 7". */
function splits(word: string, vocabulary: Vocabulary): Way[] {
  const ways: Way[] = []
  if (word.length > LONGEST_PARTED) return ways
  for (let at = 1; at < word.length; at += 1) {
    const parts = [word.slice(0, at), word.slice(at)] as const
    const atDigit = /\p{N}/u.test(word[at - 1] ?? '') !== /\p{N}/u.test(word[at] ?? '')
    if (!atDigit && Math.min(parts[0].length, parts[1].length) < 3) continue
    const terms = parts.map(stemOf)
    if (terms.every((term) => vocabulary.users(term) > 0)) ways.push({ terms, likeness: OTHERWISE })
  }
  return ways
}

/** Of the commonest of the likeliest ways, so that a way that only few write makes nothing dearer. */
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

/** A word that nobody uses is missed as much as the others are worth on average. */
function withUnknown(wishes: Wish[]): Wish[] {
  const known = wishes.filter((wish) => wish.ways.length > 0)
  const average = known.length === 0 ? 0 : known.reduce((sum, wish) => sum + wish.weight, 0) / known.length
  return wishes.map((wish) => (wish.ways.length > 0 ? wish : { ...wish, weight: average }))
}
