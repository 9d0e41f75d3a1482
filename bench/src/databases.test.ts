import { freshDatabase } from '@referrer/database/testing'
import { expect, it } from 'vitest'
import { connectPatiently } from './databases.ts'

it('filling runs without the statement time-out that the service has', async () => {
  const database = await freshDatabase()
  const sql = connectPatiently(database.url, 2)
  try {
    expect(await sql`SHOW statement_timeout`).toEqual([{ statement_timeout: '0' }])
    expect(await database.sql`SHOW statement_timeout`).toEqual([{ statement_timeout: '1min' }])
  } finally {
    await sql.end()
    await database.drop()
  }
})
