import type { Hash, LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { cancellation, type Deed, inOneBatch, send, submission } from './acts.ts'
import { type Books, openBooks } from './books.ts'

const CONFIRMATIONS = 3
let m: TestFacilitator
let books: Books

beforeAll(async () => {
  m = await startTestFacilitator({ confirmations: CONFIRMATIONS })
  books = await openBooks(m)
})
afterAll(() => m?.close())

const settle = async (body: Body) => (await m.settle(body)).body
const standing = async ({ paymentPayload }: Body) => {
  const { from, nonce } = paymentPayload.payload.authorization
  return (await m.call('GET', `/settlements/${from}/${nonce}`)).body
}

/** The blocks in which these were settled are replaced by as many; in the first somebody did this, if anybody did anything. */
async function reorganise(
  bodies: Body[],
  { deed, isDown = false }: { deed?: Deed; isDown?: boolean } = {},
): Promise<Hash[]> {
  const { client } = m.chain
  const height = await client.getBlockNumber()
  const before = await client.snapshot()
  // Alone in their blocks, the first of three would be final already.
  const answers =
    bodies.length > 1
      ? await inOneBatch(m, bodies.length, (settle) => Promise.all(bodies.map(settle)))
      : await Promise.all(bodies.map(settle))
  for (const answer of answers) expect(answer).toMatchObject({ success: true })
  if (isDown) await m.facilitator.stop()
  m.nodes.intercept = (call) => (call.includes('eth_sendRawTransaction') ? 'refuse' : 'pass')
  await client.setAutomine(false)
  const blocks = Number((await client.getBlockNumber()) - height)
  try {
    await client.revert({ id: before })
    if (deed) await send(m, deed)
    await client.mine({ blocks })
    if (isDown) await m.restart()
    for (const body of bodies) await eventually(async () => (await standing(body)).status).toBe('pending')
    for (const body of bodies) expect(await standing(body)).toMatchObject({ transaction: null })
  } finally {
    m.nodes.intercept = undefined
    await client.setAutomine(true)
  }
  return answers.map(({ transaction }) => transaction)
}

async function payment(): Promise<{ buyer: LocalAccount; body: Body }> {
  const buyer = await m.newBuyer(2n * PRICE)
  return { buyer, body: await m.payload(buyer) }
}

async function makeFinal(): Promise<void> {
  await m.chain.client.mine({ blocks: CONFIRMATIONS })
  await eventually(async () => {
    const [row] = await m.sql<{ open: number }[]>`
      SELECT count(*)::int AS open FROM facilitator.settlements WHERE NOT is_final`
    return row?.open
  }).toBe(0)
}

describe('a settlement whose block is gone', () => {
  it('is open again, and ends settled once by the same transaction', async () => {
    const { buyer, body } = await payment()
    const [transaction] = await reorganise([body])
    await eventually(() => standing(body)).toMatchObject({ status: 'settled', transaction })
    expect(await m.balanceOf(buyer.address)).toBe(PRICE)
    await makeFinal()
    expect(await settle(body)).toMatchObject({
      success: false,
      errorMessage: 'authorization already used',
      transaction,
    })
    await books.audit()
  })

  it('is open again too when no process ran at that time', async () => {
    const { body } = await payment()
    const [transaction] = await reorganise([body], { isDown: true })
    await eventually(() => standing(body)).toMatchObject({ status: 'settled', transaction })
    await makeFinal()
    await books.audit()
  })

  it('is open again with the others of its batch', async () => {
    const bodies = [(await payment()).body, (await payment()).body, (await payment()).body]
    await reorganise(bodies)
    for (const body of bodies) await eventually(async () => (await standing(body)).status).toBe('settled')
    await makeFinal()
    await books.audit()
  })

  it('fails when its payer has cancelled it in the block that came instead', async () => {
    const { buyer, body } = await payment()
    await reorganise([body], { deed: await cancellation(m, buyer, body) })
    await m.chain.client.mine({ blocks: CONFIRMATIONS })
    await eventually(() => standing(body)).toMatchObject({ status: 'failed', transaction: null })
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    expect(await settle(body)).toMatchObject({ success: false, errorReason: 'invalid_payment' })
    await makeFinal()
    await books.audit({ reverted: 1 })
  })

  it('is finished on request when somebody else has submitted the transfer in the block that came instead', async () => {
    const { buyer, body } = await payment()
    await reorganise([body], { deed: submission(m, body) })
    await eventually(() => standing(body)).toMatchObject({
      status: 'pending',
      message: expect.stringContaining('send the same payment again'),
    })
    await books.audit({ reverted: 1, left: [{ payer: buyer.address, amount: PRICE }] })
    await m.chain.client.mine({ blocks: CONFIRMATIONS })
    expect(await settle(body)).toMatchObject({ success: true })
    await makeFinal()
    await books.audit()
  })
})

it('a transfer that somebody else has submitted is built on when it is deep enough', async () => {
  const { body } = await payment()
  await send(m, submission(m, body))
  const settling = settle(body)
  const { nonce } = body.paymentPayload.payload.authorization
  const isAskedFor = () => m.nodes.calls.some((call) => call.includes('eth_getLogs') && call.includes(nonce))
  await eventually(isAskedFor).toBe(true)
  expect(await m.sql`SELECT FROM facilitator.settlements WHERE NOT is_final`).toHaveLength(0)
  await m.chain.client.mine({ blocks: CONFIRMATIONS - 1 })
  expect(await settling).toMatchObject({ success: true })
  await makeFinal()
  await books.audit()
})
