import { afterAll, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from './testing.ts'

const databases: TestDatabase[] = []
afterAll(() => Promise.all(databases.map((database) => database.drop())))

test('gives every caller a database of its own', async () => {
  const [one, other] = await Promise.all([freshDatabase(), freshDatabase()])
  databases.push(one, other)
  await one.sql`create table mine (id int8)`
  expect(await other.sql`select from pg_tables where tablename = 'mine'`).toHaveLength(0)
})
