import { type KillablePostgres, startKillablePostgres } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Books, openBooks } from '../abuse/books.ts'
import { eventually } from '../eventually.ts'
import { startTestFacilitator, type TestFacilitator } from '../harness.ts'
import {
  committed,
  DEADLINE_MS,
  expectNothingOpen,
  holdDeadlines,
  nextPurchase,
  type Purchase,
  toldBy,
  whileMining,
} from './world.ts'

let postgres: KillablePostgres
let m: TestFacilitator
let books: Books

beforeAll(async () => {
  postgres = await startKillablePostgres()
  m = await startTestFacilitator({
    chainId: 31_476,
    buyers: 30,
    databaseUrl: postgres.url,
    env: { ANSWER_TIMEOUT_MS: String(DEADLINE_MS) },
  })
  books = await openBooks(m)
})
afterEach(() => vi.restoreAllMocks())
afterAll(async () => {
  postgres?.thaw()
  await m?.close()
  await postgres?.remove()
})

const standing = async (path: string) => (await m.call('GET', path)).body
const isReady = () => eventually(async () => (await m.call('GET', '/readyz')).status).toBe(200)

/** However it was answered before, asking again until there is a result ends in one settlement. */
async function expectSettledOnce({ body, path }: Purchase): Promise<void> {
  await eventually(async () => {
    const { body: answer } = await m.settle(body)
    return answer.success === true || answer.errorMessage === 'authorization already used'
  }).toBe(true)
  const { status, transaction } = await standing(path)
  expect(status).toBe('settled')
  expect((await m.settle(body)).body).toMatchObject({
    errorReason: 'invalid_payment',
    errorMessage: 'authorization already used',
    transaction,
  })
}

const NOT_SETTLED = { success: false, errorReason: 'settle_failed', transaction: '' }

describe('a facilitator whose Postgres is dead', () => {
  it('sends nothing, says that the payment can be repeated, and settles it when Postgres is back [FAC-38]', async () => {
    const purchase = await nextPurchase(m)
    await postgres.kill()
    const { status, body } = await m.settle(purchase.body)
    expect(status).toBe(200)
    expect(body).toMatchObject({ ...NOT_SETTLED, retryable: true })
    expect(body).not.toHaveProperty('pending')
    expect(await m.call('GET', purchase.path)).toMatchObject({ status: 503 })
    expect((await m.call('GET', '/readyz')).status).toBe(503)
    expect((await m.call('GET', '/healthz')).status).toBe(200)
    await postgres.start()
    await isReady()
    await books.audit()
    await expectSettledOnce(purchase)
    await expectNothingOpen(m)
    await books.audit()
  })

  it('does not refuse what it has sent, and knows of it when Postgres is back', async () => {
    await m.chain.client.setAutomine(false)
    const purchase = await nextPurchase(m)
    const before = toldBy(m, 'broadcast')
    const deadlines = holdDeadlines()
    const asked = m.settle(purchase.body)
    await eventually(() => toldBy(m, 'broadcast')).toBe(before + 1)
    await postgres.kill()
    await m.chain.client.mine({ blocks: 1 })
    await m.chain.client.setAutomine(true)
    await deadlines.pass(1)
    const { body } = await asked
    expect(body).toMatchObject({ success: false, errorReason: 'settle_failed', pending: true })
    expect(body).not.toHaveProperty('retryable')
    await postgres.start()
    await eventually(async () => standing(purchase.path)).toMatchObject({ status: 'settled' })
    await expectSettledOnce(purchase)
    await expectNothingOpen(m)
    await books.audit()
  })

  it('settles each payment once when Postgres dies in the middle of many', async () => {
    const purchases = await Promise.all(Array.from({ length: 16 }, () => nextPurchase(m)))
    await m.chain.client.setAutomine(false)
    const answers: Promise<{ body: { success: boolean; retryable?: boolean; pending?: boolean } }>[] = []
    for (const [at, { body }] of purchases.entries()) {
      answers.push(m.settle(body))
      if (at === 7) await eventually(() => toldBy(m, 'stored')).toBeGreaterThan(0)
    }
    await postgres.kill()
    await postgres.start()
    const all = await whileMining(m, Promise.all(answers))
    for (const { body } of all) {
      // Whatever happened to them, nobody is told to pay anew.
      if (!body.success)
        expect(body.retryable === true || body.pending === true, JSON.stringify(body)).toBe(true)
    }
    await m.chain.client.setAutomine(true)
    await m.chain.client.mine({ blocks: 1 })
    await isReady()
    // What was sent is followed to its end by itself.
    await expectNothingOpen(m)
    for (const [at, purchase] of purchases.entries()) {
      const { status } = await standing(purchase.path)
      if (all[at]?.body.pending) expect(['settled', 'pending', 'unknown']).toContain(status)
      if (all[at]?.body.retryable) expect(['unknown', 'failed']).toContain(status)
      await expectSettledOnce(purchase)
    }
    await expectNothingOpen(m)
    await books.audit()
  })
})

describe('a facilitator that loses its connection', () => {
  it('while a payment is being written down does not say that nothing was sent', async () => {
    // One that needs no pin: the first row of it comes with its transaction.
    const purchase = await nextPurchase(m, committed())
    const admin = await m.sql.reserve()
    // A commit waits here until it is let through, or its connection is cut.
    await admin`
      CREATE FUNCTION hold_back() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$`
    await admin`
      CREATE CONSTRAINT TRIGGER hold_back AFTER INSERT ON facilitator.settlements
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold_back()`
    await admin`SELECT pg_advisory_lock(7)`
    const asked = m.settle(purchase.body)
    const committing = () => admin<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()`
    await eventually(async () => (await committing()).length).toBe(1)
    for (const { pid } of await committing()) await admin`SELECT pg_terminate_backend(${pid})`
    const { body } = await asked
    await admin`DROP FUNCTION hold_back CASCADE`
    await admin`SELECT pg_advisory_unlock(7)`
    admin.release()
    expect(body).toMatchObject({ ...NOT_SETTLED, pending: true })
    expect(body).not.toHaveProperty('retryable')
    expect(await standing(purchase.path)).toMatchObject({ status: 'unknown', transaction: null })
    await expectSettledOnce(purchase)
    await expectNothingOpen(m)
    await books.audit()
  })
})

describe('a facilitator whose Postgres does not answer', () => {
  it('answers in time that nothing was sent, and settles it once when Postgres answers again', async () => {
    const purchase = await nextPurchase(m)
    postgres.freeze()
    const deadlines = holdDeadlines()
    const settling = m.settle(purchase.body)
    await deadlines.pass(1)
    const [{ status, body }, asked] = await Promise.all([settling, m.call('GET', purchase.path)])
    expect(status).toBe(200)
    // It could not even be asked whether the payer may pay.
    expect(body).toMatchObject({ ...NOT_SETTLED, retryable: true })
    expect(body).not.toHaveProperty('pending')
    expect(asked.status).toBe(503)
    expect((await m.call('GET', '/healthz')).status).toBe(200)
    postgres.thaw()
    await isReady()
    await expectSettledOnce(purchase)
    await expectNothingOpen(m)
    await books.audit()
  })
})
