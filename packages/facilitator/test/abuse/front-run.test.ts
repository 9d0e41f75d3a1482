import { sandboxUSDCAbi } from '@referrer/protocol/abi'
import { type Address, type Hash, type Hex, type LocalAccount, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body, PayloadOptions } from '../payloads.ts'
import { FAULTS, withRegistry } from '../registry.ts'
import {
  act,
  betweenBlocks,
  cancellation,
  inOneBatch,
  openMerchant,
  otherReviewer,
  type Settle,
  send,
  settlement,
  submission,
} from './acts.ts'
import { type Books, openBooks } from './books.ts'

let m: TestFacilitator
let books: Books
/** Money that waits in the router from one test on. */
const left: { payer: Address; amount: bigint }[] = []

beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
})
afterAll(() => m?.close())

const used = { success: false, errorReason: 'invalid_payment', errorMessage: 'authorization already used' }

async function payment(options?: PayloadOptions): Promise<{ buyer: LocalAccount; body: Body; nonce: Hex }> {
  const buyer = await m.newBuyer(2n * PRICE)
  const body = await m.payload(buyer, options)
  return { buyer, body, nonce: body.paymentPayload.payload.authorization.nonce }
}

async function expectSplitIn(transaction: Hash, { paymentPayload }: Body): Promise<void> {
  const { from, nonce } = paymentPayload.payload.authorization
  const escrows = await m.escrowsIn(transaction)
  expect(escrows.filter((escrow) => escrow.payer === from && escrow.nonce === nonce)).toHaveLength(1)
}

const standingOf = ({ paymentPayload }: Body) => {
  const { from, nonce } = paymentPayload.payload.authorization
  return m.call('GET', `/settlements/${from}/${nonce}`)
}
/** Anybody may make the call, and its money goes to the payer. */
const takeBack = ({ take_back: { to, data } }: { take_back: { to: Address; data: Hex } }) =>
  m.chain.client.sendTransaction({ account: m.market.accounts.stranger, to, data, chain: null })
const statusOf = async (body: Body) => (await standingOf(body)).body.status

