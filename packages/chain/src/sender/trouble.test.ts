import { type LocalChain, startLocalChain } from '@referrer/contracts/local'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Hex, type LocalAccount, parseGwei } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chainMigrations } from '../index.ts'
import { type FaultProxy, type FaultRates, seeded, startFaultProxy } from '../testing/index.ts'
import {
  CONFIRMATIONS,
  enqueueGift,
  freshAddress,
  freshSigner,
  type RunningSender,
  reached,
  startSender,
  until,
} from './fixture.ts'
import { signerLock } from './outbox.ts'
import type { SenderOptions } from './sender.ts'

const chainId = 31_402
let local: LocalChain
let url: string
let database: TestDatabase
let signer: LocalAccount
let running: RunningSender[] = []
let proxies: FaultProxy[] = []
/** Other than now: every test sees to its own passing of time. */
let time: number

beforeAll(async () => {
  ;[local, database] = await Promise.all([
    startLocalChain({ chainId, port: 0 }),
    freshDatabase([chainMigrations]),
  ])
  url = local.rpcUrl ?? ''
  await local.client.setAutomine(false)
})
beforeEach(async () => {
  signer = await freshSigner(local.client)
  await mine()
  time = Date.now()
})
afterEach(async () => {
  await Promise.all([...running, ...proxies].map((item) => ('stop' in item ? item.stop() : item.close())))
  running = []
  proxies = []
})
afterAll(async () => {
  await database.drop()
  await local.close()
})

interface StartOptions extends Partial<SenderOptions> {
  urls?: string[]
  fetch?: typeof fetch
  rpcTimeoutMs?: number
}

function start({
  urls = [url],
  fetch: send = fetch,
  rpcTimeoutMs = 20_000,
  ...options
}: StartOptions = {}): RunningSender {
  const fixture = { chainId, urls, database, fetch: send, rpcTimeoutMs }
  const clock = { now: () => new Date(time), stuckAfterMs: 60_000 }
  const sender = startSender(fixture, { signers: [signer], ...clock, ...options })
  running.push(sender)
  return sender
}

async function faulty(faults: FaultRates): Promise<FaultProxy> {
  const proxy = await startFaultProxy({ target: url, random: seeded(1), faults })
  proxies.push(proxy)
  return proxy
}

const gift = () => enqueueGift(database, chainId, signer)
const wei = (address: Hex) => local.client.getBalance({ address })
const mine = (blocks = 1) => local.client.mine({ blocks })
const count = () => local.client.getTransactionCount({ address: signer.address })
const pooled = () =>
  until(async () => {
    const block = await local.client.getBlock({ blockTag: 'pending', includeTransactions: true })
    return block.transactions.some(({ from }) => from === signer.address.toLowerCase())
  })

/** The key is used by a program that is none of ours. */
async function sendForeign(nonce: number): Promise<void> {
  const serializedTransaction = await signer.signTransaction({
    type: 'eip1559',
    chainId,
    nonce,
    to: freshAddress(),
    gas: 21_000n,
    maxFeePerGas: parseGwei('50'),
    maxPriorityFeePerGas: parseGwei('5'),
  })
  await local.client.sendRawTransaction({ serializedTransaction })
}

it('says that trouble is over although there is nothing to send', async () => {
  let isDown = true
  const sender = start({
    fetch: (input, init) => (isDown ? Promise.reject(new TypeError('down')) : fetch(input, init)),
  })
  await sender.seen('trouble')
  isDown = false
  expect(await sender.seen('recovered')).toMatchObject({ type: 'recovered' })
})

