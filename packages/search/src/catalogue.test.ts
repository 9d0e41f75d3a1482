import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Catalogue, type Hit, type Product, productScore, type Question, quantize } from './index.ts'

const plain: Product = {
  key: 'a',
  name: '',
  category: '',
  description: '',
  evidence: '',
  rank: 0.5,
  price: undefined,
  leastPrice: 0,
  vector: undefined,
}
const product = (key: string, fields: Partial<Product>): Product => ({ ...plain, key, ...fields })
const ask = (intent: string, more: Partial<Question> = {}): Question => ({
  intent,
  vector: undefined,
  category: undefined,
  ceiling: undefined,
  limit: 20,
  ...more,
})

function catalogueOf(products: readonly Product[]): Catalogue {
  const catalogue = new Catalogue()
  for (const each of products) catalogue.put(each)
  return catalogue
}

const keys = (hits: readonly Hit[]) => hits.map(({ key }) => key)

const word = fc.constantFrom('lamp', 'desk', 'red', 'usb', 'cable', 'light', 'the', 'for', 'colour')
const text = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '))
const vector = fc.option(
  fc
    .array(fc.integer({ min: -127, max: 127 }), { minLength: 3, maxLength: 4 })
    .map((values) => Int8Array.from(values)),
  { nil: undefined },
)
const anyProduct = fc.record({
  key: fc.constantFrom(...'abcdefgh'),
  name: text,
  category: fc.constantFrom('', 'home', 'office'),
  description: text,
  evidence: text,
  rank: fc.constantFrom(0, 0.25, 0.5, 1),
  price: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
  leastPrice: fc.integer({ min: 0, max: 20 }),
  vector,
})
const step = fc.oneof({ weight: 4, arbitrary: anyProduct }, fc.constantFrom(...'abcdefgh'))
const question = fc.record({
  intent: fc.oneof(text, fc.constantFrom('lmap', 'i need a red lamp for my desk')),
  vector,
  category: fc.constant(undefined),
  ceiling: fc.constant(undefined),
  limit: fc.integer({ min: 1, max: 8 }),
})

describe('an explained answer', () => {
  it('has the hits of the plain one, with parts that make up the match', () => {
    fc.assert(
      fc.property(fc.array(anyProduct, { maxLength: 20 }), question, (products, asked) => {
        const catalogue = catalogueOf(products)
        const { hits, share, reading } = catalogue.explain(asked)
        expect(hits.map(({ key, intentMatch, rank }) => ({ key, intentMatch, rank }))).toEqual(
          catalogue.find(asked),
        )
        for (const { intentMatch, words, near } of hits) {
          expect(Math.abs((1 - share) * words + share * near - intentMatch)).toBeLessThan(1e-12)
        }
        const isCompared = asked.vector?.some((value) => value !== 0) ?? false
        expect(share > 0).toBe(isCompared)
        const said = new Set(asked.intent.split(' ').filter((each) => each !== ''))
        const told = [...reading.words.map((each) => each.word), ...reading.fillers, ...reading.beyond]
        expect(new Set(told)).toEqual(said)
      }),
    )
  })
})

