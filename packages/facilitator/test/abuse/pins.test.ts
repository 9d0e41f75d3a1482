// Whose a signature is: what commits to nothing belongs to the purchase that it was first shown for, whoever sees it later.
import { listProduct, openMerchant as newMerchant, publishWithProof } from '@referrer/contracts/local'
import { commissionEscrowAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { type Hex, type LocalAccount, numberToHex, parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Chain } from '../../src/context.ts'
import { dropEnded } from '../../src/settlement/keep-pins.ts'
import { send as ask } from '../asking.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { act, betweenBlocks, openMerchant, reached, send, submission, waitingAt } from './acts.ts'
import { type Books, openBooks } from './books.ts'
import { ownedBy } from './wallets.ts'

let m: TestFacilitator
let books: Books
/** A ref link of the thief: to a shop of its own. */
let loot: { attributionToken: string; merchantId: bigint; account: LocalAccount }

beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
  loot = await openThievesShop()
})
afterAll(() => m?.close())

async function openThievesShop(): Promise<typeof loot> {
  const { stranger: account } = m.market.accounts
  const merchantId = await newMerchant(m.market, account)
  const product = { merchantId, productId: numberToHex(0xbad, { size: 32 }) }
  await listProduct(m.market, account, product, { commissionBps: 100 })
  const { reviewer } = m
  const content = '{"rating":5,"description":"Mine"}'
  const review = { agentId: reviewer.agentId, product, content, proofId: 77n }
  const { reviewId } = await publishWithProof(m.market, reviewer.account, review)
  const change = { merchantId: Number(merchantId), productId: product.productId, reviewId: Number(reviewId) }
  return { account, merchantId, attributionToken: await m.mint(change) }
}

const payment = async () => {
  const buyer = await m.newBuyer(2n * PRICE)
  return { buyer, body: await m.payload(buyer) }
}

/** The same signature, shown with the link of the thief. */
const stolen = (body: Body): Body => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, extensions: { attributionToken: loot.attributionToken } },
})

const settle = async (body: Body, { url }: { url: string } = m.facilitator) =>
  (await ask(url, 'POST', '/settle', { body })).body

const PINNED = { success: false, errorReason: 'invalid_payment', transaction: '' }
const pinned = (answer: unknown) => {
  expect(answer).toMatchObject(PINNED)
  expect(answer).toMatchObject({ errorMessage: expect.stringContaining('first shown for another purchase') })
}

async function expectNothingStolen(): Promise<void> {
  const lootOf = await m.chain.client.getContractEvents({
    address: m.market.addresses.CommissionEscrow,
    abi: commissionEscrowAbi,
    eventName: 'EscrowDeposited',
    fromBlock: 0n,
    strict: true,
  })
  expect(lootOf.filter(({ args }) => args.merchantId === loot.merchantId)).toEqual([])
}