describe('a reorganisation', () => {
  it('sends again what left its block, and one effect remains', async () => {
    const { id, to } = await gift()
    const snapshot = await local.client.snapshot()
    const sender = start()
    const { hashes } = await reached(database, id, 'sent')
    await pooled()
    await mine(CONFIRMATIONS - 1)
    await sender.seen('mined')
    await local.client.revert({ id: snapshot })
    await mine(CONFIRMATIONS)
    await sender.seen('reorganised')
    await pooled()
    await mine(CONFIRMATIONS)
    expect(await reached(database, id, 'confirmed')).toMatchObject({ nonce: 0, hashes })
    expect(await wei(to)).toBe(1n)
  })

  it('brings back what was confirmed when it goes deeper than anybody thought possible', async () => {
    const { id, to } = await gift()
    const snapshot = await local.client.snapshot()
    const sender = start()
    await pooled()
    await mine(CONFIRMATIONS)
    await reached(database, id, 'confirmed')
    await local.client.revert({ id: snapshot })
    await mine(CONFIRMATIONS * 2)
    await sender.looksAgain()
    await reached(database, id, 'confirmed')
    time += 60_000
    expect(await sender.seen('gap')).toMatchObject({ nonce: 0, filledBy: 'intent' })
    await reached(database, id, 'sent')
    await pooled()
    await mine(CONFIRMATIONS)
    expect(await reached(database, id, 'confirmed')).toMatchObject({ nonce: 0 })
    expect(await wei(to)).toBe(1n)
  })
})

describe('a nonce that somebody else used', () => {
  it('is given up when that is final, not earlier, and the intent takes effect once with another', async () => {
    const proxy = await faulty({ dropTransaction: 1 })
    const { id, to } = await gift()
    const sender = start({ urls: [proxy.url] })
    await reached(database, id, 'sent')
    await sendForeign(0)
    await mine(CONFIRMATIONS - 1)
    await sender.looksAgain()
    expect(await reached(database, id, 'sent')).toMatchObject({
      nonce: 0,
      reason: expect.stringContaining('nonce 0 is used'),
    })
    await mine()
    expect(await sender.seen('nonce-lost')).toMatchObject({ intent: id, nonce: 0 })
    proxy.setFaults({})
    await pooled()
    await mine(CONFIRMATIONS)
    const done = await reached(database, id, 'confirmed')
    expect(done).toMatchObject({ nonce: 1, reason: null })
    expect(done.hashes).toHaveLength(2)
    expect(await wei(to)).toBe(1n)
    expect(await count()).toBe(2)
  })

  it('is not given up for a receipt that a node hides', async () => {
    const hiding = rewriting((method, result) => (method === 'eth_getTransactionReceipt' ? null : result))
    const { id, to } = await gift()
    const sender = start({ fetch: hiding })
    await pooled()
    await mine(CONFIRMATIONS * 2)
    await sender.looksAgain()
    expect(await reached(database, id, 'sent')).toMatchObject({ nonce: 0 })
    await sender.stop()
    start()
    expect(await reached(database, id, 'confirmed')).toMatchObject({ nonce: 0 })
    expect(await wei(to)).toBe(1n)
  })
})

describe('a nonce of which only the count says that it is used', () => {
  it('is not given up, though a node hides the receipt and tells that count of every block', async () => {
    let isMined = false
    const confused = rewriting((method, result) => {
      if (method === 'eth_getTransactionReceipt') return null
      return method === 'eth_getTransactionCount' && isMined ? '0x1' : result
    })
    const { id, to } = await gift()
    const sender = start({ fetch: confused })
    await pooled()
    await mine(CONFIRMATIONS * 2)
    isMined = true
    await sender.looksAgain()
    await mine(CONFIRMATIONS)
    await sender.looksAgain()
    await mine()
    expect(await wei(to)).toBe(1n)
    expect(await reached(database, id, 'sent')).toMatchObject({ nonce: 0 })
  })
})

describe('a gap', () => {
  it('that a lying count made is filled with transfers of nothing', async () => {
    let lies = true
    const lying = rewriting((method, result) =>
      method === 'eth_getTransactionCount' && lies ? '0x2' : result,
    )
    const { id, to } = await gift()
    const sender = start({ fetch: lying })
    await pooledOrQueued(id)
    lies = false
    await sender.looksAgain()
    time += 60_000
    await sender.seen('gap')
    await until(() => sender.events.filter(({ type }) => type === 'gap').length === 2)
    await until(async () => {
      await mine()
      return (await count()) === 3
    })
    await mine(CONFIRMATIONS)
    expect(await reached(database, id, 'confirmed')).toMatchObject({ nonce: 2 })
    expect(await wei(to)).toBe(1n)
    const fillers = await database.sql`
      SELECT state, nonce FROM sender.intents
      WHERE fills_gap AND from_address = ${Buffer.from(signer.address.slice(2), 'hex')} ORDER BY nonce`
    expect(fillers.map(({ nonce }) => nonce)).toEqual([0n, 1n])
    for (const { nonce } of fillers)
      await until(async () => {
        const [row] = await database.sql`
          SELECT state FROM sender.intents
          WHERE from_address = ${Buffer.from(signer.address.slice(2), 'hex')} AND nonce = ${nonce}`
        return row?.state === 'confirmed'
      })
  })
})

