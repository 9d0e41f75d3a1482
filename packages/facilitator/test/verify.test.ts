import { commissionEscrowAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import type { LocalAccount } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { act, betweenBlocks, submission } from './abuse/acts.ts'
import { type Books, openBooks } from './abuse/books.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'
import type { Body } from './payloads.ts'

let m: TestFacilitator
let books: Books
let buyer: LocalAccount

beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
  buyer = await m.newBuyer()
})
afterAll(() => m?.close())
afterEach(() => {
  m.nodes.intercept = undefined
  return books.audit()
})

const valid = () => ({ isValid: true, payer: buyer.address })

/** Everything that a settlement of it would change. */
async function stateOf({ paymentPayload }: Body) {
  const { from, nonce } = paymentPayload.payload.authorization
  const { client } = m.chain
  const { USDC, CommissionEscrow } = m.market.addresses
  const people = [buyer, m.merchant.account, m.reviewer.account].map(({ address }) => address)
  const args = [from, nonce] as const
  const used = { address: USDC, abi: sandboxUSDCAbi, functionName: 'authorizationState', args } as const
  const split = {
    address: CommissionEscrow,
    abi: commissionEscrowAbi,
    functionName: 'escrowOf',
    args,
  } as const
  return {
    balances: await Promise.all([...people, m.till.router, CommissionEscrow].map(m.balanceOf)),
    isUsed: await client.readContract(used),
    escrow: await client.readContract(split),
    block: await client.getBlockNumber(),
    sent: await client.getTransactionCount({ address: m.relayers[0].address, blockTag: 'pending' }),
    rows: await m.sql`SELECT * FROM facilitator.settlements WHERE state <> 'open' OR was_sent`,
    intents: await m.sql`SELECT * FROM sender.intents`,
    status: (await m.call('GET', `/settlements/${from}/${nonce}`)).body.status,
  }
}

describe('verifying', () => {
  it('takes the very envelope that is settled [FAC-01]', async () => {
    for (const body of [await m.payload(buyer), await m.payload(buyer, { salt: `0x${'5c'.repeat(32)}` })]) {
      const verified = await m.verify(body)
      expect([verified.status, verified.body]).toEqual([200, valid()])
      expect(verified.headers.get('content-type')).toMatch(/^application\/json/)
      expect((await m.settle(body)).body).toMatchObject({ success: true, payer: buyer.address })
    }
  })

  it('moves no money and leaves nothing but a pin, however often it is asked for [FAC-02]', async () => {
    const body = await m.payload(buyer)
    const before = await stateOf(body)
    expect(before).toMatchObject({ isUsed: false, status: 'unknown' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => m.verify(body)))
    for (const answer of answers) expect(answer.body).toEqual(valid())
    expect(await stateOf(body)).toEqual(before)
    expect((await m.settle(body)).body.success).toBe(true)
  })

  it('holds for payments one by one: together they may be too much', async () => {
    const poor = await m.newBuyer(PRICE)
    const bodies = [await m.payload(poor), await m.payload(poor)]
    for (const body of bodies) expect((await m.verify(body)).body.isValid).toBe(true)
    const answers = []
    for (const body of bodies) answers.push((await m.settle(body)).body.success)
    expect(answers).toEqual([true, false])
  })

  it('finds money that is in the router already, and would be split from there', async () => {
    const body = await m.payload(buyer)
    await act(m, submission(m, body))
    expect((await m.verify(body)).body).toEqual(valid())
    expect((await m.settle(body)).body.success).toBe(true)
  })

  it('does not disturb a settlement that is under way', async () => {
    const body = await m.payload(buyer)
    const settled = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = m.settle(body)
      await sent(1)
      await m.verify(body)
      await mine()
      return (await settling).body
    })
    expect(settled.success).toBe(true)
    expect((await m.verify(body)).body).toEqual({
      isValid: false,
      invalidReason: 'invalid_payment',
      invalidMessage: 'authorization already used',
      payer: buyer.address,
    })
  })

  it('says nothing about a payment that no node can be asked about', async () => {
    const body = await m.payload(buyer)
    m.nodes.intercept = () => 'refuse'
    const answer = await m.verify(body)
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        isValid: false,
        invalidReason: 'settle_failed',
        invalidMessage: expect.stringContaining('send the same payment again'),
        payer: buyer.address,
      },
    ])
  })

  it('names no payer where nobody is named', async () => {
    const { paymentRequirements } = await m.payload(buyer)
    for (const paymentPayload of [undefined, null, {}, { payload: { authorization: { from: 7 } } }]) {
      const answer = await m.verify({ x402Version: 2, paymentPayload, paymentRequirements })
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          isValid: false,
          invalidReason: 'invalid_payment',
          invalidMessage: expect.stringMatching(/\S/),
        },
      ])
    }
  })
})
