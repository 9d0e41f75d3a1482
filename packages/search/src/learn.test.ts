import { describe, expect, test } from 'vitest'
import { type Lesson, learnWords } from './learn.ts'
import { cosine } from './vector.ts'
import { WordVectors } from './word-vectors.ts'

const lesson = (description: string): Lesson => ({ name: '', category: '', description, evidence: '' })

/** Texts about a subject. The twins never stand in the same text, but beside the same words; most texts have neither. */
const textsAbout = (twins: readonly string[], beside: readonly string[]): Lesson[] =>
  Array.from({ length: 120 }, (_, n) => {
    const said = [0, 1, 2, 3].map((i) => beside[(n + i * (1 + (n % 5))) % beside.length])
    return lesson([...said, n % 6 === 0 ? twins[0] : n % 6 === 3 ? twins[1] : ''].join(' '))
  })
const lessons = [
  ...textsAbout(
    ['geocoding', 'coordinates'],
    ['street', 'address', 'city', 'postcode', 'house', 'map', 'region'],
  ),
  ...textsAbout(['invoice', 'bill'], ['amount', 'tax', 'payment', 'due', 'account', 'supplier', 'total']),
]
const near = (words: WordVectors, a: string, b: string) => cosine(words.embed(a), words.embed(b))

describe('learned from texts', () => {
  const words = learnWords(lessons, undefined)

  test('words that stand beside the same words come near each other, and others do not', () => {
    expect(near(words, 'geocoding', 'coordinates')).toBeGreaterThan(0.5)
    expect(near(words, 'invoice', 'bills')).toBeGreaterThan(0.5)
    expect(Math.abs(near(words, 'geocoding', 'invoice'))).toBeLessThan(0.2)
  })

  test('works in any language, and with any script', () => {
    const texts = [
      ...textsAbout(
        ['Rechnung', 'Beleg'],
        ['Betrag', 'Steuer', 'Konto', 'Zahlung', 'Frist', 'Kunde', 'Summe'],
      ),
      ...textsAbout(['天気', '予報'], ['気温', '都市', '風', '雨', '雪', '湿度', '気圧']),
    ]
    const learned = learnWords(texts, undefined)
    expect(near(learned, 'Rechnung', 'Beleg')).toBeGreaterThan(0.5)
    expect(near(learned, '天気', '予報')).toBeGreaterThan(0.5)
    expect(Math.abs(near(learned, 'Rechnung', '天気'))).toBeLessThan(0.2)
  })

  test('a text that is repeated counts once', () => {
    const spam = Array.from({ length: 500 }, () => lesson('geocoding invoice geocoding invoice'))
    const taught = learnWords([...lessons, ...spam], undefined)
    expect(Math.abs(near(taught, 'geocoding', 'invoice'))).toBeLessThan(0.3)
  })

  test('the same lessons give the same vectors; no lessons give none', () => {
    expect(learnWords(lessons, undefined).write().equals(words.write())).toBe(true)
    const none = learnWords([], undefined)
    expect(none.size).toBe(0)
    expect([...none.embed('anything')]).toEqual([])
  })

  test('tells how far it is', () => {
    const shares: number[] = []
    learnWords(lessons, undefined, (share) => shares.push(share))
    expect(shares.at(-1)).toBe(1)
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  })
})

describe('with common words', () => {
  const common = WordVectors.of(
    [{ dims: 3, share: 1 }],
    [
      { term: 'logo', weight: 1, vectors: [[1, 0, 0]] },
      { term: 'emblem', weight: 1, vectors: [[0.9, 0.1, 0]] },
      { term: 'street', weight: 1, vectors: [[0, 0, 1]] },
    ],
  )
  const words = learnWords(lessons, common)

  test('a word that the market does not use keeps its common meaning', () => {
    expect(near(words, 'emblem', 'logo')).toBeGreaterThan(0.9)
    expect(Math.abs(near(words, 'emblem', 'street'))).toBeLessThan(0.3)
  })

  test('in a small market the common part counts more than the learned one, in a large market less', () => {
    const [common_, learned] = words.parts.map(({ share }) => share ** 2) as [number, number]
    expect(common_ + learned).toBeCloseTo(1)
    expect(common_).toBeGreaterThan(0.9)
    const many = learnWords(
      Array.from({ length: 9_000 }, (_, n) => lesson(`street ${n} ${n % 7}`)),
      common,
    )
    expect((many.parts[1]?.share ?? 0) ** 2).toBeCloseTo(0.6)
  })
})