describe('nodes that are wrong', () => {
  it('cannot hasten finality by claiming blocks that do not exist', async () => {
    const proxy = await faulty({ lieAboutLatest: 1 })
    const { id } = await gift()
    const sender = start({ urls: [proxy.url] })
    await pooled()
    await mine(CONFIRMATIONS - 1)
    await sender.seen('mined')
    await sender.looksAgain()
    await reached(database, id, 'sent')
    await mine()
    await reached(database, id, 'confirmed')
  })

  it('keep an outcome open while they disagree about its block', async () => {
    const other = await startLocalChain({ chainId, port: 0 })
    try {
      await other.client.mine({ blocks: Number(await local.client.getBlockNumber()) + 20 })
      const { id } = await gift()
      const sender = start({ urls: [url, other.rpcUrl ?? ''] })
      await pooled()
      await mine(CONFIRMATIONS * 2)
      await sender.seen('mined')
      await sender.looksAgain()
      await reached(database, id, 'sent')
    } finally {
      await other.close()
    }
  })

  it('do not matter while one is right', async () => {
    const hanging = await faulty({ hang: 1 })
    const broken = await faulty({ garbage: 1 })
    const { id, to } = await gift()
    start({ urls: ['http://127.0.0.1:9', hanging.url, broken.url, url], rpcTimeoutMs: 2_000 })
    await pooled()
    await mine(CONFIRMATIONS)
    await reached(database, id, 'confirmed')
    expect(await wei(to)).toBe(1n)
  })
})

describe('several senders', () => {
  it('take turns: one sends, the next one takes over when its connection is lost', async () => {
    const first = start()
    await first.seen('active')
    const second = start()
    await until(async () => (await connections()) === 3)
    const early = await gift()
    await reached(database, early.id, 'sent')
    expect(second.events).toEqual([])
    await first.stop()
    await second.seen('active')
    const late = await gift()
    await reached(database, late.id, 'sent')
    await mineUntil(2)
    await reached(database, late.id, 'confirmed')
    for (const { to } of [early, late]) expect(await wei(to)).toBe(1n)
  })

  it('lose the right to send with their connection, and work on under a new one', async () => {
    const sender = start()
    await sender.seen('active')
    for (const _ of Array.from({ length: 3 })) {
      await gift()
      await database.sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = ${signerLock(chainId, signer.address)}`
    }
    await until(() => sender.events.filter(({ type }) => type === 'active').length > 1)
    await mineUntil(3)
    expect(await count()).toBe(3)
  })
})

/** Two of whoever holds the signer's lock, one of whoever waits for it. */
async function connections(): Promise<number> {
  const rows = await database.sql`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = ${signerLock(chainId, signer.address)}`
  return rows.length
}

async function mineUntil(transactions: number): Promise<void> {
  await until(async () => {
    await mine()
    return (await count()) === transactions
  })
  await mine(CONFIRMATIONS)
}

async function pooledOrQueued(id: bigint): Promise<void> {
  const { hashes } = await reached(database, id, 'sent')
  await until(async () => {
    const hash = hashes[0]
    return hash !== undefined && (await local.client.getTransaction({ hash }).catch(() => null)) !== null
  })
}

/** A node whose answers are changed on the way. */
function rewriting(change: (method: string, result: unknown) => unknown): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const calls: { method: string } | { method: string }[] = JSON.parse(String(init?.body))
    const answer: { result?: unknown } | { result?: unknown }[] = JSON.parse(await response.text())
    const changed = [answer].flat().map((item, at) => {
      const method = [calls].flat()[at]?.method ?? ''
      return 'result' in item ? { ...item, result: change(method, item.result) } : item
    })
    return new Response(JSON.stringify(Array.isArray(answer) ? changed : changed[0]))
  }
}
