import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Arrays, partsOf } from './arrays.ts'
import { Numbers } from './numbers.ts'
import { StringTable } from './string-table.ts'
import { Terms } from './terms.ts'
import { stemOf, wordsOf } from './text.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc
    .array(fc.constantFrom('Lamp', 'café', 'ﬁne', '日本', '𝒳y', '\ud800', '—', ' ', '´', 'İ', '٣', '€', '7'))
    .map((parts) => parts.join('')),
)

it('reads the words that are in a text, whatever its script', () => {
  const terms = new Terms()
  fc.assert(
    fc.property(text, (text) => {
      const read = new Numbers()
      terms.read(text, read)
      const words = [...read.view()]
      expect(words.map((word) => terms.words.text(word))).toEqual(wordsOf(text))
      expect(words.map((word) => terms.termOf(word))).toEqual(
        wordsOf(text).map((word) => terms.get(stemOf(word))),
      )
    }),
    { numRuns: 1_000 },
  )
})

it('knows what was added and not removed', () => {
  const step = fc.record({ isAdded: fc.boolean(), n: fc.nat(3_000) })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1_000, maxLength: 4_000 }), (steps) => {
      const table = new StringTable()
      const expected = new Map<string, number>()
      for (const { isAdded, n } of steps) {
        const text = `word ${n}`
        const number = expected.get(text)
        expect(table.get(text)).toBe(number ?? -1)
        if (isAdded && number === undefined) expected.set(text, table.add(text))
        else if (!isAdded && number !== undefined) {
          table.remove(number)
          expected.delete(text)
        }
      }
      for (const [text, number] of expected) {
        expect(table.get(text)).toBe(number)
        expect(table.text(number)).toBe(text)
      }
      expect(table.numbers()).toEqual([...expected.values()].sort((a, b) => a - b))
    }),
    { numRuns: 30 },
  )
})

it('does not grow while words come and go', () => {
  const table = new StringTable()
  for (let n = 0; n < 100_000; n += 1) table.remove(table.add(`a rather long word ${n}`))
  expect(table.end).toBe(1)
})

it('knows the same when it was written and restored, and nothing of what was removed', async () => {
  const before = new StringTable()
  for (const text of ['a', 'émigré', '灯', 'b']) before.add(text)
  before.remove(1)
  async function* parts() {
    yield* partsOf(before.written(), 5)
  }
  const after = new StringTable()
  await after.restore(new Arrays(parts()))
  expect(['a', 'émigré', '灯', 'b', ''].map((text) => after.get(text))).toEqual([0, -1, 2, 3, -1])
  expect([after.add('c'), after.add('d'), after.text(2)]).toEqual([1, 4, '灯'])
})
