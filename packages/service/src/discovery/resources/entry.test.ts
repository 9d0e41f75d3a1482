import { seedOf } from '@referrer/chain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameOf, readEntry } from './entry.ts'
import { Item } from './shapes.ts'

const seed = seedOf()
const ORIGIN = 'https://shop.test'

const KEYS = [
  'resource',
  'url',
  'endpoint',
  'path',
  'accepts',
  'payTo',
  'amount',
  'maxAmountRequired',
  'price',
]
const MORE_KEYS = [
  'name',
  'serviceName',
  'description',
  'category',
  'type',
  'lastUpdated',
  'quality',
  'metadata',
]
const API_KEYS = [
  'extensions',
  'bazaar',
  'info',
  'schema',
  'input',
  'output',
  'outputSchema',
  'method',
  'example',
]

/** Arbitrary JSON in which the known field names are frequent. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(
      'https://api.test/x',
      'POST /data',
      '/data',
      '//evil.test',
      'mcp://x',
      '0xAB',
      '12',
      '',
      null,
      7,
    ),
    fc.jsonValue({ maxDepth: 1 }),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(...KEYS, ...MORE_KEYS, ...API_KEYS, '__proto__', 'constructor'),
      tie('json'),
      {
        maxKeys: 8,
      },
    ),
  ),
}))

describe(`an entry of a catalogue or a manifest (SEED=${seed})`, () => {
  it('is none, or can be shown, whatever it is', () => {
    const property = fc.property(json, fc.constantFrom(undefined, ORIGIN), (value, origin) => {
      // As received over the network.
      const entry = JSON.parse(JSON.stringify(value))
      const found = readEntry(entry, origin)
      if (!found) return
      const shown = { resource: found.resource, pay_to: '', source: 'manifest', status: 'discoverable' }
      const item = JSON.parse(JSON.stringify({ ...shown, ...found.described }))
      expect(Item.safeParse(item).success, JSON.stringify(item)).toBe(true)
      expect(new URL(found.resource).protocol).toMatch(/^https?:$/)
      expect(found.name).toBe(nameOf(found.resource))
    })
    fc.assert(property, { seed, numRuns: 2_000 })
  })

  it('is compared by what its address means and not by how it is spelled', () => {
    const spellings = [
      'https://shop.test/a?b=1',
      'HTTPS://SHOP.test:443/x/../a?b=1#c',
      'https://shop.test/./a?b=1',
    ]
    expect(new Set(spellings.map(nameOf))).toEqual(new Set(['https://shop.test/a?b=1']))
    const others = [
      'http://shop.test/a?b=1',
      'https://shop.test/a',
      'https://shop.test/a/?b=1',
      'https://shop.test:8443/a?b=1',
    ]
    for (const other of others) expect(nameOf(other)).not.toBe('https://shop.test/a?b=1')
  })

  it('may name a path only where the origin is known', () => {
    expect(readEntry('/data')).toBeUndefined()
    expect(readEntry('/data', ORIGIN)?.resource).toBe('https://shop.test/data')
    expect(readEntry('//evil.test/data', ORIGIN)).toBeUndefined()
  })
})
