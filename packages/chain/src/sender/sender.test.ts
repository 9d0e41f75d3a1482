import { type LocalChain, startLocalChain } from '@referrer/contracts/local'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { encodeErrorResult, type Hex, type LocalAccount, parseAbi, parseEther, size } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chainMigrations } from '../index.ts'
import {
  CAP,
  CONFIRMATIONS,
  enqueueGift,
  freshAddress,
  freshSigner,
  type RunningSender,
  reached,
  SAYS_NO,
  startSender,
  until,
} from './fixture.ts'
import { senderHealth } from './outbox.ts'
import type { SenderOptions } from './sender.ts'

const chainId = 31_401
/** Takes gifts; a call with data reverts while it has none. */
const WANTS_A_GIFT = '0x3615600e5747600e5760006000fd5b00'

let local: LocalChain
let url: string
let database: TestDatabase
let signer: LocalAccount
let running: RunningSender[] = []

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
})
afterEach(async () => {
  await Promise.all(running.map((sender) => sender.stop()))
  running = []
})
afterAll(async () => {
  await database.drop()
  await local.close()
})

function start(options: Partial<SenderOptions> = {}, fetch?: typeof globalThis.fetch): RunningSender {
  const fixture = { chainId, urls: [url], database, ...(fetch ? { fetch } : {}) }
  const sender = startSender(fixture, { signers: [signer], ...options })
  running.push(sender)
  return sender
}

const gift = (changes: Parameters<typeof enqueueGift>[3] = {}) =>
  enqueueGift(database, chainId, signer, changes)
const wei = (address: Hex) => local.client.getBalance({ address: address as Hex })
const mine = (blocks = 1) => local.client.mine({ blocks })
const count = () => local.client.getTransactionCount({ address: signer.address })
const pooled = async (hash: Hex) => (await pool()).some((transaction) => transaction.hash === hash)

async function pool() {
  const block = await local.client.getBlock({ blockTag: 'pending', includeTransactions: true })
  return block.transactions.filter(({ from }) => from === signer.address.toLowerCase())
}

async function contract(bytecode: Hex): Promise<Hex> {
  const address = freshAddress()
  await local.client.setCode({ address, bytecode })
  return address
}

describe('a transaction that goes well', () => {
  it('is sent, mined and confirmed as deep as asked for, not earlier', async () => {
    const { id, to } = await gift()
    const sender = start()
    const sent = await reached(database, id, 'sent')
    expect(sent).toMatchObject({ nonce: 0, mined: null, hashes: [expect.stringMatching(/^0x/)] })
    await until(() => pooled(sent.hashes[0] ?? '0x'))
    await mine(CONFIRMATIONS - 1)
    await sender.seen('mined')
    await sender.looksAgain()
    expect(await reached(database, id, 'sent')).toMatchObject({ mined: { hash: sent.hashes[0] } })
    await mine()
    await reached(database, id, 'confirmed')
    expect(await wei(to)).toBe(1n)
  })

  it('keeps the order in which intents were enqueued, and has no more in flight than asked for', async () => {
    const gifts = []
    for (let index = 0; index < 5; index += 1) gifts.push(await gift())
    start({ maxInFlight: 2 })
    await until(async () => (await pool()).length === 2)
    const [health] = (await senderHealth(database.sql)).filter((row) => row.signer === lower(signer.address))
    expect(health).toMatchObject({ isServed: true, enqueued: 3, sent: 2, held: 0, reason: null })
    await until(async () => {
      await mine()
      return (await count()) === 5
    })
    await mine(CONFIRMATIONS)
    for (const [index, { id, to }] of gifts.entries()) {
      expect(await reached(database, id, 'confirmed')).toMatchObject({ nonce: index })
      expect(await wei(to)).toBe(1n)
    }
  })

  it('is noticed at once, without waiting for the next look', async () => {
    const sender = start({ pollIntervalMs: 3_600_000 })
    await gift()
    // By then it has read the line, and will not look again by itself.
    await sender.seen('broadcast')
    const { id } = await gift()
    await reached(database, id, 'sent')
  })

  it('may carry more than an int8 of value', async () => {
    await local.client.setBalance({ address: signer.address, value: parseEther('100') })
    const { id, to } = await gift({ value: parseEther('20') })
    start()
    await reached(database, id, 'sent')
    await until(async () => (await pool()).length === 1)
    await mine(CONFIRMATIONS)
    await reached(database, id, 'confirmed')
    expect(await wei(to)).toBe(parseEther('20'))
  })
})

