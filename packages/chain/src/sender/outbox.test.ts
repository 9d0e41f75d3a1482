import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Hex, hexToBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chainMigrations } from '../index.ts'
import { freshAddress } from './fixture.ts'
import {
  enqueueTransaction,
  handOverTransaction,
  readTransaction,
  releaseKey,
  senderHealth,
  withdrawTransaction,
} from './outbox.ts'

let database: TestDatabase
const request = {
  chainId: 1,
  from: freshAddress(),
  to: freshAddress(),
  data: '0xAB',
  value: 5n,
  key: 'first',
  label: 'a test',
} as const

beforeAll(async () => {
  database = await freshDatabase([chainMigrations])
})
afterAll(() => database.drop())

describe('enqueueing', () => {
  it('keeps what was asked for, readable by id and by key', async () => {
    const id = await enqueueTransaction(database.sql, request)
    const status = await readTransaction(database.sql, { id })
    expect(status).toMatchObject({
      chainId: 1,
      key: 'first',
      label: 'a test',
      from: request.from.toLowerCase(),
      to: request.to.toLowerCase(),
      data: '0xab',
      value: 5n,
      state: 'enqueued',
      nonce: null,
      hashes: [],
      mined: null,
      reason: null,
    })
    expect(await readTransaction(database.sql, { chainId: 1, key: 'first' })).toEqual(status)
    expect(await readTransaction(database.sql, { chainId: 2, key: 'first' })).toBeUndefined()
  })

  it('is the same intent when it is repeated, and another one on another chain', async () => {
    const id = await enqueueTransaction(database.sql, { ...request, key: 'again' })
    expect(await enqueueTransaction(database.sql, { ...request, key: 'again' })).toBe(id)
    expect(await enqueueTransaction(database.sql, { ...request, key: 'again', chainId: 2 })).not.toBe(id)
  })

  it('is the same intent whatever gas limit a repeat has: the first counts', async () => {
    const id = await enqueueTransaction(database.sql, { ...request, key: 'with gas', gas: 50_000n })
    expect(await enqueueTransaction(database.sql, { ...request, key: 'with gas', gas: 60_000n })).toBe(id)
    expect(await enqueueTransaction(database.sql, { ...request, key: 'with gas' })).toBe(id)
    expect(await database.sql`SELECT known_gas FROM sender.intents WHERE id = ${id}`).toEqual([
      { known_gas: 50_000n },
    ])
  })

  const others = { to: freshAddress(), from: freshAddress(), data: '0xac', value: 6n } as const

  it.each(['to', 'from', 'data', 'value'] as const)('refuses a known key with another %s', async (part) => {
    const known = { ...request, key: `with another ${part}` }
    await enqueueTransaction(database.sql, known)
    const changed = { ...known, [part]: others[part] }
    await expect(enqueueTransaction(database.sql, changed)).rejects.toThrow('give this one a key of its own')
  })

  it.each(['0xabc', '0xabzz', 'ab'])('refuses %s as data, of which a part would be lost', async (data) => {
    const broken = { ...request, key: `with ${data}`, data: data as Hex }
    await expect(enqueueTransaction(database.sql, broken)).rejects.toThrow('encode the call again')
    expect(await readTransaction(database.sql, broken)).toBeUndefined()
  })

  it('leaves nothing behind when the transaction around it is rolled back', async () => {
    const undone = database.sql.begin(async (tx) => {
      await enqueueTransaction(tx, { ...request, key: 'undone' })
      throw new Error('the state change did not happen')
    })
    await expect(undone).rejects.toThrow('did not happen')
    expect(await readTransaction(database.sql, { chainId: 1, key: 'undone' })).toBeUndefined()
  })

  it('by several at once makes one intent', async () => {
    const enqueue = () => database.sql.begin((tx) => enqueueTransaction(tx, { ...request, key: 'raced' }))
    const ids = await Promise.all(Array.from({ length: 5 }, enqueue))
    expect(new Set(ids).size).toBe(1)
  })
})

const enqueue = (key: string) => enqueueTransaction(database.sql, { ...request, key })

