import { type Address, type Hex, type LocalAccount, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Facilitator } from '../../src/facilitator.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body, PayloadOptions } from '../payloads.ts'
import {
  act,
  betweenBlocks,
  type OtherReviewer,
  openMerchant,
  otherReviewer,
  reached,
  submission,
  waitingAt,
} from './acts.ts'
import { type Books, openBooks } from './books.ts'
import { ownedBy } from './wallets.ts'

let m: TestFacilitator
let books: Books
/** Another process, on the same database. */
let second: Facilitator
let other: OtherReviewer

beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
  second = await m.startAnother()
  other = await otherReviewer(m, m.market.accounts.buyer, 2n)
  books.reviewers.add(other.account.address)
})
afterAll(async () => {
  await second?.stop()
  await m?.close()
})

const used = { success: false, errorReason: 'invalid_payment', errorMessage: 'authorization already used' }

// biome-ignore lint/suspicious/noExplicitAny: tests look into it
async function settleAtSecond(body: Body): Promise<any> {
  const answer = await fetch(`${second.url}/settle`, { method: 'POST', body: JSON.stringify(body) })
  return answer.json()
}
const settle = async (body: Body) => (await m.settle(body)).body

async function payment(options?: PayloadOptions): Promise<{ buyer: LocalAccount; body: Body }> {
  const buyer = await m.newBuyer(3n * PRICE)
  return { buyer, body: await m.payload(buyer, options) }
}

/** The same payment through the link of another reviewer. */
const swapped = ({ paymentPayload, ...rest }: Body): Body => ({
  ...rest,
  paymentPayload: {
    ...paymentPayload,
    extensions: { ...paymentPayload.extensions, attributionToken: other.attributionToken },
  },
})

/** What became of it by the chain: who got the commission. */
async function reviewersOf({ paymentPayload }: Body): Promise<bigint[]> {
  const { from, nonce } = paymentPayload.payload.authorization
  const { transaction } = (await m.call('GET', `/settlements/${from}/${nonce}`)).body
  const escrows = await m.escrowsIn(transaction)
  return escrows
    .filter((escrow) => escrow.payer === from && escrow.nonce === nonce)
    .map((escrow) => escrow.reviewerAgentId)
}

const pinned = {
  success: false,
  errorReason: 'invalid_payment',
  errorMessage: expect.stringContaining('first shown for another purchase'),
  transaction: '',
}

const transactionsOf = (answers: { transaction: string }[]) =>
  new Set(answers.map(({ transaction }) => transaction))

