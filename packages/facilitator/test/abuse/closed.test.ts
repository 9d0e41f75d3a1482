import { splitRouterAbi } from '@referrer/protocol/abi'
import type { Address, LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { act, betweenBlocks, block, type Deed, openMerchant, send } from './acts.ts'
import { type Books, openBooks } from './books.ts'

let m: TestFacilitator
let books: Books

beforeAll(async () => {
  // Long enough that what comes together leaves together.
  m = await startTestFacilitator({ env: { LINGER_MS: '200' } })
  books = await openBooks(m)
})
afterAll(() => m?.close())

const settle = async (body: Body) => (await m.settle(body)).body
const payer = () => m.newBuyer(2n * PRICE)

const claimable = (account: Address) =>
  m.chain.client.readContract({
    address: m.till.router,
    abi: splitRouterAbi,
    functionName: 'claimable',
    args: [account],
  })

/** Lands in the block of the settlement, before it. */
async function settleAfter(deed: Deed, bodies: Body[]) {
  return betweenBlocks(m, async ({ sent, mine }) => {
    const settling = bodies.map(settle)
    await sent(bodies.length)
    await send(m, deed)
    await mine()
    return Promise.all(settling)
  })
}

describe.each(['reviewer', 'merchant'] as const)('a %s to whom the token pays nothing', (who) => {
  const account = () => m.market.accounts[who].address

  it('does not stop the sale, and claims the share later', async () => {
    const before = await m.balanceOf(account())
    await act(m, block(m, account(), true))
    const answer = await settle(await m.payload(await payer()))
    expect(answer).toMatchObject({ success: true })
    expect(await m.escrowsIn(answer.transaction)).toHaveLength(1)
    const share = await claimable(account())
    expect(share).toBeGreaterThan(0n)
    expect(await m.balanceOf(account())).toBe(before)
    await books.audit()

    await act(m, block(m, account(), false))
    await act(m, { by: m.market.accounts.stranger, on: 'SplitRouter', call: ['claim', account()] })
    expect(await m.balanceOf(account())).toBe(before + share)
    expect(await claimable(account())).toBe(0n)
    await books.audit()
  })

  it('does not stop the sale when that begins between the trial and the block', async () => {
    const [answer] = await settleAfter(block(m, account(), true), [await m.payload(await payer())])
    expect(answer).toMatchObject({ success: true })
    await act(m, block(m, account(), false))
    await act(m, { by: m.market.accounts.stranger, on: 'SplitRouter', call: ['claim', account()] })
    await books.audit()
  })

  it('does not stop the sales of a batch when that begins between the trial and the block', async () => {
    const bodies: Body[] = []
    for (let count = 0; count < 5; count += 1) bodies.push(await m.payload(await payer()))
    const answers = await settleAfter(block(m, account(), true), bodies)
    expect(answers.map(({ success }) => success)).toEqual(bodies.map(() => true))
    await act(m, block(m, account(), false))
    await act(m, { by: m.market.accounts.stranger, on: 'SplitRouter', call: ['claim', account()] })
    await books.audit()
  })
})

describe('a payer from whom the token takes nothing', () => {
  it('is refused, and pays once that is over', async () => {
    const buyer = await payer()
    const body = await m.payload(buyer)
    await act(m, block(m, buyer.address, true))
    const answer = await settle(body)
    expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed', transaction: '' })
    expect(answer.errorMessage).toContain('account is blacklisted')
    await books.audit()
    await act(m, block(m, buyer.address, false))
    expect(await settle(body)).toMatchObject({ success: true })
    await books.audit()
  })
})

interface Closing {
  close: () => Deed
  open: () => Deed
  says: string
}

const product = (isOpen: boolean): Deed => ({
  by: m.merchant.account,
  on: 'MerchantRegistry',
  call: ['setProductActive', m.merchant.merchantId, m.merchant.productId, isOpen],
})
const suspend = (isSuspended: boolean): Deed => ({
  by: m.market.accounts.guardian,
  on: 'MerchantRegistry',
  call: ['setSuspended', m.merchant.merchantId, isSuspended],
})
const escrow = (call: 'pause' | 'unpause'): Deed => ({
  by: m.market.accounts.guardian,
  on: 'CommissionEscrow',
  call: [call],
})
const usdc = (call: 'pause' | 'unpause'): Deed => ({
  by: m.market.accounts.deployer,
  on: 'USDC',
  call: [call],
})

const closings: [string, Closing][] = [
  [
    'the merchant has closed [FAC-39]',
    {
      close: () => openMerchant(m, false),
      open: () => openMerchant(m, true),
      says: 'the merchant is not active',
    },
  ],
  [
    'the merchant is suspended [FAC-39]',
    { close: () => suspend(true), open: () => suspend(false), says: 'the merchant is not active' },
  ],
  [
    'the product has closed [FAC-40]',
    { close: () => product(false), open: () => product(true), says: 'the product is not active' },
  ],
  [
    'payments are paused',
    { close: () => escrow('pause'), open: () => escrow('unpause'), says: 'payments are paused' },
  ],
  ['the token is paused', { close: () => usdc('pause'), open: () => usdc('unpause'), says: 'paused' }],
]

describe.each(closings)('when %s', (_why, { close, open, says }) => {
  let buyer: LocalAccount

  it('after the offer, nothing is sent and the payer keeps the money', async () => {
    buyer = await payer()
    const body = await m.payload(buyer)
    await act(m, close())
    const answer = await settle(body)
    expect(answer).toMatchObject({
      success: false,
      errorReason: 'settle_failed',
      transaction: '',
      retryable: true,
    })
    expect(answer.errorMessage).toContain(says)
    expect((await m.verify(body)).body).toMatchObject({ isValid: false, invalidReason: 'settle_failed' })
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    await books.audit()

    await act(m, open())
    expect(await settle(body)).toMatchObject({ success: true })
    await books.audit()
  })

  it('between the trial and the block, no money moves [FAC-37]', async () => {
    buyer = await payer()
    const body = await m.payload(buyer)
    const [answer] = await settleAfter(close(), [body])
    expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed' })
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    await books.audit({ reverted: 1 })

    await act(m, open())
    expect(await settle(body)).toMatchObject({ success: true })
    await books.audit()
  })
})