describe('a bare transfer that somebody else has submitted to the token', () => {
  it('is finished from the money in the router, once [FAC-42 otherwise]', async () => {
    const { buyer, body } = await payment()
    const frontRun = await act(m, submission(m, body))
    expect(await m.balanceOf(m.till.router)).toBe(PRICE)
    expect((await m.verify(body)).body).toEqual({ isValid: true, payer: buyer.address })

    const answer = (await m.settle(body)).body
    expect(answer).toMatchObject({ success: true, payer: buyer.address })
    expect(answer.transaction).not.toBe(frontRun)
    await expectSplitIn(answer.transaction, body)
    expect((await m.settle(body)).body).toMatchObject({ ...used, transaction: answer.transaction })
    expect((await m.verify(body)).body).toMatchObject({ isValid: false, invalidReason: 'invalid_payment' })
    await books.audit()
  })

  it('is finished once for fifty copies at the same time', async () => {
    const { body } = await payment()
    await act(m, submission(m, body))
    const answers = await Promise.all(Array.from({ length: 50 }, () => m.settle(body)))
    const transactions = new Set(answers.map(({ body }) => body.transaction))
    expect(transactions.size).toBe(1)
    expect(answers.filter(({ body }) => body.success).length).toBeGreaterThan(0)
    await expectSplitIn([...transactions][0], body)
    await books.audit()
  })

  it('is finished when it lands in the same block before ours', async () => {
    const { body } = await payment()
    const answer = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = m.settle(body)
      await sent(1)
      await send(m, submission(m, body))
      await mine()
      await sent(2)
      await mine()
      return (await settling).body
    })
    expect(answer).toMatchObject({ success: true })
    await expectSplitIn(answer.transaction, body)
    // Alone in its transaction, ours had nothing to pull.
    await books.audit({ reverted: 1 })
  })

  it('is not called failed when nothing could be asked after ours had failed', async () => {
    const { body } = await payment()
    const answer = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = m.settle(body)
      await sent(1)
      await send(m, submission(m, body))
      m.nodes.intercept = (call) => (call.includes('"eth_call"') ? 'refuse' : 'pass')
      await mine()
      return (await settling).body
    })
    expect(answer).toMatchObject({ success: false, pending: true, until: expect.any(Number) })
    m.nodes.intercept = (call) => (call.includes('"eth_getLogs"') ? 'refuse' : 'pass')
    expect((await standingOf(body)).status).toBe(503)
    m.nodes.intercept = undefined
    const waiting = { status: 'pending', message: expect.stringContaining('send the same payment again') }
    expect((await standingOf(body)).body).toMatchObject(waiting)
    expect((await m.settle(body)).body).toMatchObject({ success: true })
    await books.audit({ reverted: 1 })
  })

  it('costs the others of its batch nothing', async () => {
    const [front, ...others] = [await payment(), await payment(), await payment()]
    const settleBetween = (settle: Settle) =>
      betweenBlocks(m, async ({ sent, mine }) => {
        const settling = [front, ...others].map(({ body }) => settle(body))
        await sent(3)
        await send(m, submission(m, front.body))
        await mine()
        await sent(4)
        await mine()
        return Promise.all(settling)
      })
    const answers = await inOneBatch(m, 3, settleBetween)
    expect(answers.map(({ success }) => success)).toEqual([true, true, true])
    expect(answers[1].transaction).toBe(answers[2].transaction)
    expect(answers[0].transaction).not.toBe(answers[1].transaction)
    await books.audit()
  })

  it('is its payer’s to take back when the merchant has closed since [FAC-39]', async () => {
    const { buyer, body } = await payment()
    await act(m, submission(m, body))
    await act(m, openMerchant(m, false))
    const answer = (await m.settle(body)).body
    expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed' })
    expect(answer).not.toHaveProperty('retryable')
    await takeBack(answer)
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    expect(await statusOf(body)).toBe('failed')

    await act(m, openMerchant(m, true))
    const again = (await m.settle(body)).body
    expect(again).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
    expect(again.errorMessage).toContain('went back to its payer')
    await books.audit()
  })

  it('is its payer’s to take back when the merchant closes in the block that it lands in', async () => {
    const { buyer, body } = await payment()
    const answer = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = m.settle(body)
      await sent(1)
      await send(m, submission(m, body))
      await send(m, openMerchant(m, false))
      await mine()
      return (await settling).body
    })
    expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed' })
    await takeBack(answer)
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    await act(m, openMerchant(m, true))
    await books.audit({ reverted: 1 })
  })

  it('stays where it is while payments are paused, and is finished later', async () => {
    const { buyer, body } = await payment()
    await act(m, submission(m, body))
    const { guardian } = m.market.accounts
    await act(m, { by: guardian, on: 'CommissionEscrow', call: ['pause'] })
    expect((await m.settle(body)).body).toMatchObject({ success: false, retryable: true, transaction: '' })
    await books.audit({ left: [{ payer: buyer.address, amount: PRICE }] })
    await act(m, { by: guardian, on: 'CommissionEscrow', call: ['unpause'] })
    expect((await m.settle(body)).body).toMatchObject({ success: true })
    await books.audit()
  })

  it('is its payer’s to take back while the identity registry does not answer, or is finished later', async () => {
    for (const [, code] of FAULTS) {
      const [gone, kept] = [await payment(), await payment()]
      for (const { body } of [gone, kept]) await act(m, submission(m, body))
      await withRegistry(m, code, async () => {
        for (const { body } of [gone, kept])
          expect((await m.settle(body)).body).toMatchObject({ success: false, retryable: true })
        await takeBack((await m.settle(gone.body)).body)
        expect(await m.balanceOf(gone.buyer.address)).toBe(2n * PRICE)
      })
      expect((await m.settle(kept.body)).body).toMatchObject({ success: true })
    }
    await books.audit()
  })

  it('is finished although it has expired since, for an hour, where it was shown in time', async () => {
    const [{ body }, tooLate] = [await payment(), await payment()]
    for (const each of [body, tooLate.body]) {
      await m.verify(each)
      await act(m, submission(m, each))
    }
    const pass = async (seconds: number) => {
      await m.chain.client.increaseTime({ seconds })
      await m.chain.client.mine({ blocks: 1 })
      m.clock.aheadMs += seconds * 1_000
    }
    await pass(5_000)
    const answer = (await m.settle(body)).body
    expect(answer).toMatchObject({ success: true })
    await expectSplitIn(answer.transaction, body)

    await pass(3_000)
    const refused = (await m.settle(tooLate.body)).body
    expect(refused).toMatchObject({ success: false, errorReason: 'settle_failed' })
    await takeBack(refused)
    expect(await m.balanceOf(tooLate.buyer.address)).toBe(2n * PRICE)
    await books.audit()
  })
})

it('what others have in the router pays for nobody whose own money has not come', async () => {
  const { stranger } = m.market.accounts
  const amount = 5n * PRICE
  const { client } = m.chain
  await act(m, {
    by: m.market.accounts.deployer,
    on: 'USDC',
    call: ['mint', stranger.address, amount],
  })
  await act(m, { by: stranger, on: 'USDC', call: ['transfer', m.till.router, amount] })

  // Cancelled, it looks as used as one whose money has come.
  const cancelled = await payment()
  await act(m, await cancellation(m, cancelled.buyer, cancelled.body))
  // Of two with one nonce the other one was used: to pay less, or somebody else.
  const cheap = await payment()
  await act(m, submission(m, await m.payload(cheap.buyer, { amount: 1n, nonce: cheap.nonce })))
  const astray = await payment()
  const elsewhere = { to: stranger.address, nonce: astray.nonce }
  await act(m, submission(m, await m.payload(astray.buyer, elsewhere)))
  const isUsed = await client.readContract({
    address: m.till.usdc,
    abi: sandboxUSDCAbi,
    functionName: 'authorizationState',
    args: [astray.buyer.address, astray.nonce],
  })
  expect(isUsed).toBe(true)

  for (const { body } of [cancelled, cheap, astray]) {
    expect((await m.settle(body)).body).toMatchObject({
      success: false,
      errorReason: 'invalid_payment',
      transaction: '',
    })
    expect((await m.verify(body)).body).toMatchObject({ isValid: false, invalidReason: 'invalid_payment' })
  }
  await act(m, { by: stranger, on: 'USDC', call: ['transfer', astray.buyer.address, PRICE] })
  left.push({ payer: stranger.address, amount }, { payer: cheap.buyer.address, amount: 1n })
  await books.audit({ left })
})

