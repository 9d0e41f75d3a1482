import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConnectionLost } from './session.ts'
import type { Sql, Transaction } from './sql.ts'
import { freshDatabase, type TestDatabase } from './testing.ts'

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await freshDatabase()
  sql = database.sql
  await sql`create table notes (text text primary key)`
})
afterAll(() => database.drop())

const note = (on: Sql | Transaction, text: string) => on`insert into notes values (${text})`
const isNoted = async (text: string) => (await sql`select from notes where text = ${text}`).length === 1

test('commits what its work did and gives what it returned', async () => {
  const result = await sql.begin(async (tx) => {
    await note(tx, 'committed')
    return 'returned'
  })
  expect(result).toBe('returned')
  expect(await isNoted('committed')).toBe(true)
  expect(await sql.begin((tx) => [tx`select 1 as a`, tx`select 2 as a`])).toEqual([[{ a: 1 }], [{ a: 2 }]])
  expect((await sql.begin((tx) => tx`delete from notes where text = 'committed'`)).count).toBe(1)
})

test('rolls back when its work fails', async () => {
  const work = sql.begin(async (tx) => {
    await note(tx, 'withdrawn')
    throw new Error('changed my mind')
  })
  await expect(work).rejects.toThrow('changed my mind')
  expect(await isNoted('withdrawn')).toBe(false)
})

test('fails with a statement that failed, even when its work looked away', async () => {
  const work = sql.begin(async (tx) => {
    await note(tx, 'half')
    await tx`select nothing`.catch(() => {})
  })
  await expect(work).rejects.toThrow('column "nothing" does not exist')
  expect(await isNoted('half')).toBe(false)
})

test('does not pretend to commit when a statement fails that its work did not wait for', async () => {
  const work = sql.begin(async (tx) => {
    await note(tx, 'pretended')
    tx`select nothing`.catch(() => {})
  })
  await expect(work).rejects.toThrow('rolled back, since a query of it failed that was not awaited')
  expect(await isNoted('pretended')).toBe(false)
})

test('goes back to a savepoint and on from there', async () => {
  await sql.begin(async (tx) => {
    await note(tx, 'outer')
    const inner = tx.savepoint(async (nested) => {
      await note(nested, 'inner')
      await note(nested, 'outer')
    })
    await expect(inner).rejects.toThrow('duplicate key')
    await tx.savepoint('named', (nested) => note(nested, 'second try'))
  })
  expect([await isNoted('outer'), await isNoted('inner'), await isNoted('second try')]).toEqual([
    true,
    false,
    true,
  ])
})

test('takes the words of begin', async () => {
  await expect(sql.begin('read only', (tx) => note(tx, 'forbidden'))).rejects.toThrow('read-only transaction')
  const [row] = await sql.begin('isolation level serializable', (tx) => tx`show transaction_isolation`)
  expect(row).toEqual({ transaction_isolation: 'serializable' })
})

test('refuses queries after its end, which would run outside of it', async () => {
  let kept: Transaction | undefined
  await sql.begin(async (tx) => {
    kept = tx
  })
  await expect(kept?.unsafe("insert into notes values ('late')")).rejects.toThrow('This transaction is over')
  await expect(kept?.savepoint((tx) => note(tx, 'late'))).rejects.toThrow('This transaction is over')
  expect(await isNoted('late')).toBe(false)
})

test('reads by cursor inside of a transaction, and refuses to outside', async () => {
  const seen: number[] = []
  await sql.begin(async (tx) => {
    for await (const rows of tx<{ n: number }[]>`select n from generate_series(1, 5) n`.cursor(2)) {
      seen.push(...rows.map(({ n }) => n))
    }
  })
  expect(seen).toEqual([1, 2, 3, 4, 5])
  await expect(sql`select 1`.cursor(1, () => {})).rejects.toThrow('use them in sql.begin')
})

test('runs on the connection of a reserved session, until that is released', async () => {
  const session = await sql.reserve()
  const pid = (on: Sql | Transaction) =>
    on<{ pid: number }[]>`select pg_backend_pid() as pid`.then(([row]) => row?.pid)
  expect(await session.begin((tx) => pid(tx))).toBe(await pid(session))
  session.release()
  await expect(session`select 1`).rejects.toThrow('released: reserve another')
  await expect(session.begin((tx) => tx`select 1`)).rejects.toThrow('released: reserve another')
})

test('lets nothing else into a reserved session while it runs there', async () => {
  const session = await sql.reserve()
  const work = session.begin(async (tx) => {
    await note(tx, 'alone')
    await expect(note(session, 'beside')).rejects.toThrow('A transaction is open on this session')
    const second = session.begin((other) => note(other, 'beside'))
    await expect(second).rejects.toThrow('A transaction is open on this session')
    throw new Error('changed my mind')
  })
  await expect(work).rejects.toThrow('changed my mind')
  await session.begin((tx) => note(tx, 'next'))
  session.release()
  expect([await isNoted('alone'), await isNoted('beside'), await isNoted('next')]).toEqual([
    false,
    false,
    true,
  ])
})

test('is rolled back when its session is released before its end', async () => {
  const session = await sql.reserve()
  const work = session.begin(async (tx) => {
    await note(tx, 'left')
    session.release()
    await note(tx, 'behind')
  })
  await expect(work).rejects.toBeInstanceOf(ConnectionLost)
  expect([await isNoted('left'), await isNoted('behind')]).toEqual([false, false])
})