describe('a catalogue', () => {
  it('gives the same answers whatever came and went before', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.array(question, { minLength: 1, maxLength: 4 }),
        (steps, questions) => {
          const lived = new Catalogue()
          const now = new Map<string, Product>()
          for (const each of steps) {
            if (typeof each === 'string') lived.drop(each)
            else lived.put(each)
            if (typeof each === 'string') now.delete(each)
            else now.set(each.key, each)
          }
          const rebuilt = catalogueOf([...now.values()].reverse())
          expect(lived.size).toBe(now.size)
          for (const each of questions) expect(lived.find(each)).toEqual(rebuilt.find(each))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('answers under a filter what it answers without, filtered', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(anyProduct, { selector: ({ key }) => key }),
        question,
        fc.constantFrom('home', undefined),
        fc.integer({ min: 0, max: 20 }),
        (products, asked, category, ceiling) => {
          const catalogue = catalogueOf(products)
          const admitted = new Set(
            products
              .filter((each) => category === undefined || each.category === category)
              .filter((each) => (each.price ?? each.leastPrice) <= ceiling)
              .map(({ key }) => key),
          )
          const all = catalogue.find({ ...asked, limit: 8 }).filter(({ key }) => admitted.has(key))
          expect(catalogue.find({ ...asked, category, ceiling })).toEqual(all.slice(0, asked.limit))
        },
      ),
    )
  })

  it('orders by product score, then by key, with matches from above 0 to 1', () => {
    fc.assert(
      fc.property(fc.array(anyProduct, { maxLength: 20 }), question, (products, asked) => {
        const hits = catalogueOf(products).find(asked)
        expect(hits.length).toBeLessThanOrEqual(asked.limit)
        for (const [i, hit] of hits.entries()) {
          expect(hit.intentMatch).toBeGreaterThan(0)
          expect(hit.intentMatch).toBeLessThanOrEqual(1)
          const next = hits[i + 1]
          if (next === undefined) continue
          const lead = productScore(hit.intentMatch, hit.rank) - productScore(next.intentMatch, next.rank)
          expect(lead > 0 || (lead === 0 && hit.key < next.key)).toBe(true)
        }
      }),
    )
  })

  it('prefers a name over a category over a description over what reviews say', () => {
    const catalogue = catalogueOf([
      product('a', { evidence: 'telescope telescope telescope' }),
      product('b', { name: 'thing', description: 'a small telescope for beginners' }),
      product('c', { name: 'thing', category: 'Telescope' }),
      product('d', { name: 'Telescope' }),
    ])
    expect(keys(catalogue.find(ask('telescopes')))).toEqual(['d', 'c', 'b', 'a'])
  })

  it('is all but certain of an exact name and says nothing about nonsense', () => {
    const catalogue = catalogueOf([
      product('a', { name: 'Brass Desk Lamp', description: 'A lamp of brass.' }),
      product('b', { name: 'Steel Shelf', description: 'A shelf of steel.' }),
    ])
    const [best, ...others] = catalogue.find(ask('brass desk lamp'))
    expect(best?.key).toBe('a')
    expect(best?.intentMatch).toBeGreaterThan(0.85)
    expect(others).toEqual([])
    expect(catalogue.find(ask('xqzzv wrrgh'))).toEqual([])
  })

  it('lets rank decide between equal matches', () => {
    const catalogue = catalogueOf([
      product('a', { name: 'lamp', rank: 0.2 }),
      product('b', { name: 'lamp', rank: 0.9 }),
    ])
    expect(keys(catalogue.find(ask('lamp')))).toEqual(['b', 'a'])
  })

  it('finds by vector what no word leads to', () => {
    const near = quantize([1, 0.1, 0])
    const catalogue = catalogueOf([
      product('a', { name: 'automobile', vector: near }),
      product('b', { name: 'banana', vector: quantize([0, 0, 1]) }),
    ])
    expect(keys(catalogue.find(ask('car', { vector: quantize([1, 0, 0]) })))).toEqual(['a'])
  })

  it('ignores vectors without direction or of another model', () => {
    const catalogue = catalogueOf([
      product('a', { name: 'lamp', vector: new Int8Array(3) }),
      product('b', { name: 'lamp', vector: quantize([1, 0]) }),
      product('c', { name: 'lamp', vector: new Int8Array(0) }),
    ])
    const match = catalogue
      .find(ask('lamp', { vector: quantize([1, 0, 0]) }))
      .map(({ intentMatch }) => intentMatch)
    expect(match).toHaveLength(3)
    expect(new Set(match).size).toBe(1)
    for (const useless of [new Int8Array(3), new Int8Array(0)]) {
      expect(catalogue.find(ask('lamp', { vector: useless }))).toEqual(catalogue.find(ask('lamp')))
    }
  })

  it('leaves out what is known to cost more than the ceiling', () => {
    const catalogue = catalogueOf([
      product('a', { name: 'lamp', price: 10, leastPrice: 99 }),
      product('b', { name: 'lamp', price: 11 }),
      product('c', { name: 'lamp', leastPrice: 11 }),
      product('d', { name: 'lamp', leastPrice: 10 }),
    ])
    expect(keys(catalogue.find(ask('lamp', { ceiling: 10 })))).toEqual(['a', 'd'])
  })

  it('takes any text for an intent', () => {
    const catalogue = catalogueOf([product('a', { name: '灯 مصباح Lampe 💡 the' }), product('b', {})])
    expect(keys(catalogue.find(ask('مصباح')))).toEqual(['a'])
    expect(keys(catalogue.find(ask('灯')))).toEqual(['a'])
    expect(keys(catalogue.find(ask('the')))).toEqual(['a'])
    for (const nothing of ['', ' ', '💡💡', '\u0000', '\ud800', '?'.repeat(10_000)])
      expect(catalogue.find(ask(nothing))).toEqual([])
    expect(keys(catalogue.find(ask(`lampe ${'filling '.repeat(2_000)}`)))).toEqual(['a'])
  })
})

