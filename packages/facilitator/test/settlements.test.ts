// What a merchant learns about a payment whose answer it missed.
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import type { Hex, LocalAccount } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { act, betweenBlocks, cancellation, openMerchant, send, submission, waitingAt } from './abuse/acts.ts'
import { type Books, openBooks } from './abuse/books.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'
import type { Body } from './payloads.ts'

let m: TestFacilitator
let books: Books
let buyer: LocalAccount

beforeAll(async () => {
  // What comes while a transaction is under way shares the next.
  m = await startTestFacilitator({ env: { MAX_BATCHES_IN_FLIGHT: '1' } })
  books = await openBooks(m)
  buyer = await m.newBuyer()
})
afterAll(() => m?.close())
afterEach(() => {
  m.nodes.intercept = undefined
})

const aboutOf = ({ paymentPayload }: Body) => {
  const { from: payer, nonce } = paymentPayload.payload.authorization
  return { payer, nonce, network: `eip155:${m.chainId}` }
}

async function statusOf(body: Body) {
  const { payer, nonce } = aboutOf(body)
  const answer = await m.call('GET', `/settlements/${payer}/${nonce}`)
  expect(answer.status).toBe(200)
  return answer.body
}

const escrowOf = async (body: Body): Promise<bigint> => {
  const { payer, nonce } = aboutOf(body)
  const [escrowId] = await m.chain.client.readContract({
    address: m.market.addresses.CommissionEscrow,
    abi: commissionEscrowAbi,
    functionName: 'escrowOf',
    args: [payer, nonce],
  })
  return escrowId
}

