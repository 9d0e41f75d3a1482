import { type LocalChain, startLocalChain } from '@referrer/contracts/local'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Hex, type LocalAccount, parseGwei } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { chainMigrations } from '../index.ts'
import {
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
import { handOverTransaction, withdrawTransaction } from './outbox.ts'

const chainId = 31_403
let local: LocalChain
let database: TestDatabase
let signer: LocalAccount
let running: RunningSender | undefined

beforeAll(async () => {
  ;[local, database] = await Promise.all([
    startLocalChain({ chainId, port: 0 }),
    freshDatabase([chainMigrations]),
  ])
  await local.client.setAutomine(false)
})
beforeEach(async () => {
  signer = await freshSigner(local.client)
})
afterEach(async () => {
  await running?.stop()
})
afterAll(async () => {
  await database.drop()
  await local.close()
})

function start(signers = [signer], send = fetch): RunningSender {
  const fixture = { chainId, urls: [local.rpcUrl ?? ''], database, fetch: send }
  running = startSender(fixture, { signers })
  return running
}

const gift = (changes: Parameters<typeof enqueueGift>[3] = {}) =>
  enqueueGift(database, chainId, signer, changes)
const wei = (address: Hex) => local.client.getBalance({ address })
const mine = (blocks = 1) => local.client.mine({ blocks })

async function pool() {
  const block = await local.client.getBlock({ blockTag: 'pending', includeTransactions: true })
  return block.transactions.filter(({ from }) => from === signer.address.toLowerCase())
}

describe('a transaction whose gas limit the caller knows', () => {
  it('is sent with it, and no node is asked for an estimate', async () => {
    const { id, to } = await gift({ gas: 54_321n })
    const asked: string[] = []
    start([signer], (input, init) => {
      asked.push(String(init?.body))
      return fetch(input, init)
    })
    await until(async () => (await pool()).length === 1)
    expect((await pool())[0]?.gas).toBe(54_321n)
    await mine(CONFIRMATIONS)
    await reached(database, id, 'confirmed')
    expect(await wei(to)).toBe(1n)
    expect(asked.filter((body) => body.includes('eth_estimateGas'))).toEqual([])
  })

  it('is sent although it will revert, and fails when that is final', async () => {
    const to = freshAddress()
    await local.client.setCode({ address: to, bytecode: SAYS_NO })
    const { id } = await gift({ to, value: 0n, gas: 50_000n })
    start()
    await until(async () => (await pool()).length === 1)
    await mine(CONFIRMATIONS)
    expect(await reached(database, id, 'failed')).toMatchObject({
      nonce: 0,
      reason: 'mined, but reverted: no',
    })
  })

  it('waits for funds that its limit needs', async () => {
    const { id } = await gift({ gas: 10_000_000n })
    await local.client.setBalance({ address: signer.address, value: parseGwei('1000000') })
    start()
    await until(async () => (await reached(database, id, 'enqueued')).reason !== null)
    expect((await reached(database, id, 'enqueued')).reason).toMatch(/^waits for funds: needs \d+ wei/)
  })
})

describe('an intent that is withdrawn or handed over', () => {
  it("withdrawn while the sender is about to send it is passed over, and its nonce is the next one's", async () => {
    const { id, to } = await gift()
    const next = await gift()
    const sender = await database.sql.begin(async (tx) => {
      expect(await withdrawTransaction(tx, id)).toBe(true)
      const started = start()
      // To the sender it is still in the line; giving it a nonce has to wait for this transaction.
      await started.seen('signed')
      return started
    })
    expect(await reached(database, next.id, 'sent')).toMatchObject({ nonce: 0 })
    await until(async () => (await pool()).length === 1)
    await mine(CONFIRMATIONS)
    await reached(database, next.id, 'confirmed')
    expect(await reached(database, id, 'failed')).toMatchObject({
      reason: 'withdrawn',
      nonce: null,
      hashes: [],
    })
    expect(await wei(to)).toBe(0n)
    expect(sender.events.map(({ type }) => type)).not.toContain('trouble')
  })

  it('handed to another signer while the first is about to send it is sent by the other, once', async () => {
    const { id, to } = await gift()
    const heir = await freshSigner(local.client)
    const sender = await database.sql.begin(async (tx) => {
      expect(await handOverTransaction(tx, id, { from: signer.address, to: heir.address })).toBe(true)
      const started = start([signer, heir])
      await started.seen('signed')
      return started
    })
    expect(await reached(database, id, 'sent')).toMatchObject({ from: heir.address.toLowerCase(), nonce: 0 })
    await until(async () => (await local.client.getBlock({ blockTag: 'pending' })).transactions.length === 1)
    await mine(CONFIRMATIONS)
    expect((await reached(database, id, 'confirmed')).hashes).toHaveLength(1)
    expect(await wei(to)).toBe(1n)
    expect(await local.client.getTransactionCount({ address: signer.address })).toBe(0)
    expect(sender.events.map(({ type }) => type)).not.toContain('trouble')
  })

  it('withdrawn too late takes effect', async () => {
    const { id, to } = await gift()
    start()
    await reached(database, id, 'sent')
    expect(await withdrawTransaction(database.sql, id)).toBe(false)
    await until(async () => (await pool()).length === 1)
    await mine(CONFIRMATIONS)
    await reached(database, id, 'confirmed')
    expect(await wei(to)).toBe(1n)
  })
})
