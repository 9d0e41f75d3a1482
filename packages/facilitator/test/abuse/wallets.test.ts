import { mintUsdc } from '@referrer/contracts/local'
import { type Address, type Hex, type LocalAccount, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPayment } from '../../src/payment/read.ts'
import { simulate } from '../../src/settlement/simulation.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body, PayloadOptions } from '../payloads.ts'
import { inOneBatch, otherReviewer } from './acts.ts'
import { type Books, openBooks } from './books.ts'
import { FICKLE, GREEDY, ownedBy, sullenTo, TURNCOAT } from './wallets.ts'

let m: TestFacilitator
let books: Books

beforeAll(async () => {
  m = await startTestFacilitator({ env: { LINGER_MS: '200' } })
  books = await openBooks(m)
})
afterAll(() => m?.close())

const settle = async (body: Body) => (await m.settle(body)).body
const owner = privateKeyToAccount(generatePrivateKey())

/** An address with this code, and money for two purchases. */
async function wallet(bytecode: Hex): Promise<Address> {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await m.chain.client.setCode({ address, bytecode })
  await mintUsdc(m.market, address, 2n * PRICE)
  return address
}

const payFrom = (from: Address, options: PayloadOptions = {}) => m.payload(owner, { from, ...options })

async function goodPayments(count: number): Promise<Body[]> {
  const bodies: Body[] = []
  for (let at = 0; at < count; at += 1) bodies.push(await m.payload(await m.newBuyer(2n * PRICE)))
  return bodies
}

/** The answers to these, and to four good ones. */
async function settleAmongGood(bodies: Body[]) {
  const all = [...bodies, ...(await goodPayments(4))]
  return inOneBatch(m, all.length, (settle) => Promise.all(all.map(settle)))
}

/** An account with a key, whose code is somebody's contract (EIP-7702). */
async function delegated(codeFor: (account: Address) => Hex): Promise<LocalAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  await mintUsdc(m.market, account.address, 2n * PRICE)
  const contractAddress = await wallet(codeFor(account.address))
  const { client } = m.chain
  const authorization = await account.signAuthorization({ contractAddress, chainId: m.chainId, nonce: 0 })
  const hash = await client.sendTransaction({
    account: m.market.accounts.stranger,
    authorizationList: [authorization],
    to: m.market.accounts.stranger.address,
  })
  await client.waitForTransactionReceipt({ hash })
  expect(await client.getCode({ address: account.address })).toBe(
    `0xef0100${contractAddress.slice(2).toLowerCase()}`,
  )
  return account
}

describe('a contract wallet', () => {
  it('pays with the signature that it accepts, of either authorisation', async () => {
    const from = await wallet(ownedBy(owner.address))
    for (const options of [{}, { salt: numberToHex(1, { size: 32 }) }]) {
      const answer = await settle(await payFrom(from, options))
      expect(answer).toMatchObject({ success: true, payer: from })
      expect(await m.escrowsIn(answer.transaction)).toMatchObject([{ payer: from, price: PRICE }])
    }
    await books.audit()
  })

  it('pays with what it signed for the router alone though the shop does not say that it takes this, and for no other link', async () => {
    const from = await wallet(ownedBy(owner.address))
    const salt = numberToHex(2, { size: 32 })
    const extra = m.till.token
    const body = await payFrom(from, { salt, requirements: { extra } })
    const { attributionToken } = await otherReviewer(m, m.market.accounts.walletBuyer, 7n)
    const { extensions } = body.paymentPayload
    for (const swapped of [{ ...extensions, attributionToken }, { attributionToken }]) {
      const answer = await settle({
        ...body,
        paymentPayload: { ...body.paymentPayload, extensions: swapped },
      })
      expect(answer).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
    }
    expect(await settle(body)).toMatchObject({ success: true, payer: from })
    await books.audit()
  })

  it('is refused with one that it does not accept, and nothing is sent [FAC-28]', async () => {
    const from = await wallet(ownedBy(owner.address))
    const stranger = privateKeyToAccount(generatePrivateKey())
    const answer = await settle(await payFrom(from, { signer: stranger }))
    expect(answer).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
    expect(answer).not.toHaveProperty('retryable')
    await books.audit()
  })

  it('that burns gas is refused, and nothing is sent', async () => {
    const from = await wallet(GREEDY)
    expect(await settle(await payFrom(from))).toMatchObject({ success: false, transaction: '' })
    await books.audit()
  })

  it('that burns gas holds up nobody, however many of them come', async () => {
    const from = await wallet(GREEDY)
    const greedy = await Promise.all(Array.from({ length: 40 }, () => payFrom(from)))
    const good = await goodPayments(5)
    const answers = await Promise.all([...greedy, ...good].map(settle))
    expect(answers.map(({ success }) => success)).toEqual([
      ...greedy.map(() => false),
      ...good.map(() => true),
    ])
    await books.audit()
  })

  it('that burns gas only when it is asked why puts no blame on others', async () => {
    const paid = await payFrom(await wallet(ownedBy(owner.address)))
    expect(await settle(paid)).toMatchObject({ success: true })
    const sullen = await wallet(sullenTo(m.market.addresses.USDC))
    const before = await Promise.all(Array.from({ length: 40 }, () => payFrom(sullen)))
    const { context } = m.facilitator
    const chain = context.chains.get(m.chainId)
    if (!chain) throw new Error('the chain is not configured')
    const judge = async (bodies: Body[]) => {
      const payments = await Promise.all(bodies.map((body) => readPayment(context, body)))
      return (await simulate(context, chain, m.relayers[0].address, payments)).at(-1)
    }
    expect(await judge([...before, paid])).toEqual({ type: 'untried' })
    expect(await judge([paid])).toEqual({ type: 'used' })
  })

  it.each([
    ['burns gas', FICKLE],
    ['changes its mind', TURNCOAT],
  ])('that %s only in the block takes nobody of its batch down', async (_how, code) => {
    const answers = await settleAmongGood([
      await payFrom(await wallet(code)),
      await payFrom(await wallet(code)),
    ])
    expect(answers.map(({ success }) => success)).toEqual([false, false, true, true, true, true])
    expect(answers[0]).toMatchObject({ errorReason: 'settle_failed' })
    expect(new Set(answers.filter(({ success }) => success).map(({ transaction }) => transaction)).size).toBe(
      1,
    )
    // Each was sent alone.
    await books.audit({ reverted: 2 })
  })
})

describe('an account with a key and the code of a contract', () => {
  it('pays with its key', async () => {
    const account = await delegated(ownedBy)
    expect(await settle(await m.payload(account))).toMatchObject({ success: true, payer: account.address })
    await books.audit()
  })

  it.each([
    ['burns gas', FICKLE],
    ['changes its mind', TURNCOAT],
  ])('that %s only in the block takes nobody of its batch down', async (_how, code) => {
    const answers = await settleAmongGood([
      await m.payload(await delegated(() => code)),
      await m.payload(await delegated(() => code)),
    ])
    expect(answers.map(({ success }) => success)).toEqual([false, false, true, true, true, true])
    await books.audit({ reverted: 2 })
  })
})