describe('withdrawing', () => {
  it('fails what is in the line, once and for good', async () => {
    const id = await enqueue('withdrawn')
    expect(await withdrawTransaction(database.sql, id)).toBe(true)
    expect(await readTransaction(database.sql, { id })).toMatchObject({
      state: 'failed',
      reason: 'withdrawn',
      nonce: null,
      hashes: [],
    })
    expect(await withdrawTransaction(database.sql, id)).toBe(false)
    expect(await enqueue('withdrawn')).toBe(id)
    expect(await readTransaction(database.sql, { id })).toMatchObject({ state: 'failed' })
  })

  it('leaves the key to another intent, once it is released', async () => {
    const id = await enqueue('released')
    expect(await releaseKey(database.sql, id)).toBe(false)
    await withdrawTransaction(database.sql, id)
    expect(await releaseKey(database.sql, id)).toBe(true)
    const next = await enqueue('released')
    expect(next).not.toBe(id)
    expect(await readTransaction(database.sql, { id })).toMatchObject({ state: 'failed' })
    expect(await readTransaction(database.sql, { id: next })).toMatchObject({ state: 'enqueued' })
  })

  it('does not release the key of what was signed', async () => {
    const id = await enqueue('signed')
    await database.sql`
      INSERT INTO sender.transactions (hash, intent_id, chain_id, from_address, nonce, raw, max_fee_per_gas,
        max_priority_fee_per_gas, signed_at)
      VALUES (${hexToBytes(`0x${'5e'.repeat(32)}`)}, ${id}, 1, ${hexToBytes(request.from)}, 77, ${hexToBytes('0x00')}, 1, 1, now())`
    await withdrawTransaction(database.sql, id)
    expect(await releaseKey(database.sql, id)).toBe(false)
    expect(await enqueue('signed')).toBe(id)
  })

  it.each(['sent', 'confirmed'])('leaves what is %s as it is', async (state) => {
    const id = await enqueue(`not to withdraw: ${state}`)
    await database.sql`
      UPDATE sender.intents SET state = ${state}, nonce = ${id}, gas = 21000 WHERE id = ${id}`
    expect(await withdrawTransaction(database.sql, id)).toBe(false)
    expect(await readTransaction(database.sql, { id })).toMatchObject({ state, reason: null })
  })

  it('is undone with the transaction around it', async () => {
    const id = await enqueue('withdrawn in vain')
    const undone = database.sql.begin(async (tx) => {
      expect(await withdrawTransaction(tx, id)).toBe(true)
      throw new Error('the state change did not happen')
    })
    await expect(undone).rejects.toThrow('did not happen')
    expect(await readTransaction(database.sql, { id })).toMatchObject({ state: 'enqueued', reason: null })
  })
})

describe('handing over', () => {
  it('takes what is in the line of one signer to the line of another, as new, and only from the first', async () => {
    const id = await enqueue('handed over')
    await database.sql`UPDATE sender.intents SET reason = 'waits', retry_at = 'infinity' WHERE id = ${id}`
    const [to, stranger] = [freshAddress(), freshAddress()]
    expect(await handOverTransaction(database.sql, id, { from: stranger, to })).toBe(false)
    expect(await handOverTransaction(database.sql, id, { from: request.from, to })).toBe(true)
    expect(await readTransaction(database.sql, { id })).toMatchObject({
      state: 'enqueued',
      from: to.toLowerCase(),
      reason: null,
    })
    const [row] = await database.sql`SELECT retry_at <= now() AS "isDue" FROM sender.intents WHERE id = ${id}`
    expect(row).toEqual({ isDue: true })
    expect(await handOverTransaction(database.sql, id, { from: request.from, to: stranger })).toBe(false)
  })

  it('leaves what has a nonce to whoever sent it', async () => {
    const id = await enqueue('sent already')
    await database.sql`UPDATE sender.intents SET state = 'sent', nonce = ${id}, gas = 21000 WHERE id = ${id}`
    const move = { from: request.from, to: freshAddress() }
    expect(await handOverTransaction(database.sql, id, move)).toBe(false)
    expect(await readTransaction(database.sql, { id })).toMatchObject({ from: request.from.toLowerCase() })
  })
})

describe('health', () => {
  it('tells for each signer what is open, since when, and that nobody serves it', async () => {
    const from = freshAddress()
    await enqueueTransaction(database.sql, { ...request, from, key: 'unserved' })
    const health = await senderHealth(database.sql)
    expect(health.find(({ signer }) => signer === from.toLowerCase())).toEqual({
      chainId: 1,
      signer: from.toLowerCase(),
      isServed: false,
      enqueued: 1,
      sent: 0,
      held: 0,
      reason: null,
      oldestEnqueuedAt: expect.any(Date),
      oldestSentAt: null,
    })
  })
})

describe('what is open', () => {
  it('is found through its index, however much was sent before', async () => {
    const from = freshAddress()
    await database.sql`
      INSERT INTO sender.intents (chain_id, key, from_address, to_address, data, value, state, nonce)
      SELECT 3, 'old ' || n, ${hexToBytes(from)}, ${hexToBytes(from)}, '', 0, 'confirmed', n
      FROM generate_series(1, 20000) n`
    await database.sql`ANALYZE sender.intents`
    const plans = [
      database.sql`
        EXPLAIN SELECT id FROM sender.intents WHERE chain_id = 3 AND from_address = ${hexToBytes(from)}
          AND state = 'enqueued' AND retry_at <= now() ORDER BY id LIMIT 16`,
      database.sql`
        EXPLAIN SELECT id FROM sender.intents WHERE chain_id = 3 AND from_address = ${hexToBytes(from)}
          AND state = 'sent' ORDER BY nonce`,
      database.sql`EXPLAIN SELECT count(*) FROM sender.intents WHERE state IN ('enqueued', 'sent')`,
    ]
    for (const rows of await Promise.all(plans)) expect(JSON.stringify(rows)).toContain('intents_open')
  })
})