describe('a signature that commits to nothing', () => {
  it('is refused for another shop, link, product, price or buyer for good, and settles for its own', async () => {
    const { buyer, body } = await payment()
    await m.verify(body)
    pinned(await settle(stolen(body)))
    const { requirements: _, ...rest } = { requirements: 0, ...body }
    await m.chain.client.setBalance({ address: buyer.address, value: parseEther('1') })
    const otherAgent = String(await m.newAgent(buyer))
    const { extensions } = body.paymentPayload
    for (const change of [
      { ...body.paymentPayload, extensions: { ...extensions, buyerAgentId: otherAgent } },
      {
        ...body.paymentPayload,
        extensions: { attributionToken: await m.mint({ cashbackOfCommissionBps: 2 }) },
      },
    ])
      pinned(await settle({ ...rest, paymentPayload: change }))
    expect((await m.verify(stolen(body))).body).toMatchObject({ isValid: false })
    expect(await settle(body)).toMatchObject({ success: true })
    expect(await settle(stolen(body))).toMatchObject({ errorMessage: 'authorization already used' })
    await expectNothingStolen()
    await books.audit()
  })

  it('is its shop’s after a failure in its block, and nobody is told that no money moved [FAC-12, FAC-37]', async () => {
    const { buyer, body } = await payment()
    const { validBefore, nonce, from } = body.paymentPayload.payload.authorization
    const answer = await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = settle(body)
      await sent(1)
      await send(m, openMerchant(m, false))
      await mine()
      return settling
    })
    expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed', pending: true })
    expect(answer.until).toBe(Number(validBefore))
    expect(answer.errorMessage).not.toContain('no money moved')
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    const standing = async () => (await m.call('GET', `/settlements/${from}/${nonce}`)).body
    expect(await standing()).toMatchObject({ status: 'pending', until: Number(validBefore) })
    // Its shop is closed: what its copy is told is no reason to pay anew either.
    expect(await settle(body)).toMatchObject({ success: false, retryable: true })
    const foreign = await settle(stolen(body))
    pinned(foreign)
    expect(foreign).not.toHaveProperty('pending')
    await act(m, openMerchant(m, true))
    pinned(await settle(stolen(body)))
    expect(await settle(body)).toMatchObject({ success: true })
    await expectNothingStolen()
    await books.audit({ reverted: 1 })
  })

  it('is settled for its shop while a request of another link waits for the records', async () => {
    const { body } = await payment()
    await m.verify(body)
    const nonce = Buffer.from(body.paymentPayload.payload.authorization.nonce.slice(2), 'hex')
    const answers = await m.sql.begin(async (tx) => {
      await tx`SELECT FROM facilitator.settlements WHERE nonce = ${nonce} FOR UPDATE`
      const thief = settle(stolen(body))
      await waitingAt(m.facilitator, 1)
      const own = settle(body)
      await waitingAt(m.facilitator, 2)
      return { thief, own }
    })
    pinned(await answers.thief)
    expect(await answers.own).toMatchObject({ success: true })
    await expectNothingStolen()
    await books.audit()
  })

  it('is no reason to pay anew where its shop has changed the price since it was sent', async () => {
    const { buyer, body } = await payment()
    const { validBefore } = body.paymentPayload.payload.authorization
    const dearer = (of: Body): Body => ({
      ...of,
      paymentRequirements: { ...of.paymentRequirements, amount: String(2n * PRICE) },
    })
    const { accepted: _, ...silent } = body.paymentPayload
    const changed = [dearer(body), dearer({ ...body, paymentPayload: silent })]
    const refused = { success: false, errorReason: 'invalid_payment', transaction: '' }
    for (const each of changed) expect(await settle(each)).not.toHaveProperty('pending')
    await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = settle(body)
      await sent(1)
      for (const each of changed) expect(await settle(each)).toMatchObject({ success: false, pending: true })
      await send(m, openMerchant(m, false))
      await mine()
      return settling
    })
    for (const each of changed) {
      expect(await settle(each)).toMatchObject({ ...refused, pending: true, until: Number(validBefore) })
      const { invalidMessage } = (await m.verify(each)).body
      expect(invalidMessage).toContain('send the same payment again, or wait for its end before you pay anew')
      // A purchase of somebody else learns nothing by its price.
      const foreign = await settle(stolen(each))
      expect(foreign).toMatchObject(refused)
      expect(foreign).not.toHaveProperty('pending')
    }
    await act(m, openMerchant(m, true))
    expect(await settle(body)).toMatchObject({ success: true })
    for (const each of changed) expect((await settle(each)).errorMessage).toBe('authorization already used')
    expect(await m.balanceOf(buyer.address)).toBe(PRICE)
    await books.audit({ reverted: 1 })
  })

  it('that failed in its block has failed when its end is in a block that nothing undoes', async () => {
    const { buyer, body } = await payment()
    const { nonce, from } = body.paymentPayload.payload.authorization
    await betweenBlocks(m, async ({ sent, mine }) => {
      const settling = settle(body)
      await sent(1)
      await send(m, openMerchant(m, false))
      await mine()
      return settling
    })
    await act(m, openMerchant(m, true))
    await m.chain.client.increaseTime({ seconds: 3_700 })
    await m.chain.client.mine({ blocks: 1 })
    m.clock.aheadMs += 3_700_000
    expect((await m.call('GET', `/settlements/${from}/${nonce}`)).body).toMatchObject({ status: 'failed' })
    const late = await settle(body)
    expect(late).toMatchObject({ success: false })
    expect(late.pending).toBeUndefined()
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    await books.audit({ reverted: 1 })
  })

  it('is its shop’s though somebody submits it and another replica is asked first, after a restart', async () => {
    const { body } = await payment()
    const shown = reached(m.facilitator, 'queued')
    m.nodes.intercept = (call) => (call.includes('"eth_call"') ? 'refuse' : 'pass')
    const first = settle(body)
    await shown
    await first
    m.nodes.intercept = undefined
    await act(m, submission(m, body))
    await m.restart()
    const another = await m.startAnother()
    try {
      pinned(await settle(stolen(body), another))
      pinned(await settle(stolen(body)))
      expect(await settle(body)).toMatchObject({ success: true })
    } finally {
      await another.stop()
    }
    await expectNothingStolen()
    await books.audit()
  })

  it('is its shop’s while a node refuses its trial and hands it on', async () => {
    const { body } = await payment()
    const { signature } = body.paymentPayload.payload
    let thief: Promise<unknown> | undefined
    m.nodes.intercept = async (call) => {
      const isTrial = call.includes('"eth_call"') && call.includes(signature.slice(2, 60))
      if (!isTrial || thief) return 'pass'
      // What the node has seen by now is shown with another link at once.
      thief = settle(stolen(body))
      await thief
      return 'refuse'
    }
    const answer = await settle(body)
    m.nodes.intercept = undefined
    pinned(await thief)
    expect(answer).toMatchObject({ success: true })
    await expectNothingStolen()
    await books.audit()
  })

  it.each(['TransferWithAuthorization', 'ReceiveWithAuthorization'] as const)(
    'of a contract wallet is asked about after its payment is pinned: %s that commits to its link',
    async (type) => {
      const [{ address: from }, owner] = [await m.newBuyer(PRICE), await m.newBuyer(0n)]
      await m.chain.client.setCode({ address: from, bytecode: ownedBy(owner.address) })
      const body = await m.payload(owner, { from, type, salt: numberToHex(0x70, { size: 32 }) })
      const { signature, authorization } = body.paymentPayload.payload
      const payer = Buffer.from(authorization.from.slice(2), 'hex')
      const pins: number[] = []
      let thief: unknown
      m.nodes.intercept = async (call) => {
        if (!call.includes(signature.slice(2, 60))) return 'pass' as const
        pins.push((await m.sql`SELECT FROM facilitator.settlements WHERE payer = ${payer}`).length)
        // Only a bare transfer can be shown without its salt, for a purchase that its nonce does not commit to.
        if (pins.length === 1) thief = await settle(stolen(body))
        return 'pass' as const
      }
      const answer = await settle(body)
      m.nodes.intercept = undefined
      expect(pins.length).toBeGreaterThan(1)
      expect(new Set(pins)).toEqual(new Set([1]))
      pinned(thief)
      expect(answer).toMatchObject({ success: true })
      await expectNothingStolen()
      await books.audit()
    },
  )

  it('keeps its pin while one of the clocks of a node and ours says that it could be used', async () => {
    const { body } = await payment()
    await m.verify(body)
    const { context } = m.facilitator
    const [chain] = context.chains.values()
    const payer = Buffer.from(body.paymentPayload.payload.authorization.from.slice(2), 'hex')
    const pins = async () => {
      await dropEnded(context, chain as Chain)
      return (await m.sql`SELECT FROM facilitator.settlements WHERE payer = ${payer}`).length
    }
    // The node lies: its block is of tomorrow.
    const timestamp = numberToHex(Math.floor((Date.now() + m.clock.aheadMs) / 1_000) + 86_400)
    m.nodes.intercept = (call) => {
      if (!call.includes('eth_getBlockByNumber')) return 'pass'
      const asked = JSON.parse(call)
      const answers = [asked].flat().map(({ id }) => ({ jsonrpc: '2.0', id, result: { timestamp } }))
      return Response.json(Array.isArray(asked) ? answers : answers[0])
    }
    expect(await pins()).toBe(1)
    m.nodes.intercept = undefined
    pinned(await settle(stolen(body)))
    expect(await settle(body)).toMatchObject({ success: true })
    await books.audit()
  })

  it('is settled for one of two shops that ask two replicas at the same moment', async () => {
    const another = await m.startAnother()
    try {
      for (let round = 0; round < 6; round += 1) {
        const { body } = await payment()
        await act(m, submission(m, body))
        const first = round % 2 === 0 ? [body, stolen(body)] : [stolen(body), body]
        const answers = await Promise.all([settle(first[0] as Body), settle(first[1] as Body, another)])
        expect(answers.filter(({ success }) => success).length).toBeLessThanOrEqual(1)
        expect(answers.some(({ errorMessage }) => errorMessage?.includes('another purchase'))).toBe(true)
      }
    } finally {
      await another.stop()
    }
  })

  it('counts against its client where its row would stay for more than a day, and nothing else does', async () => {
    const buyer = await m.newBuyer()
    const ends = BigInt(Math.floor((Date.now() + m.clock.aheadMs) / 1_000) + 30 * 3_600)
    const long = await m.payload(buyer, { validBefore: ends })
    const verify = (body: Body) => m.verify(body).then(({ body: answer }) => answer.invalidMessage ?? 'valid')
    const answers = new Set<string>()
    for (let batch = 0; batch < 12 && answers.size < 2; batch += 1)
      for (const answer of await Promise.all(Array.from({ length: 50 }, () => verify(long))))
        answers.add(answer)
    expect([...answers].toSorted()).toEqual([
      expect.stringMatching(/^too many payments that are valid for more than a day/),
      'valid',
    ])
    expect(await settle(await m.payload(buyer))).toMatchObject({ success: true })
    const committed = await m.payload(buyer, { validBefore: ends, salt: numberToHex(9, { size: 32 }) })
    expect(await settle(committed)).toMatchObject({ success: true })
  })
})

