import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Books, openBooks } from '../abuse/books.ts'
import { eventually } from '../eventually.ts'
import { startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { expectNothingOpen, nextPurchase, passSeconds, toldBy } from './world.ts'

let m: TestFacilitator
let books: Books

beforeAll(async () => {
  m = await startTestFacilitator({ chainId: 31_472, buyers: 12 })
  books = await openBooks(m)
})
afterEach(async () => {
  m.nodes.intercept = undefined
  m.node.setFaults({})
  vi.restoreAllMocks()
  await m.chain.client.setAutomine(true)
})
afterAll(() => m?.close())

const UNSENT = { success: false, errorReason: 'settle_failed', transaction: '', retryable: true }
const isTrial = (call: string) => call.includes('"eth_call"') && JSON.parse(call).params?.length === 3
const isBroadcast = (call: string) => call.includes('"eth_sendRawTransaction"')
const isReceipt = (call: string) => call.includes('"eth_getTransactionReceipt"')

const standing = async (path: string) => (await m.call('GET', path)).body
const broadcasts = () => toldBy(m, 'broadcast')

/** The payment is settled in a transaction that a repetition tells of, and everybody has what is theirs. */
async function expectSettledOnce(answer: { body: unknown }, body: Body, path: string): Promise<void> {
  expect(answer.body).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
  const { transaction } = answer.body as { transaction: string }
  expect(await standing(path)).toMatchObject({ status: 'settled', transaction })
  expect((await m.settle(body)).body).toMatchObject({
    errorReason: 'invalid_payment',
    errorMessage: 'authorization already used',
    transaction,
  })
  await expectNothingOpen(m)
  await books.audit()
}

describe('a node that dies between the sending and the receipt', () => {
  it('with the answer to the sending lost, costs nothing but time', async () => {
    let lost = 0
    m.nodes.intercept = (call) => (isBroadcast(call) && lost++ < 2 ? 'lose' : 'pass')
    const { body, path } = await nextPurchase(m)
    await expectSettledOnce(await m.settle(body), body, path)
    expect(lost).toBeGreaterThan(0)
  })

  it('with the sending lost, is sent the same transaction again', async () => {
    let lost = 0
    m.nodes.intercept = (call) => (isBroadcast(call) && lost++ < 2 ? 'refuse' : 'pass')
    const { body, path } = await nextPurchase(m)
    await expectSettledOnce(await m.settle(body), body, path)
    expect(lost).toBeGreaterThan(2)
  })

  it('with what it took forgotten, is sent the same transaction again', async () => {
    m.node.setFaults({ dropTransaction: 1 })
    const { body, path } = await nextPurchase(m)
    const settling = m.settle(body)
    await eventually(() => m.node.counts.dropTransaction).toBeGreaterThan(0)
    m.node.setFaults({})
    await expectSettledOnce(await settling, body, path)
  })

  it('and gives no receipts, leaves the payment pending until it does', async () => {
    let refused = 0
    m.nodes.intercept = (call) => {
      if (!isReceipt(call)) return 'pass'
      refused += 1
      return 'refuse'
    }
    const { body, path } = await nextPurchase(m)
    const settling = m.settle(body)
    await eventually(() => refused).toBeGreaterThan(2)
    expect(await standing(path)).toMatchObject({ status: 'pending', transaction: null })
    m.nodes.intercept = undefined
    await expectSettledOnce(await settling, body, path)
  })

  it('and is away for longer than a payment may wait to be sent, has settled what it was sent', async () => {
    await m.chain.client.setAutomine(false)
    const { body, path } = await nextPurchase(m)
    const before = broadcasts()
    const settling = m.settle(body)
    await eventually(broadcasts).toBeGreaterThan(before)
    let refused = 0
    m.nodes.intercept = () => {
      refused += 1
      return 'refuse'
    }
    await m.chain.client.mine({ blocks: 1 })
    await m.chain.client.setAutomine(true)
    passSeconds(20)
    const already = refused
    await eventually(() => refused).toBeGreaterThan(already + 3)
    expect(await standing(path)).toMatchObject({ status: 'pending' })
    m.nodes.intercept = undefined
    await expectSettledOnce(await settling, body, path)
  })
})

describe('when no node can be reached', () => {
  it('a payment that has not been tried out is refused, can be repeated, and nothing is sent [FAC-38]', async () => {
    const { body, path } = await nextPurchase(m)
    m.node.setFaults({ reset: 1 })
    const { status, body: answer } = await m.settle(body)
    expect(status).toBe(200)
    expect(answer).toMatchObject(UNSENT)
    expect(answer).not.toHaveProperty('pending')
    m.node.setFaults({})
    expect(await standing(path)).toMatchObject({ status: 'unknown', transaction: null })
    await books.audit()
    await expectSettledOnce(await m.settle(body), body, path)
  })

  it('a payment that was tried out is taken back in time, and is not sent when they are back [FAC-38]', async () => {
    const { body, path } = await nextPurchase(m)
    m.nodes.intercept = (call) => (isTrial(call) ? 'pass' : 'refuse')
    const before = broadcasts()
    const written = () => m.events.filter(({ type }) => type === 'sending').length
    const already = written()
    const settling = m.settle(body)
    await eventually(written).toBe(already + 1)
    expect(await standing(path)).toMatchObject({ status: 'pending', transaction: null })
    passSeconds(16)
    expect((await settling).body).toMatchObject({
      ...UNSENT,
      errorMessage: expect.stringMatching(/^not sent: .*; send the same payment again$/),
    })
    // Somebody else may have moved the money: only the chain can tell.
    expect((await m.call('GET', path)).status).toBe(503)
    m.nodes.intercept = undefined
    expect(await standing(path)).toMatchObject({
      status: 'unknown',
      transaction: null,
      message: expect.any(String),
    })
    // The sender is at work again: it sends the next one, and not this.
    const next = await nextPurchase(m)
    expect((await m.settle(next.body)).body).toMatchObject({ success: true })
    expect(broadcasts()).toBe(before + 1)
    await books.audit()
    await expectSettledOnce(await m.settle(body), body, path)
  })
})
