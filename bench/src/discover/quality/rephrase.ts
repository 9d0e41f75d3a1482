// The same questions as others would put them.
import { Random } from '../../index/random.ts'
import type { Query } from './sets.ts'

export type Rephrasing = 'as asked' | 'one typo' | 'in a sentence'

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']
/** Shorter words are other words with one letter changed. */
const LONG_ENOUGH = 4
const SENTENCES = [
  'I am looking for a good {} that will last for some years',
  'can you recommend {}? it should not be too expensive',
  'what is the best {} that I could buy right now',
  'I need {} for my sister, something that is easy to use',
  'hello, do you have any {} that you would buy yourself?',
]

export const REPHRASINGS: Record<Rephrasing, (query: Query, at: number) => string> = {
  'as asked': ({ text }) => text,
  'one typo': ({ text }, at) => mistype(text, new Random(1_000 + at)),
  'in a sentence': ({ text }, at) => (SENTENCES[at % SENTENCES.length] ?? '{}').replace('{}', text),
}

/** A letter of the longest word is left out, doubled, changed, or takes the place of the next; never the first. */
function mistype(text: string, random: Random): string {
  const words = text.split(' ')
  const longest = words.reduce((best, word) => (word.length > best.length ? word : best), '')
  if (longest.length < LONG_ENOUGH) return text
  const at = random.between(1, longest.length - 2)
  const [before, letter, next, after] = [
    longest.slice(0, at),
    longest.charAt(at),
    longest.charAt(at + 1),
    longest.slice(at + 2),
  ]
  const wrong = random.pick([
    before + next + after,
    before + letter + letter + next + after,
    before + random.pick(LETTERS) + next + after,
    before + next + letter + after,
  ])
  return words.map((word) => (word === longest ? wrong : word)).join(' ')
}
