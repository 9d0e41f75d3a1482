import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  Arrays,
  Catalogue,
  chooseCells,
  FORMAT,
  type Product,
  partsOf,
  type Question,
  quantize,
} from './index.ts'

const WORDS = ['lamp', 'lamps', 'desk', 'chair', 'cable', 'phone', 'émigré', '灯', 'shelf', 'clock', 'radio']
const at = <T>(i: number, of: readonly T[]) => of[i % of.length] as T
const vectorOf = (i: number) => quantize([Math.cos(i), Math.sin(i), Math.cos(i / 7), Math.sin(i / 7)])

/** A product that is known by the number, as it is described for the nth time. */
const product = (i: number, nth = 0): Product => ({
  key: String(i).padStart(5, '0'),
  name: `${at(i + nth, WORDS)} ${at(Math.floor(i / 10), WORDS)} m${i}v${nth}`,
  category: at(i + nth, ['home', 'office', '', `only${i % 50}`]),
  description: `number ${i} ${at(i * 7 + nth, WORDS)}`,
  evidence: i % 3 === 0 ? `${at(nth, WORDS)} sturdy` : '',
  rank: ((i + nth) % 17) / 17,
  price: i % 5 === 0 ? undefined : (i + nth) % 100,
  leastPrice: i % 7,
  vector: (i + nth) % 4 === 0 ? undefined : vectorOf(i + nth),
})

const questions: Question[] = ['lamp desk', 'm123v0', 'radeo clokc', 'sturdy', 'emigre 灯', 'number 77', '']
  .flatMap((intent, i) => [
    { intent, vector: undefined },
    { intent, vector: quantize([Math.cos(i), 0.5, 0.1, 0.2]) },
  ])
  .flatMap((asked) => [
    { ...asked, category: undefined, ceiling: undefined, limit: 20 },
    { ...asked, category: 'home', ceiling: undefined, limit: 20 },
    { ...asked, category: 'only4', ceiling: 50, limit: 5 },
  ])
const answers = (catalogue: Catalogue) => questions.map((each) => catalogue.explain(each))

const cells = chooseCells(Array.from({ length: 3_000 }, (_, i) => vectorOf(i)))

function emptyCatalogue(isGrouped: boolean): Catalogue {
  const catalogue = new Catalogue()
  if (isGrouped) catalogue.useCells(cells)
  return catalogue
}

function bytesOf(catalogue: Catalogue, length = 1_000): Uint8Array[] {
  return Array.from(partsOf(catalogue.written(), length), (part) => part.slice())
}
async function* each(parts: readonly Uint8Array[]) {
  yield* parts
}
async function restored(parts: readonly Uint8Array[], isGrouped = false): Promise<Catalogue> {
  const catalogue = emptyCatalogue(isGrouped)
  await catalogue.restore(new Arrays(each(parts)))
  return catalogue
}

type Step = [what: number, which: number, nth: number]
function change(catalogue: Catalogue, steps: readonly Step[]): void {
  for (const [what, which, nth] of steps) {
    if (what === 0) catalogue.drop(product(which).key)
    else catalogue.put(product(which, nth))
  }
}

describe('a catalogue that was written and read', () => {
  it.each([
    { count: 0, isGrouped: false },
    { count: 200, isGrouped: false },
    { count: 3_000, isGrouped: false },
    { count: 3_000, isGrouped: true },
  ])('answers as before, $count products, grouped: $isGrouped', async ({ count, isGrouped }) => {
    const before = emptyCatalogue(isGrouped)
    before.start()
    for (let i = 0; i < count; i += 1) before.put(product(i))
    await before.finish(async () => {})
    const after = await restored(bytesOf(before), isGrouped)
    expect(after.size).toBe(count)
    expect(answers(after)).toEqual(answers(before))
  })

  it('answers as one that never was, after any history before and after', async () => {
    const steps = fc.array(fc.tuple(fc.nat(3), fc.nat(1_499), fc.nat(5)), { maxLength: 1_000 })
    await fc.assert(
      fc.asyncProperty(
        steps,
        steps,
        fc.boolean(),
        fc.integer({ min: 1, max: 5_000 }),
        async (past, future, isGrouped, length) => {
          const lived = emptyCatalogue(isGrouped)
          lived.start()
          for (let i = 0; i < 1_200; i += 1) lived.put(product(i))
          await lived.finish(async () => {})
          change(lived, past)
          const after = await restored(bytesOf(lived, length), isGrouped)
          expect(answers(after)).toEqual(answers(lived))
          change(lived, future)
          change(after, future)
          expect(after.size).toBe(lived.size)
          expect(answers(after)).toEqual(answers(lived))
        },
      ),
      { numRuns: 4 },
    )
  })

  it('is not read from bytes that are cut short, or too many', async () => {
    const before = emptyCatalogue(false)
    for (let i = 0; i < 100; i += 1) before.put(product(i))
    const parts = bytesOf(before)
    await expect(restored(parts.slice(0, -1))).rejects.toThrow('end in the middle')
    await expect(restored([...parts, new Uint8Array(1)])).rejects.toThrow('more bytes')
  })

  it('has the bytes of its format: whoever changes them, or how texts are read, gives it another number', () => {
    const catalogue = emptyCatalogue(true)
    for (let i = 0; i < 300; i += 1) catalogue.put(product(i))
    change(catalogue, [
      [0, 7, 0],
      [1, 8, 3],
      [1, 400, 1],
    ])
    const hash = createHash('sha256')
      .update(Buffer.concat(bytesOf(catalogue)))
      .digest('hex')
    expect({ FORMAT, hash: hash.slice(0, 16) }).toEqual({ FORMAT: 1, hash: '35bc8b7eeca10274' })
  })
})
