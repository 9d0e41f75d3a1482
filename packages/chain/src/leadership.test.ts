import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Leadership, lead } from './leadership.ts'
import { eventually } from './testing/eventually.ts'

const POLL_MS = 10
let database: TestDatabase
let lock: string
let locks = 0

beforeAll(async () => {
  database = await freshDatabase()
  await database.sql`CREATE TABLE notes (note text)`
})
afterAll(() => database.drop())
beforeEach(() => {
  locks += 1
  lock = `test ${locks}`
})

/** Leads, as soon as it can, until it is told to step down. */
function candidate(pollMs = POLL_MS) {
  const leaving = new AbortController()
  const steppedDown = Promise.withResolvers<void>()
  const elected = Promise.withResolvers<Leadership>()
  const over = lead(
    { databaseUrl: database.url, lock, signal: leaving.signal, pollMs },
    async (leadership) => {
      elected.resolve(leadership)
      await steppedDown.promise
    },
  )
  over.catch(() => {})
  return { elected: elected.promise, stepDown: steppedDown.resolve, leaving, over }
}

/** Connections that ask for the lock again and again, or hold it. */
const candidates = async () => {
  const [row] = await database.sql<{ count: number }[]>`
    SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND application_name = ${lock}`
  return row?.count
}
const holder = () =>
  database.sql<{ pid: number }[]>`
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE application_name = ${lock})`
async function cutConnection(): Promise<void> {
  const [row] = await holder()
  if (!row) throw new Error('nobody holds the lock')
  await database.sql`SELECT pg_terminate_backend(${row.pid})`
  await eventually(async () => (await holder()).some(({ pid }) => pid === row.pid)).toBe(false)
}
const note = (text: string) => (tx: Transaction) => tx`INSERT INTO notes VALUES (${text})`
const notes = async () =>
  (await database.sql<{ note: string }[]>`SELECT note FROM notes`).map(({ note }) => note)

describe('leadership', () => {
  it('is held by one and passes on when that one steps down', async () => {
    const first = candidate()
    await first.elected
    const second = candidate()
    await eventually(candidates).toBe(2)
    const before = await holder()
    expect(before).toHaveLength(1)
    first.stepDown()
    await first.over
    await second.elected
    expect(await holder()).toHaveLength(1)
    expect(await holder()).not.toEqual(before)
    second.stepDown()
    await second.over
    await eventually(candidates).toBe(0)
  })

  it('of one lock is no leadership of another', async () => {
    const first = candidate()
    await first.elected
    lock = `${lock} other`
    const second = candidate()
    await second.elected
    for (const one of [first, second]) one.stepDown()
    expect(await Promise.all([first.over, second.over])).toHaveLength(2)
  })

  it('is waited for until the signal', async () => {
    const first = candidate()
    await first.elected
    const second = candidate(600_000)
    await eventually(candidates).toBe(2)
    second.leaving.abort(new Error('going home'))
    await expect(second.over).rejects.toThrow()
    await eventually(candidates).toBe(1)
    first.stepDown()
    await first.over
  })

  it('ends with an error of the work', async () => {
    const call = lead({ databaseUrl: database.url, lock, signal: new AbortController().signal }, () =>
      Promise.reject(new Error('no luck')),
    )
    await expect(call).rejects.toThrow('no luck')
    await eventually(candidates).toBe(0)
  })

  it('writes in transactions', async () => {
    const leader = candidate()
    const { transaction } = await leader.elected
    await transaction(note('kept'))
    await expect(
      transaction(async (tx) => {
        await note('dropped')(tx)
        throw new Error('no luck')
      }),
    ).rejects.toThrow('no luck')
    expect(await notes()).toContain('kept')
    expect(await notes()).not.toContain('dropped')
    leader.stepDown()
    await leader.over
  })
})

describe('a leader that lost its connection', () => {
  it('is refused everything from then on', async () => {
    const leader = candidate()
    const leadership = await leader.elected
    await cutConnection()
    const attempts = Array.from({ length: 3 }, () => leadership.transaction(note('deposed')))
    const outcomes = await Promise.allSettled(attempts)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await expect(leadership.transaction(note('deposed'))).rejects.toThrow('was lost')
    await expect(leadership.sql`SELECT 1`).rejects.toThrow('was lost')
    expect(await notes()).not.toContain('deposed')
    leader.stepDown()
    await leader.over
  })

  it('loses the transaction that was under way', async () => {
    const leader = candidate()
    const { transaction } = await leader.elected
    const work = transaction(async (tx) => {
      await note('half')(tx)
      await cutConnection()
      await note('other half')(tx)
    })
    await expect(work).rejects.toThrow()
    expect(await notes()).not.toContain('half')
    leader.stepDown()
    await leader.over
  })

  it('is succeeded while it still believes itself in charge', async () => {
    const first = candidate()
    const deposed = await first.elected
    const second = candidate()
    await eventually(candidates).toBe(2)
    await cutConnection()
    const { transaction } = await second.elected
    await transaction(note('successor'))
    await expect(deposed.transaction(note('pretender'))).rejects.toThrow()
    expect(await notes()).toContain('successor')
    expect(await notes()).not.toContain('pretender')
    for (const one of [first, second]) one.stepDown()
    await Promise.all([first.over, second.over])
  })
})

it('passes on from a process that is killed', async () => {
  const script = fileURLToPath(new URL('leadership.fixture.ts', import.meta.url))
  const child = spawn(process.execPath, [script, database.url, lock], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const heir = candidate()
  await eventually(candidates).toBe(2)
  let isElected = false
  const elected = heir.elected.then(() => {
    isElected = true
  })
  expect(isElected).toBe(false)
  child.kill('SIGKILL')
  await elected
  expect(await holder()).toHaveLength(1)
  heir.stepDown()
  await heir.over
})