describe('a sender', () => {
  it('looks often while something is not mined, and at its leisure when all is', async () => {
    const { id } = await gift()
    const sender = start({ pollIntervalMs: 3_600_000, watchIntervalMs: 1 })
    await sender.seen('broadcast')
    await sender.looksAgain()
    await mine()
    await sender.seen('mined')
    let rests = 0
    let requests = 0
    await until(() => {
      rests = sender.requests() === requests ? rests + 1 : 0
      requests = sender.requests()
      return rests === 50
    })
    await mine(CONFIRMATIONS)
    await reached(database, id, 'sent')
    await gift()
    await reached(database, id, 'confirmed')
  })
})

describe('a transaction that is stuck', () => {
  it('gets a higher fee under the same nonce, and one of the two takes effect', async () => {
    let time = Date.now()
    const { id, to } = await gift()
    start({ now: () => new Date(time), stuckAfterMs: 60_000 })
    const { hashes } = await reached(database, id, 'sent')
    await until(() => pooled(hashes[0] ?? '0x'))
    const [first] = await pool()
    time += 60_000
    await until(async () => (await pool())[0]?.hash !== first?.hash)
    const [second] = await pool()
    expect(second?.nonce).toBe(first?.nonce)
    expect(second?.maxFeePerGas).toBeGreaterThanOrEqual(((first?.maxFeePerGas ?? 0n) * 5n) / 4n)
    expect(second?.maxPriorityFeePerGas).toBeGreaterThan(first?.maxPriorityFeePerGas ?? 0n)
    await mine(CONFIRMATIONS)
    const done = await reached(database, id, 'confirmed')
    expect(done.hashes).toEqual([first?.hash, second?.hash])
    expect(done.mined?.hash).toBe(second?.hash)
    expect(await wei(to)).toBe(1n)
  })

  it('never pays more than the cap, and says that it waits for lower fees', async () => {
    let time = Date.now()
    const { id } = await gift()
    start({ now: () => new Date(time), stuckAfterMs: 60_000 })
    await reached(database, id, 'sent')
    await until(async () => {
      time += 60_000
      return (await reached(database, id, 'sent')).reason !== null
    })
    expect((await reached(database, id, 'sent')).reason).toMatch(/^waits for lower fees/)
    const [pending] = await pool()
    expect(pending?.maxFeePerGas).toBeLessThanOrEqual(CAP)
    await local.client.dropTransaction({ hash: pending?.hash ?? '0x' })
  })

  it('is given again to a node that dropped it, byte for byte', async () => {
    const { id, to } = await gift()
    const sender = start()
    const { hashes } = await reached(database, id, 'sent')
    const hash = hashes[0] ?? '0x'
    await until(() => pooled(hash))
    await local.client.dropTransaction({ hash })
    await until(() => sender.events.filter(({ type }) => type === 'broadcast').length > 1)
    await until(() => pooled(hash))
    await mine(CONFIRMATIONS)
    expect(await reached(database, id, 'confirmed')).toMatchObject({ hashes: [hash] })
    expect(await wei(to)).toBe(1n)
  })
})

