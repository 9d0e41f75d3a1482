import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type TestDatabase } from './testing.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const words = fc.string({ unit: 'binary' }).map((word) => word.replaceAll('\0', ''))
const bytes = fc.uint8Array().map((value) => Buffer.from(value))
const times = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-01-01'), noInvalidDate: true })

describe('an array', () => {
  it.each<[string, fc.Arbitrary<unknown>]>([
    ['bool', fc.boolean()],
    ['bytea', bytes],
    ['int8', fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    ['int4', fc.integer()],
    ['text', words],
    ['text', fc.constantFrom('NULL', 'null', '', '{', '}', ',', '"', '\\', '{"a"}', ' ', '\n')],
    ['float8', fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)],
    ['numeric', fc.bigInt({ min: -(10n ** 70n), max: 10n ** 70n })],
    ['timestamptz', times],
    ['jsonb', fc.constantFrom<unknown>({ a: [1, '"x"', null] }, 'text', 5, true)],
  ])('of %s comes back as it was sent', async (type, element) => {
    const sent = fc.array(fc.option(element, { freq: 5 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(sent, async (values) => {
        const [row] = await database.sql`SELECT ${values as never}::${database.sql.unsafe(type)}[] AS back`
        expect(row?.back).toEqual(values)
      }),
      { numRuns: 30 },
    )
  })

  it('of arrays comes back too, and one that does not begin at one', async () => {
    const [row] = await database.sql`
      SELECT ${
        [
          ['a', null],
          ['"b"', '{c,d}'],
        ] as never
      }::text[] AS nested, '[0:1]={7,8}'::int4[] AS shifted, '{}'::int8[] AS none`
    expect(row).toEqual({
      nested: [
        ['a', null],
        ['"b"', '{c,d}'],
      ],
      shifted: [7, 8],
      none: [],
    })
  })

  it('is an element of = ANY and of unnest', async () => {
    const ids = [1n, 5n, 9n]
    const rows =
      await database.sql`SELECT n FROM generate_series(1::int8, 10) AS n WHERE n = ANY(${ids}::int8[])`
    expect(rows.map(({ n }) => n)).toEqual(ids)
  })
})
