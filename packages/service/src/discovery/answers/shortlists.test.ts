import type { Queryable } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { keyOf } from '@referrer/search'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { Shortlists } from './shortlists.ts'
import { productId, smallMarket } from './testing.ts'

const CHAIN = 1
let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

it('has the reviews that a row counts, though they were listed since it was read ahead, and reads no list twice otherwise', async () => {
  let asked = 0
  const sql = new Proxy(database.sql, {
    apply: (target, self, args) => {
      if (String(args[0]).includes('listing.shortlist')) asked += 1
      return Reflect.apply(target, self, args)
    },
  }) as Queryable
  const market = smallMarket(database.sql, CHAIN)
  await market.product(1)
  const key = keyOf(1n, productId(1))
  const listed: bigint[] = []
  const shortlists = new Shortlists(sql, CHAIN, undefined)
  const idsAsOf = async (review_count: number) => {
    await shortlists.read([{ key, row: { review_count } }])
    return shortlists.of(key).map(({ internal_id }) => internal_id)
  }

  await shortlists.read([{ key }])
  expect(await idsAsOf(0)).toEqual([])
  expect(asked).toBe(1)
  for (let count = 1; count <= 2; count += 1) {
    listed.push(await market.review())
    await database.sql`UPDATE market.listings SET review_count = ${count}, shortlist = ${listed}::bigint[]`
    expect(await idsAsOf(count)).toEqual(listed)
    await shortlists.read([{ key }])
    expect(await idsAsOf(count)).toEqual(listed)
    expect(asked).toBe(1 + count)
  }
})