describe('a settlement', () => {
  it('is unknown as long as nothing was sent', async () => {
    const body = await m.payload(buyer)
    const unknown = { status: 'unknown', transaction: null, message: null, ...aboutOf(body) }
    expect(await statusOf(body)).toEqual(unknown)
    await m.verify(body)
    expect(await statusOf(body)).toEqual(unknown)
    const refused = await m.payload(buyer, { value: 1n })
    await m.settle(refused)
    expect(await statusOf(refused)).toMatchObject({ status: 'unknown' })
    await books.audit()
  })

  it('is pending until it is mined, then settled, in the transaction that made its escrow', async () => {
    const body = await m.payload(buyer)
    const { transaction } = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = m.settle(body)
      await sent(1)
      expect(await statusOf(body)).toEqual({
        status: 'pending',
        transaction: null,
        message: null,
        ...aboutOf(body),
      })
      expect(await escrowOf(body)).toBe(0n)
      await mine()
      return (await settling).body
    })
    expect(await statusOf(body)).toEqual({ status: 'settled', transaction, message: null, ...aboutOf(body) })
    const escrowId = await escrowOf(body)
    expect(await m.escrowsIn(transaction)).toMatchObject([{ escrowId }])
    await m.settle(body)
    expect(await statusOf(body)).toMatchObject({ status: 'settled', transaction })
    await m.restart()
    expect(await statusOf(body)).toMatchObject({ status: 'settled', transaction })
    await books.audit()
  })

  it('whose transaction the chain refused can be used until its end, and the buyer has paid nothing [FAC-37]', async () => {
    const body = await m.payload(buyer)
    const until = Number(body.paymentPayload.payload.authorization.validBefore)
    const before = await m.balanceOf(buyer.address)
    const answer = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = m.settle(body)
      await sent(1)
      await send(m, openMerchant(m, false))
      await mine()
      return (await settling).body
    })
    expect(answer).toEqual({
      success: false,
      errorReason: 'settle_failed',
      errorMessage: expect.stringContaining(`can still be used until ${until}`),
      transaction: '',
      network: `eip155:${m.chainId}`,
      payer: buyer.address,
      setup_url: m.env.SETUP_URL,
      pending: true,
      until,
    })
    expect(await m.balanceOf(buyer.address)).toBe(before)
    expect(await statusOf(body)).toEqual({
      status: 'pending',
      until,
      transaction: null,
      message: expect.stringMatching(/\S/),
      ...aboutOf(body),
    })
    expect(await escrowOf(body)).toBe(0n)
    await books.audit({ reverted: 1 })

    await act(m, openMerchant(m, true))
    const { success, transaction } = (await m.settle(body)).body
    expect(success).toBe(true)
    expect(await statusOf(body)).toEqual({ status: 'settled', transaction, message: null, ...aboutOf(body) })
    await books.audit()
  })

  it('has failed when the chain refused it in a transaction that settled others [FAC-37]', async () => {
    const payers = [await m.newBuyer(PRICE), await m.newBuyer(PRICE)] as const
    const [good, doomed] = [await m.payload(payers[0]), await m.payload(payers[1])]
    const answers = await betweenBlocks(m, async ({ sent, mine }) => {
      const before = m.settle(await m.payload(buyer))
      await sent(1)
      const settling = [m.settle(good), m.settle(doomed)]
      await waitingAt(m.facilitator, 3)
      await mine()
      await before
      await sent(3)
      await send(m, await cancellation(m, payers[1], doomed))
      await mine()
      return (await Promise.all(settling)).map(({ body }) => body)
    })
    expect(answers).toMatchObject([{ success: true }, { success: false, transaction: '' }])
    expect(await m.balanceOf(payers[1].address)).toBe(PRICE)
    expect(await statusOf(good)).toMatchObject({ status: 'settled', transaction: answers[0].transaction })
    expect(await statusOf(doomed)).toEqual({
      status: 'failed',
      transaction: null,
      message: expect.stringMatching(/\S/),
      ...aboutOf(doomed),
    })
    await books.audit()
  })

  it('has failed when the money had arrived and was taken back', async () => {
    const body = await m.payload(buyer)
    const before = await m.balanceOf(buyer.address)
    await act(m, submission(m, body))
    expect(await m.balanceOf(buyer.address)).toBe(before - PRICE)
    await act(m, openMerchant(m, false))
    const answer = (await m.settle(body)).body
    await act(m, openMerchant(m, true))
    expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed' })
    expect(await statusOf(body)).toMatchObject({ status: 'pending' })
    const { to, data } = answer.take_back
    const account = m.market.accounts.stranger
    await m.chain.client.sendTransaction({ account, to, data, chain: null })
    expect(await m.balanceOf(buyer.address)).toBe(before)
    expect(await statusOf(body)).toEqual({
      status: 'failed',
      transaction: null,
      message: 'the money went back to its payer',
      ...aboutOf(body),
    })
    await books.audit()
  })

  it('can be asked about, however its payer and nonce are spelled', async () => {
    const body = await m.payload(buyer)
    const { transaction } = (await m.settle(body)).body
    const about = aboutOf(body)
    const upper = (hex: Hex) => `0x${hex.slice(2).toUpperCase()}`
    for (const path of [
      `${about.payer}/${about.nonce}`,
      `${about.payer.toLowerCase()}/${upper(about.nonce)}`,
      `${upper(about.payer)}/${about.nonce}?chain_id=31337`,
    ]) {
      const { status, body: settled } = await m.call('GET', `/settlements/${path}`)
      expect([status, settled]).toEqual([200, { status: 'settled', transaction, message: null, ...about }])
    }
  })

  it('of somebody else with the same nonce is another one', async () => {
    const body = await m.payload(buyer)
    await m.settle(body)
    const { nonce } = aboutOf(body)
    const other = await m.call('GET', `/settlements/${m.reviewer.account.address}/${nonce}`)
    expect(other.body).toMatchObject({ status: 'unknown', transaction: null })
  })

  it('can be asked about while no node answers, and needs no signature', async () => {
    const body = await m.payload(buyer)
    await m.settle(body)
    m.nodes.intercept = () => 'refuse'
    expect(await statusOf(body)).toMatchObject({ status: 'settled' })
  })

  it.each([
    ['0x12/NONCE', 'invalid payer'],
    ['nobody/NONCE', 'invalid payer'],
    ['PAYER/0x12', 'invalid nonce'],
    ['PAYER/NONCE00', 'invalid nonce'],
    ['PAYER/NONCE?chain_id=x', 'invalid chain_id'],
    ['PAYER/NONCE?chain_id=', 'invalid chain_id'],
    ['PAYER/NONCE?chain_id=-1', 'invalid chain_id'],
    ['PAYER/NONCE?chain_id=1&chain_id=2', 'invalid chain_id'],
    ['PAYER/NONCE?chain_id=1', 'chain_id not configured'],
  ])('of %s is refused', async (path, error) => {
    const spelled = path.replace('PAYER', buyer.address).replace('NONCE', `0x${'11'.repeat(32)}`)
    const answer = await m.call('GET', `/settlements/${spelled}`)
    expect([answer.status, answer.body]).toEqual([
      400,
      { error, errorReason: 'bad_request', errorMessage: error },
    ])
  })
})
