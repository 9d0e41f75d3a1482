import { type LocalChain, startLocalChain } from '@referrer/contracts/local'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type LocalAccount, parseGwei } from 'viem'
import { toAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { chainMigrations } from '../index.ts'
import {
  CONFIRMATIONS,
  enqueueGift,
  freshSigner,
  type RunningSender,
  reached,
  startSender,
  until,
} from './fixture.ts'
import { readTransaction } from './outbox.ts'

const chainId = 31_409
const REASON = 'waits for its signer, which does not sign'
let local: LocalChain
let database: TestDatabase
let signer: LocalAccount
let isAway: boolean
let sender: RunningSender | undefined
let aheadMs: number

beforeAll(async () => {
  ;[local, database] = await Promise.all([
    startLocalChain({ chainId, port: 0 }),
    freshDatabase([chainMigrations]),
  ])
  await local.client.setAutomine(false)
})
beforeEach(async () => {
  isAway = false
  aheadMs = 0
  const inner = await freshSigner(local.client)
  signer = toAccount({
    address: inner.address,
    signMessage: (message) => inner.signMessage(message),
    signTypedData: (data) => inner.signTypedData(data),
    async signTransaction(transaction, options) {
      if (isAway) throw new Error('nobody answers')
      return inner.signTransaction(transaction, options)
    },
  })
})
afterEach(() => sender?.stop())
afterAll(async () => {
  await database.drop()
  await local.close()
})

const start = () => {
  sender = startSender(
    { chainId, urls: [local.rpcUrl ?? ''], database },
    { signers: [signer], now: () => new Date(Date.now() + aheadMs), stuckAfterMs: 60_000 },
  )
  return sender
}
const gift = () => enqueueGift(database, chainId, signer)
const mine = async (blocks = 1) => {
  for (let block = 0; block < blocks; block += 1) await local.client.mine({ blocks: 1 })
}
const counted = () => local.client.getTransactionCount({ address: signer.address, blockTag: 'latest' })
const reasonOf = async (id: bigint) => (await readTransaction(database.sql, { id }))?.reason

it('while its signer is away, transactions wait without a nonce, what was sent before is followed to its end, and all are sent once when it is back', async () => {
  const { events, seen } = start()
  const before = await gift()
  await reached(database, before.id, 'sent')
  isAway = true
  const waiting = [await gift(), await gift(), await gift()]
  const trouble = await seen('trouble')
  expect(trouble).toMatchObject({ error: { message: `${signer.address} cannot sign: nobody answers` } })
  expect(await reasonOf((waiting[0] as { id: bigint }).id)).toBe(REASON)
  await mine(CONFIRMATIONS)
  await reached(database, before.id, 'confirmed')
  // Between the attempts to sign nothing works again.
  expect(events.map(({ type }) => type)).not.toContain('recovered')
  expect(await readTransaction(database.sql, { id: (waiting[0] as { id: bigint }).id })).toMatchObject({
    state: 'enqueued',
    nonce: null,
    hashes: [],
  })

  isAway = false
  for (const { id } of waiting) await reached(database, id, 'sent')
  await seen('recovered')
  await mine(CONFIRMATIONS)
  for (const { id } of waiting) await reached(database, id, 'confirmed')
  expect(await counted()).toBe(4)
  for (const { to } of [before, ...waiting]) expect(await local.client.getBalance({ address: to })).toBe(1n)
})

it('a transaction whose fee cannot be raised because its signer is away stays in flight, and is raised when it is back', async () => {
  const { seen } = start()
  const { id } = await gift()
  await reached(database, id, 'sent')
  isAway = true
  await local.client.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('20') })
  await local.client.dropTransaction({
    hash: (await readTransaction(database.sql, { id }))?.hashes[0] ?? '0x',
  })
  await mine()
  aheadMs = 61_000
  await seen('trouble')
  await until(async () => (await reasonOf(id)) === REASON)
  expect((await readTransaction(database.sql, { id }))?.hashes).toHaveLength(1)
  isAway = false
  await until(async () => (await readTransaction(database.sql, { id }))?.hashes.length === 2)
  await until(async () => (await reasonOf(id)) === null)
  await mine(CONFIRMATIONS)
  await reached(database, id, 'confirmed')
  expect(await counted()).toBe(1)
})
