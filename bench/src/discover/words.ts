import type { Random } from '../index/random.ts'

const FUNCTION_WORDS =
  'the a an and or of to for with in on at by from as is are it its this that which you your we our can will not all any more than into when while'.split(
    ' ',
  )
const ONSETS = 'b c ch d f g gr h j k l m n p pl qu r s sh st t tr v w z'.split(' ')
const VOWELS = 'a e i o u ai ea io'.split(' ')
const CODAS = ['', '', '', 'l', 'm', 'n', 'r', 's', 't', 'x']
/** A draw is one look into a table of so many entries. */
const TABLE = 2 ** 20

/** Made-up words that are used as words are: the second is drawn half as often as the first, the third a third as often, and so on. */
export class Words {
  readonly #words: readonly string[]
  readonly #draws: Uint32Array

  constructor(random: Random, count: number) {
    const words = new Set<string>()
    while (words.size < count) words.add(word(random))
    this.#words = [...words]
    this.#draws = zipf(count)
  }

  draw(random: Random): string {
    return this.#words[this.#draws[random.below(TABLE)] ?? 0] ?? ''
  }

  /** A smaller vocabulary of words that are neither the most frequent nor the rarest. */
  some(random: Random, count: number): string[] {
    const middle = this.#words.slice(this.#words.length / 100, this.#words.length / 2)
    return Array.from({ length: count }, () => random.pick(middle))
  }
}

export const functionWord = (random: Random): string => random.pick(FUNCTION_WORDS)

/** One of a few, the first ones most of the time. */
export function favourite<T>(random: Random, items: readonly T[]): T {
  const share = random.below(1_000) / 1_000
  const item = items[Math.floor(items.length ** share) - 1]
  return item ?? random.pick(items)
}

function word(random: Random): string {
  let text = ''
  for (let syllables = random.between(2, 4); syllables > 0; syllables -= 1)
    text += random.pick(ONSETS) + random.pick(VOWELS)
  return text + random.pick(CODAS)
}

/** Which of so many words each entry of the table is. */
function zipf(count: number): Uint32Array {
  let sum = 0
  for (let rank = 1; rank <= count; rank += 1) sum += 1 / rank
  const table = new Uint32Array(TABLE)
  let reached = 0
  let at = 0
  for (let rank = 1; rank <= count; rank += 1) {
    reached += TABLE / rank / sum
    while (at < reached && at < TABLE) table[at++] = rank - 1
  }
  return table
}