describe('an intent that cannot go', () => {
  it('fails without a nonce when its simulation reverts, says why, and holds nobody up', async () => {
    const bad = await gift({ to: await contract(SAYS_NO), value: 0n })
    const good = await gift()
    start()
    expect(await reached(database, good.id, 'sent')).toMatchObject({ nonce: 0 })
    await until(async () => (await pool()).length === 1)
    await mine(CONFIRMATIONS)
    await reached(database, good.id, 'confirmed')
    expect(await reached(database, bad.id, 'failed')).toMatchObject({
      nonce: null,
      hashes: [],
      reason: 'reverted: no',
    })
  })

  it('is not failed for depending on one that is still in flight', async () => {
    const to = await contract(WANTS_A_GIFT)
    const first = await gift({ to })
    const second = await gift({ to, value: 0n, data: '0x01' })
    const sender = start({}, blindToItsPool)
    await reached(database, first.id, 'sent')
    await until(async () => (await reached(database, second.id, 'enqueued')).reason !== null)
    await sender.looksAgain()
    await reached(database, second.id, 'enqueued')
    await mine(CONFIRMATIONS)
    await reached(database, second.id, 'sent')
    await until(async () => (await pool()).length === 1)
    await mine(CONFIRMATIONS)
    await reached(database, second.id, 'confirmed')
  })

  it('waits for funds, says so, and goes when they come', async () => {
    await local.client.setBalance({ address: signer.address, value: 1_000n })
    const { id } = await gift()
    start()
    await until(async () => (await reached(database, id, 'enqueued')).reason !== null)
    expect((await reached(database, id, 'enqueued')).reason).toMatch(
      new RegExp(`^waits for funds: needs \\d+ wei, ${signer.address} has 1000 left`),
    )
    await local.client.setBalance({ address: signer.address, value: parseEther('1') })
    await reached(database, id, 'sent')
  })

  it('tells once that its account lacks gas, and goes on as soon as it has some, however long until the next trial', async () => {
    await local.client.setBalance({ address: signer.address, value: 1_000n })
    const gifts = await Promise.all(Array.from({ length: 20 }, () => gift()))
    const sender = start({ retryAfterMs: 3_600_000, maxInFlight: 32 })
    const waiting = async () =>
      (await Promise.all(gifts.map(({ id }) => reached(database, id, 'enqueued')))).map(
        ({ reason }) => reason,
      )
    await until(async () => (await waiting()).every((reason) => reason?.startsWith('waits for funds')))
    await local.client.setBalance({ address: signer.address, value: 2_000n })
    await sender.looksAgain()
    const told = (type: string) => sender.events.filter((event) => event.type === type)
    expect(told('unfunded')).toMatchObject([
      { reason: expect.stringMatching(/^waits for funds: needs \d+ wei/) },
    ])
    expect(told('waiting')).toMatchObject(gifts.map(() => ({ lacksFunds: true })))
    expect(told('funded')).toEqual([])

    await local.client.setBalance({ address: signer.address, value: parseEther('1') })
    for (const { id } of gifts) await reached(database, id, 'sent')
    await sender.seen('funded')
    expect(told('unfunded')).toHaveLength(1)
    await mine(CONFIRMATIONS)
    for (const { id } of gifts) await reached(database, id, 'confirmed')
  })

  it('names the error of the contract, with what it carries, and tells no bytes of one that it does not know', async () => {
    const to = freshAddress()
    const errors = parseAbi(['error WindowOpen(uint256 windowEnd, uint256 timestamp)'])
    const data = encodeErrorResult({ abi: errors, errorName: 'WindowOpen', args: [70n, 60n] })
    await local.client.setCode({ address: to, bytecode: reverting(data) })
    const known = await gift({ to, value: 0n })
    const other = await freshSigner(local.client)
    const unknown = await enqueueGift(database, chainId, other, { to, value: 0n })
    start({ errors })
    start({ signers: [other] })
    expect((await reached(database, known.id, 'failed')).reason).toBe(
      'reverted with WindowOpen(windowEnd 70, timestamp 60)',
    )
    expect((await reached(database, unknown.id, 'failed')).reason).toBe(
      'reverted with an error that none of the known contracts declares',
    )
  })

  it('waits while the base fee is above the cap', async () => {
    const { id } = await gift()
    start({ maxFeePerGas: 1n })
    await until(async () => (await reached(database, id, 'enqueued')).reason !== null)
    expect((await reached(database, id, 'enqueued')).reason).toMatch(/^waits for a lower base fee/)
  })

  it('stays in the line and in sight when nobody has its key', async () => {
    const stranger = await freshSigner(local.client)
    const { id } = await enqueueGift(database, chainId, stranger)
    const { id: ours } = await gift()
    start()
    await reached(database, ours, 'sent')
    await reached(database, id, 'enqueued')
    const health = await senderHealth(database.sql)
    expect(health.find((row) => row.signer === lower(stranger.address))).toMatchObject({
      isServed: false,
      enqueued: 1,
      sent: 0,
    })
  })
})

describe('a transaction that reverts on the chain', () => {
  it('fails once that is final, with its reason, and leaves no gap', async () => {
    const to = freshAddress()
    const bad = await gift({ to, value: 0n })
    const good = await gift()
    start()
    await reached(database, bad.id, 'sent')
    await reached(database, good.id, 'sent')
    await until(async () => (await pool()).length === 2)
    await local.client.setCode({ address: to, bytecode: SAYS_NO })
    await mine(CONFIRMATIONS)
    expect(await reached(database, bad.id, 'failed')).toMatchObject({
      nonce: 0,
      reason: 'mined, but reverted: no',
    })
    expect(await reached(database, good.id, 'confirmed')).toMatchObject({ nonce: 1 })
  })
})

/** Copies what follows it into memory, and reverts with that. */
function reverting(data: Hex): Hex {
  const length = size(data).toString(16).padStart(2, '0')
  return `0x60${length}600c60003960${length}6000fd${data.slice(2)}`
}

const lower = (address: string) => address.toLowerCase()

/** A node that simulates on the latest block, without what waits in its pool. */
const blindToItsPool: typeof fetch = (input, init) => {
  const body = String(init?.body).replace(/("eth_estimateGas","params":\[\{[^}]*\})/, '$1,"latest"')
  return fetch(input, { ...init, body })
}
