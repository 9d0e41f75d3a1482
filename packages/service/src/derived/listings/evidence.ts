// What the reviews of a product say about it, as words that it can be found by.
import { descriptionIn } from '../../market/reviews/content.ts'

/** A review whose words count. */
export interface Voice {
  /** Whoever wrote it: what one says twice is said once. */
  owner: string
  content: string
}

const MOST_WORDS = 60
const MOST_TIMES = 3
const LONGEST_WORD = 40

const WORD = /[\p{L}\p{M}\p{N}]+/gu

/** They tell no product from another. */
const STOP_WORDS = new Set(
  `a about above after again all also am an and any are as at be because been before being below between both but by can could did do does
  doing down during each few for from further had has have having he her here hers him his how i if in into is it its itself just me more
  most my no nor not now of off on once only or other our ours out over own s same she should so some such t than that the their theirs
  them then there these they this those through to too under until up us very was we were what when where which while who whom why will
  with would you your yours`.split(/\s+/),
)

/** The words that most owners use, in the order of the alphabet, each as often as owners say it, but three times at most. */
export function evidenceOf(voices: readonly Voice[]): string {
  const owners = new Map<string, Set<string>>()
  for (const { owner, content } of voices) {
    for (const word of wordsOf(content)) {
      const saying = owners.get(word) ?? new Set()
      owners.set(word, saying.add(owner))
    }
  }
  return [...owners]
    .map(([word, { size }]) => ({ word, times: size }))
    .sort((a, b) => b.times - a.times || compare(a.word, b.word))
    .slice(0, MOST_WORDS)
    .sort((a, b) => compare(a.word, b.word))
    .flatMap(({ word, times }) => Array<string>(Math.min(times, MOST_TIMES)).fill(word))
    .join(' ')
}

/** By code units: no locale has a say. */
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function wordsOf(content: string): string[] {
  const words = descriptionIn(content).normalize('NFKC').toLowerCase().match(WORD) ?? []
  return words.filter((word) => word.length > 1 && word.length <= LONGEST_WORD && !STOP_WORDS.has(word))
}
