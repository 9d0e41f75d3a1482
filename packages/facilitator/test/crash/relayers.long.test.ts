import { type Address, parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Books, openBooks } from '../abuse/books.ts'
import { eventually } from '../eventually.ts'
import { startTestFacilitator, type TestFacilitator } from '../harness.ts'
import { expectNothingOpen, nextPurchase } from './world.ts'

const fund = (m: TestFacilitator, address: Address, ether: string) =>
  m.chain.client.setBalance({ address, value: parseEther(ether) })

const senderOf = async (m: TestFacilitator, hash: `0x${string}`) =>
  (await m.chain.client.getTransaction({ hash })).from.toLowerCase()

afterEach(() => vi.restoreAllMocks())

describe('a relayer without gas', () => {
  let m: TestFacilitator
  let books: Books

  beforeAll(async () => {
    m = await startTestFacilitator({ chainId: 31_473, buyers: 3, env: { LINGER_MS: '0' } })
    books = await openBooks(m)
  })
  afterAll(() => m?.close())

  it('that is the only one: the payment is taken back at once, can be repeated, and settles when there is gas [FAC-38]', async () => {
    const [{ address }] = m.relayers
    await fund(m, address, '0')
    const { body, path } = await nextPurchase(m)
    // By a clock that stands still nothing is ever too late: whoever waits for it waits for ever.
    vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    expect((await m.settle(body)).body).toMatchObject({
      success: false,
      errorReason: 'settle_failed',
      errorMessage:
        'not sent: no relayer of this facilitator can pay for gas now; its operator has to send some; send the same payment again',
      transaction: '',
      retryable: true,
    })
    vi.restoreAllMocks()
    expect((await m.call('GET', path)).body).toMatchObject({ status: 'unknown', transaction: null })
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

  it('for want of gas of both: each was asked, and nothing is kept waiting', async () => {
    for (const { address } of m.relayers) await fund(m, address, '0')
    const { body } = await nextPurchase(m)
    const before = m.events.length
    expect((await m.settle(body)).body).toMatchObject({
      success: false,
      errorReason: 'settle_failed',
      errorMessage: expect.stringContaining('no relayer of this facilitator can pay for gas now'),
      retryable: true,
    })
    const waited = m.events
      .slice(before)
      .flatMap((told) => (told.type === 'sender' && told.event.type === 'waiting' ? [told.event.reason] : []))
    for (const { address } of m.relayers)
      expect(waited.filter((reason) => reason.includes(address)).length, address).toBeGreaterThan(0)
    await expectNothingOpen(m)

    const [first] = m.relayers
    await fund(m, first.address, '10')
    expect((await m.settle(body)).body).toMatchObject({ success: true })
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