describe('money that reached the router by a signature that nobody had shown', () => {
  it('is split for nobody after its end, and is its payer’s to take back, at anybody’s expense but ours', async () => {
    const { buyer, body } = await payment()
    await act(m, submission(m, body))
    await m.chain.client.increaseTime({ seconds: 3_700 })
    await m.chain.client.mine({ blocks: 1 })
    m.clock.aheadMs += 3_700_000
    const before = await relayersGas()
    for (const each of [body, stolen(body)]) {
      const answer = await settle(each)
      expect(answer).toMatchObject({ success: false, errorReason: 'invalid_payment' })
      expect(answer.take_back).toMatchObject({ to: m.till.router, not_before: 0 })
    }
    const { take_back } = await settle(body)
    await m.chain.client.sendTransaction({
      account: m.market.accounts.stranger,
      to: take_back.to,
      data: take_back.data as Hex,
    })
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    expect(await relayersGas()).toBe(before)
    const again = await settle(body)
    expect(again).toMatchObject({ success: false, errorReason: 'invalid_payment' })
    expect(again.take_back).toBeUndefined()
    expect(
      await m.chain.client.readContract({
        address: m.till.router,
        abi: splitRouterAbi,
        functionName: 'refunded',
        args: [buyer.address, body.paymentPayload.payload.authorization.nonce as Hex],
      }),
    ).toBe(true)
  })

  const relayersGas = async () =>
    (await Promise.all(m.relayers.map(({ address }) => m.chain.client.getBalance({ address })))).reduce(
      (sum, each) => sum + each,
      0n,
    )
})

