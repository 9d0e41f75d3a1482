import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { detailOf, unknownFieldOf } from './detail.ts'
import { bodyId, productId, text } from './fields.ts'

const Item = z.object({ id: bodyId, tags: z.array(z.enum(['new', 'used'])).max(2) })
const Body = z.object({
  id: bodyId,
  product_id: productId,
  name: text(5, 1),
  share: z.int().min(0).max(40),
  kind: z.literal('buy'),
  until: z.iso.datetime().nullable(),
  items: z.array(Item).min(1).max(3),
  strict: z.strictObject({ on: z.boolean() }),
  named: z.record(z.string(), z.number()),
})
const GOOD = {
  id: 1,
  product_id: '11'.repeat(32),
  name: 'Ann',
  share: 4,
  kind: 'buy',
  until: null,
  items: [{ id: 1, tags: ['new'] }],
  strict: { on: true },
  named: { a: 1 },
}

function detail(given: unknown, schema: z.ZodType = Body): string {
  const { error } = schema.safeParse(given)
  if (!error) throw new Error('it fits')
  return detailOf(schema, error, given)
}
const wrong = (change: object) => detail({ ...GOOD, ...change })

describe('the detail of a body that does not fit', () => {
  it.each([
    [{ id: undefined }, 'id is missing: it must be a whole number, 0 or more'],
    [{ id: '1' }, 'id must be a whole number, 0 or more'],
    [{ share: 41 }, 'share must be a whole number from 0 to 40'],
    [{ name: '' }, 'name must be a text of 1 to 5 characters'],
    [{ kind: 'sell' }, 'kind must be "buy"'],
    [{ until: 7 }, /^until must be a text .*or null$/],
    [{ items: [] }, 'items must be a list of 1 to 3 items'],
    [{ items: [GOOD.items[0], { id: -1, tags: [] }] }, 'items[1].id must be a whole number, 0 or more'],
    [{ items: [{ id: 1, tags: ['old'] }] }, 'items[0].tags[0] must be one of "new", "used"'],
    [{ items: [7] }, 'items[0] must be an object with id, tags'],
    [{ strict: { on: 1 } }, 'strict.on must be true or false'],
    [{ strict: { on: true, off: 1 } }, 'strict has an unknown field; known fields are on'],
    [{ named: { b: 'x' } }, 'named.b must be a number'],
    [{ product_id: '0x1' }, /^product_id must be a text like "0x\w+" \(The product: 32 bytes as hex/],
  ])('%j is %s', (change, expected) => {
    expect(wrong(change)).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
  })

  it('is about the body where it is no object', () => {
    expect(detail([])).toBe(
      'the body must be an object with id, product_id, name, share, kind, until, items, strict, named',
    )
  })

  it('stays short, and repeats no value, whatever is sent', () => {
    const secret = 'hunter2'
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(secret.repeat(9_000), [secret], { [secret]: secret }),
    )
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(GOOD)), value, (key, other) => {
        const given = { ...GOOD, [key]: other }
        if (Body.safeParse(given).success) return
        const told = detail(given)
        expect(told.length).toBeLessThanOrEqual(400)
        if (key !== 'named') expect(told).not.toContain(secret)
      }),
    )
    expect(wrong({ named: { ['x'.repeat(10_000)]: '' } }).length).toBeLessThan(200)
  })
})

describe('the detail of a body that fits and was refused', () => {
  const schema = z.object({ agent_id: bodyId.prefault(0), chain_id: z.int().optional() })

  it('tells of a field that nobody knows, and which there are', () => {
    const known = 'the body has an unknown field; known fields are agent_id, chain_id'
    expect(unknownFieldOf(schema, { agentId: 3 })).toBe(known)
  })

  it('is left out where all fields are known, or any would be', () => {
    expect(unknownFieldOf(schema, { agent_id: 3 })).toBeUndefined()
    expect(unknownFieldOf(schema, {})).toBeUndefined()
    expect(unknownFieldOf(z.looseObject({ a: z.int() }), { a: 1, b: 2 })).toBeUndefined()
    expect(unknownFieldOf(z.record(z.string(), z.int()), { b: 2 })).toBeUndefined()
  })
})
