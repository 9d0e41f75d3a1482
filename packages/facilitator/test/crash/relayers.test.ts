import { type Address, parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Books, openBooks } from '../abuse/books.ts'
import { eventually } from '../eventually.ts'
import { startTestFacilitator, type TestFacilitator } from '../harness.ts'
import { expectNothingOpen, nextPurchase, passSeconds } from './world.ts'

const fund = (m: TestFacilitator, address: Address, ether: string) =>
  m.chain.client.setBalance({ address, value: parseEther(ether) })

const senderOf = async (m: TestFacilitator, hash: `0x${string}`) =>
  (await m.chain.client.getTransaction({ hash })).from.toLowerCase()

afterEach(() => vi.restoreAllMocks())

describe('a relayer without gas', () => {
  let m: TestFacilitator
  let books: Books

  beforeAll(async () => {
    m = await startTestFacilitator({ chainId: 31_473, buyers: 3 })
    books = await openBooks(m)
  })
  afterAll(() => m?.close())

  it('that is the only one: the payment is taken back, can be repeated, and settles when there is gas [FAC-38]', async () => {
    const [{ address }] = m.relayers
    await fund(m, address, '0')
    const { body, path } = await nextPurchase(m)
    const settling = m.settle(body)
    await eventually(() =>
      m.events.some((event) => event.type === 'sender' && event.event.type === 'waiting'),
    ).toBe(true)
    expect((await m.call('GET', path)).body).toMatchObject({ status: 'pending', transaction: null })
    passSeconds(16)
    expect((await settling).body).toMatchObject({
      success: false,
      errorReason: 'settle_failed',
      errorMessage: expect.stringMatching(/^not sent: waits for funds.*; send the same payment again$/),
      transaction: '',
      retryable: true,
    })
    expect((await m.call('GET', path)).body).toMatchObject({ status: 'failed', transaction: null })
    expect((await m.call('GET', '/readyz')).status).toBe(503)
    await books.audit()

    await fund(m, address, '10')
    const { body: answer } = await m.settle(body)
    expect(answer).toMatchObject({ success: true })
    expect((await m.call('GET', path)).body).toMatchObject({
      status: 'settled',
      transaction: answer.transaction,
      message: null,
    })
    await expectNothingOpen(m)
    await books.audit()
  })
})

describe('two relayers, one of which cannot settle', () => {
  let m: TestFacilitator
  let books: Books

  beforeAll(async () => {
    m = await startTestFacilitator({ chainId: 31_474, buyers: 6, relayers: 2 })
    books = await openBooks(m)
  })
  afterAll(() => m?.close())

  it('for want of gas: the other one does, and both when there is gas again', async () => {
    const [poor, rich] = m.relayers
    if (!rich) throw new Error('there are two')
    await fund(m, poor.address, '0')
    for (let count = 0; count < 3; count += 1) {
      const { body } = await nextPurchase(m)
      const { body: answer } = await m.settle(body)
      expect(answer).toMatchObject({ success: true })
      expect(await senderOf(m, answer.transaction)).toBe(rich.address.toLowerCase())
    }
    await expectNothingOpen(m)
    await books.audit()

    await fund(m, poor.address, '10')
    await fund(m, rich.address, '0')
    const { body } = await nextPurchase(m)
    const { body: answer } = await m.settle(body)
    expect(answer).toMatchObject({ success: true })
    expect(await senderOf(m, answer.transaction)).toBe(poor.address.toLowerCase())
    await expectNothingOpen(m)
    await books.audit()
  })

  it('for want of the role: the other one does', async () => {
    const [first, other] = m.relayers
    if (!other) throw new Error('there are two')
    for (const { address } of m.relayers) await fund(m, address, '10')
    await m.revoke('SETTLER_ROLE', first.address)
    const { body } = await nextPurchase(m)
    await eventually(async () => (await m.verify(body)).body.isValid).toBe(true)
    const { body: answer } = await m.settle(body)
    expect(answer).toMatchObject({ success: true })
    expect(await senderOf(m, answer.transaction)).toBe(other.address.toLowerCase())
    await m.grant('SETTLER_ROLE', first.address)
    await expectNothingOpen(m)
    await books.audit()
  })
})