it('a payment that commits to the link pays for no other product of its shop', async () => {
  const productId = numberToHex(0xb1, { size: 32 })
  const { account, merchantId } = m.merchant
  await listProduct(m.market, account, { merchantId, productId }, { commissionBps: 2_000 })
  const buyer = await m.newBuyer(2n * PRICE)
  const body = await m.payload(buyer, {
    salt: numberToHex(8, { size: 32 }),
    requirements: { extra: { ...m.till.token, productId } },
  })
  for (const answer of [(await m.settle(body)).body, (await m.verify(body)).body])
    expect(answer.errorMessage ?? answer.invalidMessage).toContain('commits to the product of the link')
  expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
})

describe('on a chain whose blocks come more slowly than answers', () => {
  let slow: TestFacilitator
  beforeAll(async () => {
    slow = await startTestFacilitator({ confirmations: 6, env: { ANSWER_TIMEOUT_MS: '1000' } })
  })
  afterAll(() => slow?.close())

  it('money that somebody submitted is split for who showed the signature first, however long it takes', async () => {
    const buyer = await slow.newBuyer(PRICE)
    const body = await slow.payload(buyer)
    const { account, agentId } = slow.reviewer
    const product = { merchantId: slow.merchant.merchantId, productId: slow.merchant.productId }
    const content = '{"rating":4,"description":"Another link"}'
    const { reviewId } = await publishWithProof(slow.market, account, {
      agentId,
      product,
      content,
      proofId: 78n,
    })
    const attributionToken = await slow.mint({ reviewId: Number(reviewId) })
    const swapped = { ...body, paymentPayload: { ...body.paymentPayload, extensions: { attributionToken } } }
    await act(slow, submission(slow, body))
    const at = async (each: Body) => (await ask(slow.facilitator.url, 'POST', '/settle', { body: each })).body
    // The answer of its shop comes before the block that makes the transfer deep enough; then the thief has all the time.
    expect(await at(body)).toMatchObject({ success: false, retryable: true })
    pinned(await at(swapped))
    await slow.chain.client.mine({ blocks: 6 })
    pinned(await at(swapped))
    await expect.poll(async () => (await at(body)).success ?? false, { timeout: 60_000 }).toBe(true)
  })
})