describe('a cancelled authorisation', () => {
  it('is refused, and says that its payer did it', async () => {
    const { buyer, body } = await payment()
    await act(m, await cancellation(m, buyer, body))
    const answer = (await m.settle(body)).body
    expect(answer).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
    expect(answer.errorMessage).toContain('cancelled')
    expect(answer).not.toHaveProperty('retryable')
    await books.audit({ left })
  })

  it('moves no money when it is cancelled between the trial and the block [FAC-37]', async () => {
    const { buyer, body } = await payment()
    const cancel = await cancellation(m, buyer, body)
    const answer = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = m.settle(body)
      await sent(1)
      await send(m, cancel)
      await mine()
      return (await settling).body
    })
    expect(answer).toMatchObject({ success: false, transaction: '' })
    expect(answer.errorMessage).toContain('cancelled')
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    await eventually(() => statusOf(body)).toBe('failed')
    await books.audit({ left, reverted: 1 })
  })

  it('takes nobody of its batch down', async () => {
    const [gone, ...others] = [await payment(), await payment(), await payment()]
    const cancel = await cancellation(m, gone.buyer, gone.body)
    const settleBetween = (settle: Settle) =>
      betweenBlocks(m, async ({ sent, mine }) => {
        const settling = [gone, ...others].map(({ body }) => settle(body))
        await sent(3)
        await send(m, cancel)
        await mine()
        return Promise.all(settling)
      })
    const answers = await inOneBatch(m, 3, settleBetween)
    expect(answers.map(({ success }) => success)).toEqual([false, true, true])
    await books.audit({ left })
  })
})

describe('an authorisation that only the router can redeem', () => {
  const salt = numberToHex(0x5a17, { size: 32 })

  it('cannot be front-run', async () => {
    const { buyer, body } = await payment({ salt })
    await expect(act(m, submission(m, body, 'receive'))).rejects.toThrow('reverted')
    await expect(act(m, submission(m, body, 'transfer'))).rejects.toThrow('reverted')
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    const answer = (await m.settle(body)).body
    expect(answer).toMatchObject({ success: true })
    await expectSplitIn(answer.transaction, body)
    await books.audit({ left })
  })

  it('is settled, once, when a stranger has had the router settle it as it was ordered', async () => {
    const { buyer, body } = await payment({ salt })
    const transaction = await act(m, settlement(m, body))
    expect((await m.verify(body)).body).toEqual({ isValid: true, payer: buyer.address })
    const answers = await Promise.all(Array.from({ length: 50 }, () => m.settle(body)))
    for (const { body: answer } of answers) expect(answer).toMatchObject({ transaction })
    expect(answers.some(({ body: answer }) => answer.success)).toBe(true)
    expect((await m.settle(body)).body).toMatchObject({ ...used, transaction })
    expect((await m.verify(body)).body).toMatchObject({ isValid: false })
    expect(await statusOf(body)).toBe('settled')
    await books.audit({ left })
  })

  it('is settled when a stranger has the router settle it in the block before ours', async () => {
    const { body } = await payment({ salt })
    const [answer, transaction] = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = m.settle(body)
      await sent(1)
      const hash = await send(m, settlement(m, body))
      await mine()
      return [(await settling).body, hash]
    })
    expect(answer).toMatchObject({ success: true, transaction })
    expect(await statusOf(body)).toBe('settled')
    await books.audit({ left, reverted: 1 })
  })

  it('is used when a stranger has had the router settle it for another reviewer', async () => {
    const { body } = await payment({ salt, type: 'TransferWithAuthorization' })
    const transaction = await act(m, settlement(m, body, 1))
    const { attributionToken } = await otherReviewer(m, m.market.accounts.walletBuyer, 2n)
    // Without its salt nothing says that the nonce commits to a link.
    const swapped = { ...body, paymentPayload: { ...body.paymentPayload, extensions: { attributionToken } } }
    expect((await m.settle(swapped)).body).toMatchObject({ ...used, transaction: '' })
    expect((await m.settle(body)).body).toMatchObject({ success: true, transaction })
    await books.audit({ left })
  })
})