describe('fifty copies of one payment at the same time', () => {
  it('are one settlement, and every answer names it [FAC-42 otherwise]', async () => {
    const { buyer, body } = await payment()
    const answers = await Promise.all(Array.from({ length: 50 }, () => settle(body)))
    expect(transactionsOf(answers).size).toBe(1)
    const [settled, ...refused] = answers.toSorted((a, b) => Number(b.success) - Number(a.success))
    expect(settled).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: `eip155:${m.chainId}`,
      payer: buyer.address,
    })
    for (const answer of refused) if (!answer.success) expect(answer).toMatchObject(used)
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    await books.audit()
  })

  it('all succeed when the settlement is still under way', async () => {
    const { body } = await payment()
    const answers = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = Array.from({ length: 50 }, () => settle(body))
      await sent(1)
      await waitingAt(m.facilitator, 50)
      await mine()
      return Promise.all(settling)
    })
    expect(answers.filter(({ success }) => success)).toHaveLength(50)
    expect(transactionsOf(answers).size).toBe(1)
    await books.audit()
  })

  it('are one settlement at two facilitators that share a database', async () => {
    for (let round = 0; round < 2; round += 1) {
      const { body } = await payment()
      const copies = Array.from({ length: 50 }, (_, at) => (at % 2 ? settle : settleAtSecond)(body))
      const answers = await Promise.all(copies)
      expect(transactionsOf(answers).size).toBe(1)
      expect(answers.some(({ success }) => success)).toBe(true)
      for (const answer of answers) if (!answer.success) expect(answer).toMatchObject(used)
    }
    await books.audit()
  })

  it('all succeed at two facilitators when the settlement is still under way', async () => {
    const { body } = await payment()
    const answers = await betweenBlocks(m, async ({ sent, mine }) => {
      // The one that has not written the row down has to find it before it is settled.
      const following = [m.facilitator, second].map((each) => reached(each, 'enqueued'))
      const settling = Array.from({ length: 50 }, (_, at) => (at % 2 ? settle : settleAtSecond)(body))
      await sent(1)
      await Promise.all([waitingAt(m.facilitator, 25), waitingAt(second, 25), ...following])
      await mine()
      return Promise.all(settling)
    })
    expect(answers.filter(({ success }) => success)).toHaveLength(50)
    expect(transactionsOf(answers).size).toBe(1)
    await books.audit()
  })

  it('are one settlement at two facilitators when their payer is a new contract wallet', async () => {
    const [{ address: from }, owner] = [await m.newBuyer(PRICE), await m.newBuyer(0n)]
    await m.chain.client.setCode({ address: from, bytecode: ownedBy(owner.address) })
    const body = await m.payload(owner, { from })
    const answers = await betweenBlocks(m, async ({ sent, mine }) => {
      const first = settle(body)
      await sent(1)
      const following = reached(second, 'enqueued')
      const copy = settleAtSecond(body)
      await following
      await mine()
      return Promise.all([first, copy])
    })
    expect(transactionsOf(answers).size).toBe(1)
    for (const answer of answers) if (!answer.success) expect(answer).toMatchObject(used)
    await books.audit()
  })

  it('are one settlement at two facilitators when somebody else has submitted the transfer', async () => {
    for (let round = 0; round < 2; round += 1) {
      const { body } = await payment()
      await act(m, submission(m, body))
      const copies = Array.from({ length: 50 }, (_, at) => (at % 2 ? settle : settleAtSecond)(body))
      const answers = await Promise.all(copies)
      expect(transactionsOf(answers).size).toBe(1)
      expect(answers.some(({ success }) => success)).toBe(true)
      for (const answer of answers) if (!answer.success) expect(answer).toMatchObject(used)
    }
    await books.audit()
  })

  it('are their payer’s to take back once at two facilitators when the merchant has closed besides', async () => {
    for (let round = 0; round < 2; round += 1) {
      const { buyer, body } = await payment()
      await act(m, submission(m, body))
      await act(m, openMerchant(m, false))
      const copies = Array.from({ length: 50 }, (_, at) => (at % 2 ? settle : settleAtSecond)(body))
      const answers = await Promise.all(copies)
      for (const answer of answers) {
        expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed' })
        expect(answer).not.toHaveProperty('retryable')
      }
      const calls = new Set(answers.map(({ take_back: { data } }) => data as Hex))
      expect(calls.size).toBe(1)
      const [data] = calls
      const take = { account: m.market.accounts.stranger, to: m.till.router, data, chain: null }
      await m.chain.client.sendTransaction(take)
      await expect(m.chain.client.sendTransaction(take)).rejects.toThrow()
      expect(await m.balanceOf(buyer.address)).toBe(3n * PRICE)
      await act(m, openMerchant(m, true))
    }
    await books.audit()
  })

  it('are known for copies however they are spelled', async () => {
    const { body } = await payment()
    const { signature, authorization } = body.paymentPayload.payload
    const { from, to, nonce } = authorization
    const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}` as Hex
    const lower = (hex: string) => hex.toLowerCase() as Address
    const spell = (payload: Body['paymentPayload']['payload']): Body => ({
      ...body,
      paymentPayload: { ...body.paymentPayload, payload },
    })
    const v = signature.endsWith('1b') ? '00' : '01'
    const spellings = [
      body,
      spell({ signature, authorization: { ...authorization, from: lower(from), to: lower(to) } }),
      spell({ signature, authorization: { ...authorization, nonce: upper(nonce) } }),
      spell({ signature: `${signature.slice(0, -2) as Hex}${v}`, authorization }),
    ]
    const answers = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = spellings.map(settle)
      await sent(1)
      await waitingAt(m.facilitator, spellings.length)
      await mine()
      return Promise.all(settling)
    })
    expect(answers.map(({ success }) => success)).toEqual([true, true, true, true])
    for (const spelling of spellings) expect(await settle(spelling)).toMatchObject(used)
    await books.audit()
  })
})

describe('a payment whose token is swapped for that of another reviewer', () => {
  const salt = numberToHex(0x5a17, { size: 32 })

  it('is refused when its nonce commits to the link', async () => {
    for (const type of ['ReceiveWithAuthorization', 'TransferWithAuthorization'] as const) {
      const { buyer, body } = await payment({ salt, type })
      const answer = await settle(swapped(body))
      expect(answer).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
      expect(await m.balanceOf(buyer.address)).toBe(3n * PRICE)
      expect(await settle(body)).toMatchObject({ success: true })
      expect(await reviewersOf(body)).toEqual([m.reviewer.agentId])
    }
    await books.audit()
  })

  it('is refused when its nonce commits to the link and the salt is left out', async () => {
    const { body } = await payment({ salt })
    const { attributionSalt: _salt, ...extensions } = swapped(body).paymentPayload.extensions
    const unsalted = { ...body, paymentPayload: { ...body.paymentPayload, extensions } }
    expect(await settle(unsalted)).toMatchObject({ success: false, errorReason: 'invalid_payment' })
    await books.audit()
  })

  it('is refused while the first one is under way', async () => {
    const { body } = await payment()
    const answers = await betweenBlocks(m, async ({ sent, mine }) => {
      const first = settle(body)
      await sent(1)
      const late = [settle(swapped(body)), settleAtSecond(swapped(body)), settle(swapped(body))]
      const refused = await Promise.all(late)
      await mine()
      return [await first, ...refused]
    })
    const [first, ...late] = answers
    expect(first).toMatchObject({ success: true })
    for (const answer of late) expect(answer).toMatchObject(pinned)
    expect(await reviewersOf(body)).toEqual([m.reviewer.agentId])
    await books.audit()
  })

  it('is refused after the first one is settled', async () => {
    const { body } = await payment()
    expect(await settle(body)).toMatchObject({ success: true })
    // The transaction paid for another purchase: whoever is told it might serve for it.
    for (const again of [settle, settleAtSecond]) {
      expect(await again(swapped(body))).toMatchObject({ ...used, transaction: '' })
    }
    expect(await reviewersOf(body)).toEqual([m.reviewer.agentId])
    await books.audit()
  })

  it('is settled for one of the two when both come at once to two facilitators', async () => {
    for (let round = 0; round < 2; round += 1) {
      const { body } = await payment()
      const answers = await Promise.all([settle(body), settleAtSecond(swapped(body))])
      expect(answers.map(({ success }) => success).toSorted()).toEqual([false, true])
      expect(await reviewersOf(body)).toEqual([answers[0].success ? m.reviewer.agentId : other.agentId])
    }
    await books.audit()
  })
})

describe('a payment of which the records are lost', () => {
  it.each([
    ['was settled', false],
    ['was finished after somebody else had submitted it', true],
  ])('and which %s is refused, with its transaction [FAC-42 otherwise]', async (_how, isFrontRun) => {
    const { buyer, body } = await payment()
    if (isFrontRun) await act(m, submission(m, body))
    const { success, transaction } = await settle(body)
    expect(success).toBe(true)
    const payer = Buffer.from(buyer.address.slice(2), 'hex')
    const nobody = Buffer.alloc(20)
    // Final: the other facilitator, which may still follow its transaction, would find that it paid for nobody.
    await m.sql`UPDATE facilitator.settlements SET payer = ${nobody}, is_final = true WHERE payer = ${payer}`
    expect(await settle(body)).toMatchObject({ ...used, transaction })
    await m.sql`DELETE FROM facilitator.settlements WHERE payer = ${payer}`
    await m.sql`UPDATE facilitator.settlements SET payer = ${payer} WHERE payer = ${nobody}`
    await books.audit()
  })
})

describe('a payment that was altered', () => {
  it('is refused, and the one that was signed is settled after it [FAC-24, FAC-25, FAC-28]', async () => {
    const { buyer, body } = await payment()
    const rich = (await m.newBuyer()).address
    const thief = m.market.accounts.stranger.address
    const { authorization } = body.paymentPayload.payload
    const { amount } = body.paymentRequirements
    const cheaper = String(BigInt(amount) - 1n)
    const dearer = String(BigInt(amount) + 1n)
    const alter = (change: {
      signed?: Partial<typeof authorization>
      accepted?: object
      asked?: object
    }): Body => ({
      ...body,
      paymentPayload: {
        ...body.paymentPayload,
        accepted: { ...body.paymentRequirements, ...change.accepted },
        payload: {
          ...body.paymentPayload.payload,
          authorization: { ...authorization, ...change.signed },
        },
      },
      paymentRequirements: { ...body.paymentRequirements, ...change.asked },
    })
    const both = (change: object) => ({ accepted: change, asked: change })
    const altered = {
      'the value signed': alter({ signed: { value: cheaper } }),
      'a higher value signed': alter({ signed: { value: dearer } }),
      'the amount asked': alter({ asked: { amount: cheaper } }),
      'the amount accepted': alter({ accepted: { amount: cheaper } }),
      'a lower amount everywhere': alter({ signed: { value: cheaper }, ...both({ amount: cheaper }) }),
      'a higher amount everywhere': alter({ signed: { value: dearer }, ...both({ amount: dearer }) }),
      'a lower amount on both sides': alter(both({ amount: cheaper })),
      'the payee signed': alter({ signed: { to: thief } }),
      'the payee asked': alter({ asked: { payTo: thief } }),
      'the payee accepted': alter({ accepted: { payTo: thief } }),
      'the payee everywhere': alter({ signed: { to: thief }, ...both({ payTo: thief }) }),
      'the token asked': alter(both({ asset: thief })),
      'the network asked': alter(both({ network: 'eip155:1' })),
      'the payer': alter({ signed: { from: rich } }),
      'the nonce': alter({ signed: { nonce: numberToHex(1, { size: 32 }) } }),
      'the end': alter({ signed: { validBefore: String(BigInt(authorization.validBefore) + 1n) } }),
      'the beginning': alter({ signed: { validAfter: '1' } }),
    }
    for (const [what, change] of Object.entries(altered)) {
      const answer = await settle(change)
      expect(answer, what).toMatchObject({
        success: false,
        errorReason: 'invalid_payment',
        transaction: '',
      })
      expect((await m.verify(change)).body, what).toMatchObject({ isValid: false })
    }
    expect(await m.balanceOf(buyer.address)).toBe(3n * PRICE)
    expect(await settle(body)).toMatchObject({ success: true })
    await books.audit()
  })
})
