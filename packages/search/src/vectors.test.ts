import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  Catalogue,
  chooseCells,
  cosine,
  keyOf,
  type Product,
  quantize,
  readCells,
  readKey,
  type Vector,
  writeCells,
} from './index.ts'

/** A repeatable stream of numbers from -1 to 1. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 31 - 1
  }
}

const DIMS = 32
const next = numbers(7)
const centres = Array.from({ length: 40 }, () => Array.from({ length: DIMS }, next))
const vectors = Array.from({ length: 2_400 }, (_, i) =>
  quantize((centres[i % 40] as number[]).map((value) => value + 0.9 * next())),
)
const product = (vector: Vector, i: number): Product => ({
  key: String(i).padStart(5, '0'),
  name: '',
  category: '',
  description: '',
  evidence: '',
  rank: 0,
  price: i,
  leastPrice: 0,
  vector,
})
const ask = (vector: Vector, ceiling?: number) => ({
  intent: '',
  vector,
  category: undefined,
  ceiling,
  limit: 10,
})

describe('a vector', () => {
  it('is scaled so that its largest number is 127', () => {
    expect([...quantize([0.5, -1, 0.25])]).toEqual([64, -127, 32])
    expect([...quantize([0, 0])]).toEqual([0, 0])
    expect([...quantize([Number.NaN, 1])]).toEqual([0, 0])
    expect(quantize([])).toHaveLength(0)
  })

  it('keeps its direction', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 4, maxLength: 40 }),
        (values) => {
          const length = Math.hypot(...values)
          fc.pre(Math.max(...values.map(Math.abs)) > 1e-6)
          const kept = quantize(values)
          const along = values.reduce((sum, value, i) => sum + value * (kept[i] as number), 0)
          expect(along / length / Math.hypot(...kept)).toBeGreaterThan(0.999)
        },
      ),
    )
  })

  it('has no angle with one that has no direction or other dimensions', () => {
    expect(cosine(quantize([1, 0]), quantize([2, 0]))).toBe(1)
    expect(cosine(quantize([1, 0]), quantize([0, 1]))).toBe(0)
    expect(cosine(quantize([1, 0]), new Int8Array(2))).toBe(0)
    expect(cosine(quantize([1, 0]), quantize([1, 0, 0]))).toBe(0)
  })
})

describe('cells', () => {
  const cells = chooseCells(vectors)

  it('are the same for the same vectors, and as written', () => {
    expect(chooseCells(vectors)).toEqual(cells)
    expect(readCells(writeCells(cells))).toEqual(cells)
    expect(chooseCells([]).points).toEqual([])
  })

  it('lead to nearly all that a look at everything finds, with filters as well', () => {
    const catalogue = new Catalogue()
    catalogue.useCells(cells)
    vectors.forEach((vector, i) => {
      catalogue.put(product(vector, i))
    })
    let found = 0
    for (const ceiling of [undefined, 600, 1_500]) {
      for (let i = 0; i < 50; i += 1) {
        const asked = vectors[i * 40] as Vector
        const exact = vectors
          .map((vector, j) => ({
            key: product(vector, j).key,
            near: cosine(asked, vector),
            admitted: j <= (ceiling ?? j),
          }))
          .filter(({ admitted, near }) => admitted && near > 0.25)
          .sort((a, b) => b.near - a.near || (a.key < b.key ? -1 : 1))
          .slice(0, 10)
        const got = new Set(catalogue.find(ask(asked, ceiling)).map(({ key }) => key))
        found += exact.filter(({ key }) => got.has(key)).length / Math.max(1, exact.length)
      }
    }
    expect(found / 150).toBeGreaterThan(0.9)
  })

  it('answer the same whether they came before or after the vectors', () => {
    const [before, after] = [new Catalogue(), new Catalogue()]
    before.useCells(cells)
    vectors.forEach((vector, i) => {
      before.put(product(vector, i))
      after.put(product(vector, i))
    })
    after.useCells(cells)
    for (let i = 0; i < 20; i += 1) {
      const asked = ask(vectors[i * 7] as Vector)
      expect(after.find(asked)).toEqual(before.find(asked))
    }
  })
})

describe('a key', () => {
  it('tells both ids and sorts like them', () => {
    const product = Buffer.alloc(32, 0xab)
    expect(readKey(keyOf(12n, product))).toEqual({ merchantId: 12n, productId: product })
    expect(keyOf(12n, `0x${product.toString('hex').toUpperCase()}`)).toBe(keyOf(12n, product))
    expect([keyOf(100n, product), keyOf(9n, product)].sort()).toEqual([
      keyOf(9n, product),
      keyOf(100n, product),
    ])
  })
})
