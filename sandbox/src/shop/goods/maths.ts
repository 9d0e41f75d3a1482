// Abacus: numbers.
import { computed } from '../good.ts'
import { RequestError } from '../request-error.ts'

const ROMAN = [
  ['M', 1000],
  ['CM', 900],
  ['D', 500],
  ['CD', 400],
  ['C', 100],
  ['XC', 90],
  ['L', 50],
  ['XL', 40],
  ['X', 10],
  ['IX', 9],
  ['V', 5],
  ['IV', 4],
  ['I', 1],
] as const
const COMMON_PASSWORDS =
  /^(password|passw0rd|qwerty|letmein|admin|welcome|iloveyou|dragon|monkey|abc123|123456)/i
const GUESSES_PER_SECOND = 1e10

export const MATHS = [
  computed(
    {
      path: '/abacus/statistics',
      name: 'Statistics',
      description: 'Mean, median, standard deviation and quartiles of up to 1,000 numbers.',
      category: 'api',
      price: '0.02',
      commissionBps: 1_500,
      example: '?values=2,4,4,4,5,5,7,9',
    },
    (ask) => {
      const values = ask.numbers('values', 1_000).toSorted((a, b) => a - b)
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
      const at = (share: number) => {
        const place = (values.length - 1) * share
        const [low = 0, high = low] = [values[Math.floor(place)], values[Math.ceil(place)]]
        return low + (high - low) * (place - Math.floor(place))
      }
      const round = (value: number) => Number(value.toPrecision(10))
      return {
        count: values.length,
        mean: round(mean),
        median: round(at(0.5)),
        deviation: round(Math.sqrt(variance)),
        quartiles: [round(at(0.25)), round(at(0.75))],
      }
    },
  ),
  computed(
    {
      path: '/abacus/factors',
      name: 'Prime factors',
      description: 'The prime factors of a whole number up to a million million.',
      category: 'api',
      price: '0.02',
      commissionBps: 1_000,
      example: '?number=360',
    },
    (ask) => {
      const number = ask.whole('number', { from: 2, to: 1e12 })
      const factors: number[] = []
      let rest = number
      for (let factor = 2; factor * factor <= rest; factor++)
        while (rest % factor === 0) {
          factors.push(factor)
          rest /= factor
        }
      if (rest > 1) factors.push(rest)
      return { number, factors, is_prime: factors.length === 1 }
    },
  ),
  computed(
    {
      path: '/abacus/roman',
      name: 'Roman numerals',
      description: 'Writes a number from 1 to 3999 in Roman numerals, or reads one.',
      category: 'reference',
      price: '0.01',
      commissionBps: 1_000,
      example: '?number=2026',
    },
    (ask) => {
      const text = ask.text('number').trim().toUpperCase()
      const number = /^\d+$/.test(text) ? Number(text) : readRoman(text)
      if (number < 1 || number > 3_999) throw new RequestError('number must be from 1 to 3999')
      if (!/^\d+$/.test(text) && romanOf(number) !== text)
        throw new RequestError(`${text} is no Roman numeral`)
      return { number, roman: romanOf(number) }
    },
  ),
  computed(
    {
      path: '/abacus/password',
      name: 'Password strength',
      description:
        'How many bits a password is worth, and how long a fast attacker needs. Send a similar one, never a real one.',
      category: 'code',
      price: '0.02',
      commissionBps: 1_500,
      example: '?password=correct-horse-7',
    },
    (ask) => {
      const password = ask.text('password')
      const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/].map((kind, at) =>
        kind.test(password) ? [26, 26, 10, 33][at] : 0,
      )
      const alphabet = kinds.reduce<number>((sum, size) => sum + (size ?? 0), 0)
      const isCommon = COMMON_PASSWORDS.test(password)
      const bits = isCommon ? 10 : Math.log2(alphabet) * new Set(password).size
      const seconds = 2 ** bits / GUESSES_PER_SECOND / 2
      return {
        bits: Math.round(bits),
        is_common: isCommon,
        days_to_guess: Number((seconds / 86_400).toPrecision(3)),
      }
    },
  ),
]

function romanOf(number: number): string {
  let [rest, roman] = [number, '']
  for (const [letters, value] of ROMAN)
    while (rest >= value) {
      roman += letters
      rest -= value
    }
  return roman
}

function readRoman(text: string): number {
  let [at, number] = [0, 0]
  for (const [letters, value] of ROMAN)
    while (text.startsWith(letters, at)) {
      number += value
      at += letters.length
    }
  return at === text.length ? number : 0
}
