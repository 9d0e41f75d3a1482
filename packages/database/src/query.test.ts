import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from './testing.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

test('rows that nobody uses any more are gone after a quick collection', async () => {
  const { sql } = database
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void
  const ask = () => sql`select repeat('x', 5000) as text, i from generate_series(1, 20) as i`
  for (let i = 0; i < 20; i += 1) await ask()
  collect()
  const before = process.memoryUsage().heapUsed
  let read = 0
  for (let i = 0; i < 400; i += 1) {
    for (const { text } of await ask()) read += text.length
    if (i % 20 === 0) collect({ type: 'minor' })
  }
  collect({ type: 'minor' })
  expect(read).toBe(40_000_000)
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(3_000_000)
})

test('runs once however often it is awaited, and not at all when it is not', async () => {
  const { sql } = database
  await sql`create table runs (id int primary key generated always as identity)`
  const run = sql`insert into runs default values returning id`
  expect(await sql`select from runs`).toHaveLength(0)
  expect(await Promise.all([run, run.then(([row]) => row?.id)])).toEqual([[{ id: 1 }], 1])
  expect(await run.execute()).toEqual([{ id: 1 }])
  expect(await sql`select id from runs`.values()).toEqual([[1]])
})

test('tells its failure to all who wait for it, and where it stands', async () => {
  const failing = database.sql`select ${1}::int / 0`
  let isOver = false
  const [error, same, after] = await Promise.all([
    failing.catch((reason: Error) => reason),
    failing.then(undefined, (reason: Error) => reason),
    failing
      .finally(() => {
        isOver = true
      })
      .catch((reason: Error) => reason),
  ])
  expect(error).toMatchObject({
    message: 'division by zero',
    stack: expect.stringContaining('query.test.ts'),
  })
  expect([same, after, isOver]).toEqual([error, error, true])
})
