// Words by which products are found, taken from texts of reviewers and buyers.

const LONGEST_WORD = 40
const MOST_TIMES = 3

const WORD = /[\p{L}\p{M}\p{N}]+/gu

/** These words do not distinguish products. */
const STOP_WORDS = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can could did do does
  doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just me more
  most my no nor not now of off on once only or other our ours out over own s same she should so some such t than that the their theirs
  them then there these they this those through to too under until up us very was we were what when where which while who whom why will
  with would you your yours`.split(/\s+/),
)

/** The words of a text in its order, without stop words. */
export function wordsIn(text: string): string[] {
  const words = text.normalize('NFKC').toLowerCase().match(WORD) ?? []
  return words.filter((word) => word.length > 1 && word.length <= LONGEST_WORD && !STOP_WORDS.has(word))
}

/** Words, each with those who say it. */
export type Sayers = Map<string, Set<string>>

export function addSayer(sayers: Sayers, word: string, sayer: string): void {
  const saying = sayers.get(word) ?? new Set()
  sayers.set(word, saying.add(sayer))
}

/** The words that most say, in alphabetical order. A word is repeated once for each who says it, at most three times. */
export function mostSaid(sayers: Sayers, mostWords: number): string {
  return [...sayers]
    .map(([word, { size }]) => ({ word, times: size }))
    .sort((a, b) => b.times - a.times || compare(a.word, b.word))
    .slice(0, mostWords)
    .sort((a, b) => compare(a.word, b.word))
    .flatMap(({ word, times }) => Array<string>(Math.min(times, MOST_TIMES)).fill(word))
    .join(' ')
}

/** Compares by code units, so that the order does not depend on a locale. */
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
