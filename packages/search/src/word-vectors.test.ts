import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cosine } from './vector.ts'
import { type TermVector, WordVectors } from './word-vectors.ts'

const parts = [
  { dims: 2, share: 0.6 },
  { dims: 3, share: 0.8 },
]
const entries: TermVector[] = [
  {
    term: 'cat',
    weight: 2,
    vectors: [
      [1, 0],
      [0, 1, 0],
    ],
  },
  {
    term: 'dog',
    weight: 1,
    vectors: [
      [0.8, 0.6],
      [0, 0, 1],
    ],
  },
  { term: 'weather', weight: 3, vectors: [undefined, [1, 0, 0]] },
]
const words = WordVectors.of(parts, entries)

describe('the vector of a text', () => {
  test('weighs each part by its share, however long the text is', () => {
    const vector = words.embed('cats')
    expect(vector).toHaveLength(5)
    expect(cosine(vector, Int8Array.from([60, 0, 0, 80, 0]))).toBeCloseTo(1, 3)
    expect([...words.embed('cat cat cat')]).toEqual([...vector])
  })

  test('weighs words by what they say, and passes fillers and unknown words by', () => {
    expect(cosine(words.embed('I want a cat please, zzz'), words.embed('cat'))).toBe(1)
    const both = words.embed('cat dog')
    expect(cosine(both, words.embed('cat'))).toBeGreaterThan(cosine(both, words.embed('dog')))
  })

  test('has zeros where a part knows none of the words, and everywhere if no part does', () => {
    expect([...words.embed('weather').subarray(0, 2)]).toEqual([0, 0])
    expect([...words.embed('zzz')]).toEqual([0, 0, 0, 0, 0])
    expect([...words.embed('')]).toEqual([0, 0, 0, 0, 0])
  })
})

describe('written and read again', () => {
  test('embeds alike', () => {
    const again = WordVectors.read(words.write())
    expect(again.terms).toEqual(words.terms)
    fc.assert(
      fc.property(fc.array(fc.constantFrom('cat', 'dog', 'weather', 'zzz', 'für')), (said) => {
        expect(again.embed(said.join(' '))).toEqual(words.embed(said.join(' ')))
      }),
    )
  })

  test('refuses bytes that are cut short, too long or something else', () => {
    const bytes = words.write()
    for (let length = 0; length < bytes.length; length += 1)
      expect(() => WordVectors.read(bytes.subarray(0, length))).toThrow()
    expect(() => WordVectors.read(Buffer.concat([bytes, Buffer.alloc(1)]))).toThrow('do not fit together')
    expect(() => WordVectors.read(Buffer.from('something else'))).toThrow('no word vectors')
  })
})

test('understands a query of which it knows two thirds of the words that count', () => {
  expect(words.understands('I am looking for cats, please')).toBe(true)
  expect(words.understands('cats and dogs qzxjv')).toBe(true)
  expect(words.understands('cats qzxjv')).toBe(false)
  // Fillers do not count, numbers need no meaning.
  expect(words.understands('I would like to have qzxjv, please')).toBe(false)
  expect(words.understands('10 cats qzxjv')).toBe(true)
  expect(words.understands('')).toBe(false)
})