describe('a large catalogue', () => {
  const names = ['lamp', 'desk', 'chair', 'cable', 'phone', 'case', 'bag', 'shelf', 'clock', 'radio']
  const at = (i: number, of: readonly string[]) => of[i % of.length] as string
  const many = Array.from({ length: 1_500 }, (_, i) =>
    product(String(i).padStart(5, '0'), {
      name: `${at(i, names)} ${at(Math.floor(i / 10), names)} m${i}`,
      category: at(i, ['home', 'office']),
      description: `number ${i}`,
      rank: (i % 17) / 17,
      price: i % 100,
      vector: quantize([Math.cos(i), Math.sin(i), Math.cos(i / 7), Math.sin(i / 7)]),
    }),
  )
  const catalogue = catalogueOf(many)
  const questions = ['lamp desk', 'm1234', 'radeo clock', 'number 77'].flatMap((intent, i) => [
    ask(intent),
    ask(intent, { vector: quantize([Math.cos(i), 0.5, 0.1, 0.2]) }),
  ])

  it('answers the same when it was filled backwards and after changes that were taken back', () => {
    const other = catalogueOf(
      many.toReversed().map((each) => ({ ...each, name: `${each.name} old`, vector: undefined })),
    )
    for (const each of many) other.put(each)
    for (const each of questions) expect(other.find(each)).toEqual(catalogue.find(each))
  })

  it('answers the same when it was filled at once, with products that changed or left meanwhile', async () => {
    const other = new Catalogue()
    other.start()
    other.put(product('99999', { name: 'lamp desk gone' }))
    for (const each of many) other.put({ ...each, name: `${each.name} former` })
    for (const each of many) other.put(each)
    other.drop('99999')
    await other.finish(async () => {})
    expect(other.size).toBe(catalogue.size)
    for (const each of [...questions, ask('former'), ask('gone')])
      expect(other.find(each)).toEqual(catalogue.find(each))
    const [first, ...rest] = many as [Product, ...Product[]]
    other.drop(first.key)
    other.put(product('00001', { name: 'lamp desk' }))
    const changed = catalogueOf([...rest.slice(1), product('00001', { name: 'lamp desk' })])
    for (const each of questions) expect(other.find(each)).toEqual(changed.find(each))
  })

  it('finds the one product that is called so, also under filters', () => {
    for (const more of [{}, { category: 'home' }, { ceiling: 34 }]) {
      expect(catalogue.find(ask('m1234', more))[0]?.key).toBe('01234')
    }
    expect(keys(catalogue.find(ask('m1234', { ceiling: 33 })))).not.toContain('01234')
  })

  it('gives each product the same match whatever the filters are', () => {
    for (const asked of questions) {
      const all = new Map(catalogue.find({ ...asked, limit: 200 }).map((hit) => [hit.key, hit.intentMatch]))
      const both = catalogue
        .find({ ...asked, category: 'home', ceiling: 90 })
        .filter(({ key }) => all.has(key))
      expect(both.length).toBeGreaterThan(0)
      for (const hit of both) expect(hit.intentMatch).toBe(all.get(hit.key))
    }
  })

  it('finds by words under a filter what a look at everything finds', () => {
    const more = Array.from({ length: 4_000 }, (_, i) =>
      product(String(i).padStart(5, '0'), {
        name: `${at(i, names)} ${at(Math.floor(i / 10), names)}`,
        category: i % 3 === 0 ? 'home' : 'office',
        description: at(i * 7, names),
        rank: (i % 101) / 101,
        price: i % 2 === 0 ? i : 1_000_000 + i,
      }),
    )
    const large = catalogueOf(more)
    for (const intent of ['lamp desk', 'radeo clock shelf', 'bag']) {
      const all = large.find(ask(intent, { limit: more.length }))
      for (const [filters, isAdmitted] of [
        [{ category: 'home' }, (i: number) => i % 3 === 0],
        [{ ceiling: 5_000 }, (i: number) => i % 2 === 0],
        [{ category: 'home', ceiling: 2_000 }, (i: number) => i % 6 === 0 && i <= 2_000],
      ] as const) {
        const wanted = all.filter(({ key }) => isAdmitted(Number(key))).slice(0, 10)
        expect(large.find(ask(intent, { ...filters, limit: 10 }))).toEqual(wanted)
      }
    }
  })
})
