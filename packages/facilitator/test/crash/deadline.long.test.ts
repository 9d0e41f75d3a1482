import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Books, openBooks } from '../abuse/books.ts'
import { type Answer, send } from '../asking.ts'
import { eventually } from '../eventually.ts'
import { startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { DEADLINE_MS, expectNothingOpen, holdDeadlines, nextPurchase, toldBy } from './world.ts'

let m: TestFacilitator
let books: Books

beforeAll(async () => {
  m = await startTestFacilitator({
    chainId: 31_475,
    buyers: 8,
    env: { ANSWER_TIMEOUT_MS: String(DEADLINE_MS) },
  })
  books = await openBooks(m)
})
afterEach(() => vi.restoreAllMocks())
afterAll(() => m?.close())

const standing = async (path: string) => (await m.call('GET', path)).body

describe('when the time for an answer is over', () => {
  it('a payment that was sent is pending, names its transaction, and settles with it; one that was not is not', async () => {
    const { client } = m.chain
    // One transaction at a time: others wait for it.
    const { url, stop } = await m.startAnother({ MAX_BATCHES_IN_FLIGHT: '1' })
    const settle = (body: Body) => send(url, 'POST', '/settle', { body })
    await client.setAutomine(false)
    const sent = await nextPurchase(m)
    const waiting = await nextPurchase(m)
    const before = toldBy(m, 'broadcast')
    const deadlines = holdDeadlines()
    const asked = [settle(sent.body)]
    await eventually(() => toldBy(m, 'broadcast')).toBe(before + 1)
    asked.push(settle(sent.body), settle(waiting.body))
    await deadlines.pass(3)
    const [first, copy, behind] = (await Promise.all(asked)) as [Answer, Answer, Answer]
    const { transactions } = await client.getBlock({ blockTag: 'pending' })
    expect(transactions).toHaveLength(1)
    for (const { status, body } of [first, copy]) {
      expect(status).toBe(200)
      expect(body).toMatchObject({
        success: false,
        errorReason: 'settle_failed',
        errorMessage: expect.stringContaining(sent.path.toLowerCase()),
        transaction: transactions[0],
        pending: true,
      })
      expect(body).not.toHaveProperty('retryable')
    }
    expect(behind.body).toMatchObject({
      success: false,
      errorReason: 'settle_failed',
      errorMessage: expect.stringContaining('send the same payment again'),
      transaction: '',
      retryable: true,
    })
    expect(behind.body).not.toHaveProperty('pending')
    expect(await standing(sent.path)).toMatchObject({ status: 'pending' })
    expect(await standing(waiting.path)).toMatchObject({ status: 'unknown', transaction: null })

    await client.setAutomine(true)
    await client.mine({ blocks: 1 })
    await eventually(async () => standing(sent.path)).toMatchObject({
      status: 'settled',
      transaction: transactions[0],
    })
    expect(await standing(waiting.path)).toMatchObject({ status: 'unknown' })
    await expectNothingOpen(m)
    await books.audit()
    expect((await settle(waiting.body)).body).toMatchObject({ success: true })
    await stop()
    await books.audit()
  })

  it('a payment that a silent node has not tried out was not sent, and can be repeated [FAC-38]', async () => {
    const { body, path } = await nextPurchase(m)
    m.node.setFaults({ hang: 1 })
    const deadlines = holdDeadlines()
    const { nonce } = body.paymentPayload.payload.authorization
    let isTried = false
    m.nodes.intercept = (call) => {
      isTried ||= call.includes('"eth_call"') && call.includes(nonce.slice(2))
      return 'pass'
    }
    const asked = m.settle(body)
    await eventually(() => isTried).toBe(true)
    m.nodes.intercept = undefined
    await deadlines.pass(1)
    const { body: answer } = await asked
    m.node.setFaults({})
    expect(answer).toMatchObject({
      success: false,
      errorReason: 'settle_failed',
      transaction: '',
      retryable: true,
    })
    expect(await standing(path)).toMatchObject({ status: 'unknown' })
    await books.audit()
    // Whoever waits for the node yet has to give up first.
    await eventually(async () => {
      const { body: again } = await m.settle(body)
      return again.success === true || again.errorMessage === 'authorization already used'
    }).toBe(true)
    expect(await standing(path)).toMatchObject({ status: 'settled' })
    await expectNothingOpen(m)
    await books.audit()
  })
})

it('what a caller asked for before it hung up is settled, and a copy is told in which transaction', async () => {
  const { body, path } = await nextPurchase(m)
  await m.chain.client.setAutomine(false)
  const before = toldBy(m, 'broadcast')
  const hangingUp = new AbortController()
  const asked = fetch(`${m.facilitator.url}/settle`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: hangingUp.signal,
  })
  await eventually(() => toldBy(m, 'broadcast')).toBe(before + 1)
  hangingUp.abort()
  await expect(asked).rejects.toThrow()
  await m.chain.client.setAutomine(true)
  await m.chain.client.mine({ blocks: 1 })
  await eventually(async () => (await standing(path)).status).toBe('settled')
  const { transaction } = await standing(path)
  expect((await m.settle(body)).body).toMatchObject({
    success: false,
    errorReason: 'invalid_payment',
    errorMessage: 'authorization already used',
    transaction,
  })
  await expectNothingOpen(m)
  await books.audit()
})
