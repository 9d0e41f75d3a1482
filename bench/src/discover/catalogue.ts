// What is for sale: made up from a seed, the same every time, or read from a file.
import { readFileSync } from 'node:fs'
import { Random } from '../index/random.ts'
import { favourite, functionWord, Words } from './words.ts'

export interface Item {
  name: string
  category: string
  description: string
  /** In base units; undefined: nobody knows. */
  price: number | undefined
}

/** A review as it is written, by the theme of its product. */
export type ReviewText = { rating: number; description: string }

const SEED = 7
const VOCABULARY = 40_000
const CATEGORIES = 60
const CATEGORY_WORDS = 300
const BRANDS = 2_000
const LETTERS = [...'ABCDEFGHKLMNPRSTVXZ']
const USDC = 1_000_000

/** The same for every size, so that a smaller catalogue is the beginning of a larger one. */
function market() {
  const random = new Random(SEED)
  const words = new Words(random, VOCABULARY)
  const brands = words.some(random, BRANDS).map(capital)
  const themes = Array.from({ length: CATEGORIES }, () => {
    const own = words.some(random, CATEGORY_WORDS)
    return { name: own.slice(0, 2).join('-'), words: own }
  })
  return { words, brands, themes }
}
type Market = ReturnType<typeof market>

export function* generatedItems(count: number): Generator<Item> {
  const { words, brands, themes } = market()
  for (let n = 0; n < count; n += 1) {
    const random = new Random(SEED + 1_000 * (n + 1))
    const theme = favourite(random, themes)
    const own = () => favourite(random, theme.words)
    const model = `${random.pick(LETTERS)}${random.pick(LETTERS)}-${random.between(100, 9_999)}`
    yield {
      name: `${favourite(random, brands)} ${own()} ${own()} ${random.chance(0.6) ? model : own()}`,
      category: theme.name,
      description: prose(random, words, theme.words, random.between(30, 80)),
      price: random.chance(0.9) ? random.between(1, 2_000) * 10_000 : undefined,
    }
  }
}

/** One object a line: name, description, category and price in dollars; all but the name may be missing. */
export function readItems(file: string): Item[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => {
    const { name, description = '', category = '', price } = JSON.parse(line)
    return { name, description, category, price: price === undefined ? undefined : Math.round(price * USDC) }
  })
}

/** So many texts for each of so many themes: reviews share them, as their number would fill the time otherwise. */
export function reviewTexts(themes: number, each: number): ReviewText[][] {
  const { words, themes: all } = market()
  return Array.from({ length: themes }, (_, n) => {
    const random = new Random(SEED + 500 + n)
    const own = all[n % all.length]?.words ?? []
    return Array.from({ length: each }, () => ({
      rating: random.pick([1, 2, 3, 4, 4, 5, 5, 5]),
      description: prose(random, words, own, random.between(15, 40)),
    }))
  })
}

/** What somebody would ask for who wants this item: keywords, a brand and a model, or a sentence. */
export function intentFor({ name, description }: Item, random: Random): string {
  const said = `${name} ${description}`.split(/\s+/).filter((word) => word.length > 3)
  const word = () => random.pick(said).toLowerCase()
  const kind = random.below(10)
  if (kind < 2) return name
  if (kind < 7) return Array.from({ length: random.between(2, 4) }, word).join(' ')
  return `i am looking for a ${word()} ${word()} that is good for ${word()} and ${word()}, with ${word()}`
}

function prose(random: Random, words: Market['words'], own: readonly string[], length: number): string {
  return Array.from({ length }, () => {
    const kind = random.below(100)
    if (kind < 35) return functionWord(random)
    return kind < 70 ? favourite(random, own) : words.draw(random)
  }).join(' ')
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
