// Products made from a seed, each from its number alone, so that no process has to hold more of them than it wants to.
import { Random } from '../index/random.ts'
import type { Item } from './engine.ts'

export const DIMS = 512
const TOPICS = 400
/** Directions in which products of a topic differ: texts of one kind do not fill all dimensions. */
const DIRECTIONS = 24
const WORDS = 30_000
/** Five categories hold a tenth of the products each, fifty a hundredth each. */
const LARGE = 5
const SMALL = 50

export type Asked = { text: string; vector: Float32Array; large: string; small: string }

export interface Catalogue {
  item(id: number): Item
  /** Its words and its place are those of some product, not quite. */
  question(number: number): Asked
}

export function generate(seed: number, items: number): Catalogue {
  const random = new Random(seed)
  const vocabulary = Array.from({ length: WORDS }, () => word(random))
  // All lie to one side of the origin, as texts do.
  const middle = direction(random)
  const topics = Array.from({ length: TOPICS }, () =>
    direction(random).map((value, index) => value + (middle[index] ?? 0)),
  )
  const directions = Array.from({ length: DIRECTIONS }, () => direction(random))
  const placeOf = (random: Random) => {
    const vector = Float32Array.from(topics[random.below(TOPICS)] ?? [])
    for (const axis of directions) {
      const far = 0.25 * bell(random)
      for (let index = 0; index < DIMS; index++)
        vector[index] = (vector[index] ?? 0) + far * (axis[index] ?? 0)
    }
    return vector
  }
  /** Zipf's law: the word of rank r comes 1/r as often. */
  const words = (random: Random, count: number) =>
    Array.from({ length: count }, () => vocabulary[Math.floor(WORDS ** random.share()) - 1] ?? '')

  function item(id: number): Item {
    const random = new Random(seed * 31 + id * 7_919 + 1)
    const vector = shaken(placeOf(random), random, 0.01)
    return {
      id,
      category: categoryOf(random),
      name: words(random, random.between(4, 8)).join(' '),
      description: words(random, random.between(20, 60)).join(' '),
      vector,
    }
  }
  function question(number: number): Asked {
    const random = new Random(seed * 37 + number * 104_729 + 2)
    const { name, description, vector } = item(random.below(items))
    const said = `${name} ${description}`.split(' ')
    return {
      text: Array.from({ length: random.between(2, 4) }, () => random.pick(said)).join(' '),
      vector: shaken(vector ?? new Float32Array(DIMS), random, 0.02),
      large: `large ${random.below(LARGE)}`,
      small: `small ${random.below(SMALL)}`,
    }
  }
  return { item, question }
}

const categoryOf = (random: Random) =>
  random.chance(0.5) ? `large ${random.below(LARGE)}` : `small ${random.below(SMALL)}`

function word(random: Random): string {
  const syllable = () => `${random.pick([...'bcdfghjklmnprstvwz'])}${random.pick([...'aeiou'])}`
  return (
    Array.from({ length: random.between(2, 5) }, syllable).join('') + random.pick(['', 'n', 'r', 's', 't'])
  )
}

/** About normal, from -3 to 3. */
const bell = (random: Random) => (random.share() + random.share() + random.share() - 1.5) * 2

function direction(random: Random): Float32Array {
  const vector = Float32Array.from({ length: DIMS }, () => bell(random))
  const scale = 1 / Math.hypot(...vector)
  return vector.map((value) => value * scale)
}

function shaken(vector: Float32Array, random: Random, by: number): Float32Array {
  return vector.map((value) => value + by * bell(random))
}
