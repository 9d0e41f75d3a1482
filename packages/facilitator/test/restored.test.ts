// A facilitator whose database was lost and restored from a backup: the chain knows more than its records.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { backUp, restore } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Facilitator, migrations } from '../src/index.ts'
import { send } from './asking.ts'
import { eventually } from './eventually.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'
import type { Body } from './payloads.ts'

const directory = mkdtempSync(join(tmpdir(), 'referrer-restored-'))
const file = join(directory, 'facilitator.backup')
const RELAYED = 'eth_sendRawTransaction'

let m: TestFacilitator
let buyer: LocalAccount
let database: TestDatabase
let restored: Facilitator
/** Signed and stored when the backup was taken, and mined after it. */
let underWay: Body
/** Came and was settled after the backup. */
let later: Body
let settledIn: unknown

const statusOf = async ({ paymentPayload }: Body) => {
  const { from, nonce } = paymentPayload.payload.authorization
  return (await send(restored.url, 'GET', `/settlements/${from}/${nonce}`)).body
}
const sentBy = (address: LocalAccount['address']) => m.chain.client.getTransactionCount({ address })

beforeAll(async () => {
  m = await startTestFacilitator()
  buyer = await m.newBuyer(10n * PRICE)
  underWay = await m.payload(buyer)
  later = await m.payload(buyer)
  m.nodes.intercept = (call) => (call.includes(RELAYED) ? 'refuse' : 'pass')
  const settling = m.settle(underWay)
  while ((await m.sql`SELECT FROM sender.transactions`).length === 0) await sleep(20)
  await backUp(m.sql, file, { sets: migrations })
  m.nodes.intercept = undefined
  expect((await settling).body).toMatchObject({ success: true })
  const { body } = await m.settle(later)
  expect(body).toMatchObject({ success: true })
  settledIn = body.transaction
  await m.facilitator.stop()
  database = await freshDatabase()
  await restore(database.sql, file, { sets: migrations })
  restored = await m.startAnother({ DATABASE_URL: database.url })
})
afterAll(async () => {
  await restored?.stop()
  await database?.drop()
  await m?.close()
  rmSync(directory, { recursive: true })
})

it('learns from the chain that a payment was settled which was under way in the backup', async () => {
  await eventually(() => statusOf(underWay)).toMatchObject({ status: 'settled' })
  expect(await m.balanceOf(buyer.address)).toBe(8n * PRICE)
})

it('does not take the money again for a payment that was settled after the backup', async () => {
  const [relayer] = m.relayers
  const before = await sentBy(relayer?.address ?? '0x')
  const answer = await send(restored.url, 'POST', '/settle', { body: later })
  // Whoever missed the first answer learns the transaction.
  expect(answer.body).toMatchObject({
    success: false,
    errorMessage: 'authorization already used',
    transaction: settledIn,
  })
  expect(await m.balanceOf(buyer.address)).toBe(8n * PRICE)
  expect(await sentBy(relayer?.address ?? '0x')).toBe(before)
})

it('settles what comes next, with a nonce that the chain has not seen', async () => {
  const next = await m.payload(buyer)
  const answer = await send(restored.url, 'POST', '/settle', { body: next })
  expect(answer.body).toMatchObject({ success: true })
  expect(await m.balanceOf(buyer.address)).toBe(7n * PRICE)
})
