import { type Address, type LocalAccount, numberToHex, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { ownerless, withRegistry } from '../registry.ts'
import { act, betweenBlocks, type Deed, type OtherReviewer, otherReviewer, send, submission } from './acts.ts'
import { type Books, openBooks } from './books.ts'

let m: TestFacilitator
let books: Books
let proofs = 1n

beforeAll(async () => {
  m = await startTestFacilitator({ env: { LINGER_MS: '200' } })
  books = await openBooks(m)
})
afterAll(() => m?.close())

const settle = async (body: Body) => (await m.settle(body)).body

/** With money and gas. */
async function somebody(): Promise<LocalAccount> {
  const account = await m.newBuyer(2n * PRICE)
  await m.chain.client.setBalance({ address: account.address, value: parseEther('1') })
  return account
}

async function reviewer(): Promise<OtherReviewer> {
  proofs += 1n
  const found = await otherReviewer(m, await somebody(), proofs)
  books.reviewers.add(found.account.address)
  return found
}

/** Names a wallet of its own for an agent. */
async function walletOf(owner: LocalAccount, agentId: bigint, wallet: LocalAccount): Promise<void> {
  const { timestamp } = await m.chain.client.getBlock()
  const deadline = timestamp + 240n
  const signature = await wallet.signTypedData({
    domain: {
      name: 'ERC8004IdentityRegistry',
      version: '1',
      chainId: m.chainId,
      verifyingContract: m.market.addresses.IdentityRegistry,
    },
    types: {
      AgentWalletSet: [
        { name: 'agentId', type: 'uint256' },
        { name: 'newWallet', type: 'address' },
        { name: 'owner', type: 'address' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'AgentWalletSet',
    message: { agentId, newWallet: wallet.address, owner: owner.address, deadline },
  })
  const call: Deed['call'] = ['setAgentWallet', agentId, wallet.address, deadline, signature]
  await act(m, { by: owner, on: 'IdentityRegistry', call })
}

const handOver = (from: LocalAccount, to: Address, agentId: bigint): Deed => ({
  by: from,
  on: 'IdentityRegistry',
  call: ['transferFrom', from.address, to, agentId],
})

async function expectSelfReferral(body: Body): Promise<void> {
  const { from } = body.paymentPayload.payload.authorization
  const before = await m.balanceOf(from)
  const answer = await settle(body)
  expect(answer).toMatchObject({ success: false, errorReason: 'self_referral', transaction: '' })
  expect(answer).not.toHaveProperty('retryable')
  expect((await m.verify(body)).body).toMatchObject({ isValid: false, invalidReason: 'self_referral' })
  expect(await m.balanceOf(from)).toBe(before)
  await books.audit()
}

describe('a reviewer cannot buy through a link of their own', () => {
  it('as the owner of the reviewing agent [FAC-36]', async () => {
    const { account, attributionToken } = await reviewer()
    await expectSelfReferral(await m.payload(account, { attributionToken }))
  })

  it('as the owner of the reviewing agent when that is paid elsewhere [FAC-36]', async () => {
    const { account, agentId, attributionToken } = await reviewer()
    await walletOf(account, agentId, await somebody())
    await expectSelfReferral(await m.payload(account, { attributionToken }))
  })

  it('with the wallet of the reviewing agent', async () => {
    const { account, agentId, attributionToken } = await reviewer()
    const wallet = await somebody()
    await walletOf(account, agentId, wallet)
    await expectSelfReferral(await m.payload(wallet, { attributionToken }))
  })

  it('as another agent of theirs, from a wallet of its own [FAC-36]', async () => {
    const { account, attributionToken } = await reviewer()
    const second = await m.newAgent(account)
    const wallet = await somebody()
    await walletOf(account, second, wallet)
    await expectSelfReferral(await m.payload(wallet, { attributionToken, buyerAgentId: String(second) }))
  })

  it('as the reviewing agent itself', async () => {
    const { account, agentId, attributionToken } = await reviewer()
    await expectSelfReferral(await m.payload(account, { attributionToken, buyerAgentId: String(agentId) }))
  })

  it('while nobody can tell who owns the reviewing agent, whether the nonce commits to the link or not', async () => {
    const { account, agentId, attributionToken, terms } = await reviewer()
    const [wallet, other] = [await somebody(), await somebody()]
    books.reviewers.add(wallet.address)
    await walletOf(account, agentId, wallet)
    const salt = numberToHex(0x5a17, { size: 32 })
    const own = [{ attributionToken }, { attributionToken, terms, salt }]
    const bodies = await Promise.all([
      ...own.map((options) => m.payload(account, options)),
      ...own.map((options) => m.payload(other, options)),
    ])
    await withRegistry(m, ownerless(agentId), async () => {
      for (const answer of await Promise.all(bodies.map(settle)))
        expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
    })
    for (const body of bodies.slice(0, 2)) await expectSelfReferral(body)
    for (const body of bodies.slice(2)) expect(await settle(body)).toMatchObject({ success: true })
    await books.audit()
  })

  it('by having somebody else submit the transfer: the money is theirs to take back', async () => {
    const { account, attributionToken } = await reviewer()
    const body = await m.payload(account, { attributionToken })
    await act(m, submission(m, body))
    const answer = await settle(body)
    expect(answer).toMatchObject({ success: false, errorReason: 'self_referral' })
    const { to, data } = answer.take_back
    await m.chain.client.sendTransaction({ account: m.market.accounts.stranger, to, data, chain: null })
    expect(await m.balanceOf(account.address)).toBe(2n * PRICE)
    await books.audit()
  })
})

describe('an agent that changes hands', () => {
  it('to the payer after the offer makes it a self-referral [FAC-36]', async () => {
    const { account, agentId, attributionToken } = await reviewer()
    const buyer = await somebody()
    const body = await m.payload(buyer, { attributionToken })
    expect((await m.verify(body)).body).toMatchObject({ isValid: true })
    await act(m, handOver(account, buyer.address, agentId))
    await expectSelfReferral(body)
  })

  it('to the owner of the buying agent after the offer makes it a self-referral [FAC-36]', async () => {
    const { account, agentId, attributionToken } = await reviewer()
    const owner = await somebody()
    const wallet = await somebody()
    const buyerAgentId = await m.newAgent(owner)
    await walletOf(owner, buyerAgentId, wallet)
    const body = await m.payload(wallet, { attributionToken, buyerAgentId: String(buyerAgentId) })
    expect((await m.verify(body)).body).toMatchObject({ isValid: true })
    await act(m, handOver(account, owner.address, agentId))
    await expectSelfReferral(body)
  })

  it('to the payer between the trial and the block pays nobody [FAC-37]', async () => {
    const { account, agentId, attributionToken } = await reviewer()
    const buyer = await somebody()
    const body = await m.payload(buyer, { attributionToken })
    const answer = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = settle(body)
      await sent(1)
      await send(m, handOver(account, buyer.address, agentId))
      await mine()
      return settling
    })
    expect(answer).toMatchObject({ success: false })
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    await books.audit({ reverted: 1 })
    await expectSelfReferral(body)
  })

  it('from the payer to somebody else ends the self-referral', async () => {
    const { account, agentId, attributionToken } = await reviewer()
    const heir = await somebody()
    const body = await m.payload(account, { attributionToken })
    await expectSelfReferral(body)
    await act(m, handOver(account, heir.address, agentId))
    books.reviewers.add(heir.address)
    expect(await settle(body)).toMatchObject({ success: true })
    await books.audit()
  })

  it('no longer buys for the one that had it', async () => {
    const buyer = await somebody()
    const heir = await somebody()
    const buyerAgentId = await m.newAgent(buyer)
    const body = await m.payload(buyer, { buyerAgentId: String(buyerAgentId) })
    await act(m, handOver(buyer, heir.address, buyerAgentId))
    expect(await settle(body)).toMatchObject({
      success: false,
      errorReason: 'invalid_payment',
      transaction: '',
    })
    await books.audit()
  })
})

it('a self-referral in a batch costs the good payment beside it nothing', async () => {
  const { account, agentId, attributionToken } = await reviewer()
  // Paid elsewhere, so that the chain itself would let it pass.
  const wallet = await somebody()
  books.reviewers.add(wallet.address)
  await walletOf(account, agentId, wallet)
  const doomed = await m.payload(account, { attributionToken })
  const good = await m.payload(await somebody(), { attributionToken })
  const [first, second] = await Promise.all([settle(doomed), settle(good)])
  expect(first).toMatchObject({ errorReason: 'self_referral' })
  expect(second).toMatchObject({ success: true })
  await books.audit()
})
