import { expect, it } from 'vitest'
import { Catalogue } from './catalogue.ts'
import { keyOf } from './key.ts'
import { wishesOf } from './question.ts'
import { SlotTable } from './slot-table.ts'
import { TermIndex } from './term-index.ts'

const keyAt = (at: number) => keyOf(1n, `0x${at.toString(16).padStart(64, '0')}`)

/** The first few are what was asked for; others are a part of it, and are ranked a little higher. */
const put = (catalogue: Catalogue, at: number) =>
  catalogue.put({
    key: keyAt(at),
    name: at < 100 ? 'copper kettle' : at < 300 ? 'steel kettle' : 'copper thing',
    category: '',
    description: '',
    evidence: '',
    rank: at < 100 ? 0.499 : 0.5,
    price: undefined,
    leastPrice: 0,
    vector: undefined,
  })

it('finds the same after many products have come and gone', () => {
  const fresh = new Catalogue()
  const worn = new Catalogue()
  const [stay, go] = [10_400, 10_000]
  for (let at = 0; at < stay; at += 1) put(fresh, at)
  for (let at = 0; at < stay + go; at += 1) put(worn, at)
  for (let at = stay; at < stay + go; at += 1) worn.drop(keyAt(at))
  const question = { vector: undefined, category: undefined, ceiling: undefined, limit: 25 }
  for (const intent of ['copper kettle', 'steel kettle', 'copper thing']) {
    const asked = { ...question, intent }
    expect(worn.find(asked)).toEqual(fresh.find(asked))
  }
})

it('gives the slots of what is gone to others, and forgets their terms', () => {
  const slotTable = new SlotTable()
  const words = new TermIndex(slotTable)
  const add = (text: string) => {
    const slot = slotTable.add('a', '', 0.5, 0)
    words.put(slot, { name: text, category: '', description: '', evidence: '' })
    return slot
  }
  let slot = add('lamp 0')
  for (let at = 1; at < 1_000; at += 1) {
    const next = add(`lamp ${at}`)
    words.remove(slot)
    slotTable.remove(slot)
    slot = next
  }
  expect(slotTable.keys.length).toBeLessThan(10)
  expect(words.terms.get('998')).toBeUndefined()
  expect(words.users('999')).toBe(1)
})

it('forgets what nobody uses any more when it has been filled', async () => {
  const slotTable = new SlotTable()
  const index = new TermIndex(slotTable)
  index.start()
  const slot = slotTable.add('a', '', 0.5, 0)
  for (const name of ['former lamp', 'lamp'])
    index.put(slot, { name, category: '', description: '', evidence: '' })
  await index.finish(async () => {})
  expect(index.terms.get('former')).toBeUndefined()
  expect(index.terms.words.get('former')).toBe(-1)
  expect(index.users('lamp')).toBe(1)
})

it('looks up few terms for a word that goes on and on', () => {
  const lookedUp = new Set<string>()
  const users = (term: string) => {
    lookedUp.add(term)
    return 0
  }
  // A sign that is four letters when it is written out.
  wishesOf('㎉'.repeat(1_000), { size: 1_000, users, heard: users, similar: () => [] })
  expect(lookedUp.size).toBeLessThan(10)
})

it('finds a name of two words of which one is in so many names that its list is not read', () => {
  const catalogue = new Catalogue()
  const put = (at: number, name: string) =>
    catalogue.put({
      key: keyAt(at),
      name,
      category: '',
      description: '',
      evidence: '',
      rank: 0.5,
      price: undefined,
      leastPrice: 0,
      vector: undefined,
    })
  for (let at = 0; at < 400; at += 1) put(at, 'Zeta thing')
  for (let at = 400; at < 21_000; at += 1) put(at, 'Omega thing')
  put(21_000, 'Zeta omega')
  const [first] = catalogue.find({
    intent: 'zeta omega',
    vector: undefined,
    category: undefined,
    ceiling: undefined,
    limit: 5,
  })
  expect(first?.key).toBe(keyAt(21_000))
})

const plain = {
  category: '',
  description: '',
  evidence: '',
  price: undefined,
  leastPrice: 0,
  vector: undefined,
}
const asked = { vector: undefined, category: undefined, ceiling: undefined, limit: 25 }

it('finds what has both of two words that are common', () => {
  const catalogue = new Catalogue()
  for (let at = 0; at < 12_000; at += 1)
    catalogue.put({
      ...plain,
      key: keyAt(at),
      name: at % 2 === 0 ? 'headphones nice' : 'wireless mouse',
      category: at % 2 === 0 ? 'sound' : 'desk',
      rank: (at % 997) / 997,
    })
  const wanted = keyAt(99_999)
  catalogue.put({ ...plain, key: wanted, name: 'wireless headphones', category: 'sound', rank: 0.5 })
  for (const category of [undefined, 'sound']) {
    const [first] = catalogue.find({ ...asked, category, intent: 'wireless headphones' })
    expect(first?.key).toBe(wanted)
  }
})

it('finds the best of many that are nearly as good', () => {
  const catalogue = new Catalogue()
  const put = (at: number, name: string) => catalogue.put({ ...plain, key: keyAt(at), name, rank: 0.5 })
  for (let at = 0; at < 450; at += 1) put(at, 'lamp a b c d e f g h i')
  for (let at = 450; at < 1_500; at += 1) put(at, 'kettle a b c d e f g h i')
  put(99_999, 'lamp a b c d e')
  const [first] = catalogue.find({ ...asked, intent: 'lamp' })
  expect(first?.key).toBe(keyAt(99_999))
})
