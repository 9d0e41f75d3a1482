import { listProduct, signPurchase } from '@referrer/contracts/local'
import { Attribution } from '@referrer/protocol'
import { concat, keccak256, numberToHex, stringToBytes } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Charging, startCharging } from './charging.ts'
import { PRICE } from './harness.ts'
import { requirementsOf } from './payloads.ts'

let m: Charging

beforeAll(async () => {
  m = await startCharging()
})
afterAll(() => m?.close())
beforeEach(() => {
  m.shop.offer = requirementsOf(m.till, PRICE)
})

const people = () => m.market.accounts

describe('a transfer', () => {
  it('is split on the signature of the wallet that made it', async () => {
    const { walletBuyer } = people()
    const { payer, escrow } = await m.mustCharge(
      await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) }),
    )
    expect(payer).toBe(walletBuyer.address)
    expect(escrow).toMatchObject({
      payer: walletBuyer.address,
      price: PRICE,
      merchantId: m.merchant.merchantId,
      productId: m.merchant.productId,
      reviewId: m.reviewer.reviewId,
      reviewerAgentId: m.reviewer.agentId,
      buyerAgentId: Attribution.AGENTLESS_BUYER_ID,
    })
    expect(await m.balanceOf(m.till.router)).toBe(0n)
  })

  it('is split for the agent of the payer', async () => {
    const { buyer } = people()
    const signed = { txHash: await m.transfer(buyer), buyerAgentId: String(m.buyerAgentId) }
    expect((await m.mustCharge(await m.bodyOf(buyer, signed))).escrow).toMatchObject({
      buyerAgentId: m.buyerAgentId,
    })
  })

  it.each([undefined, null, ''])('is of no agent with buyerAgentId %j', async (none) => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    const { escrow } = await m.mustCharge({ ...body, buyerAgentId: none })
    expect(escrow).toMatchObject({ buyerAgentId: Attribution.AGENTLESS_BUYER_ID })
  })

  it('is taken with the other spelling of v in the signature', async () => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    const v = body.buyerSignature.endsWith('1b') ? '00' : '01'
    await m.mustCharge({ ...body, buyerSignature: `${body.buyerSignature.slice(0, -2)}${v}` })
  })

  it('is for the product that the shop sells at that endpoint', async () => {
    const { walletBuyer } = people()
    const other = { merchantId: m.merchant.merchantId, productId: numberToHex(0xb1, { size: 32 }) }
    await listProduct(m.market, m.merchant.account, other)
    const offer = requirementsOf(m.till, PRICE)
    m.shop.offer = { ...offer, extra: { ...offer.extra, productId: other.productId } }
    const { escrow } = await m.mustCharge(
      await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) }),
    )
    expect(escrow).toMatchObject(other)
  })

  it('is charged once: copies share the answer, and later ones learn of its transaction', async () => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    const [one, two] = await Promise.all([m.charge(body), m.charge(body)])
    expect(one.body).toMatchObject({ success: true })
    expect(two.body.transaction).toBe(one.body.transaction)
    m.shop.offer = undefined
    const used = { errorReason: 'invalid_payment', errorMessage: 'authorization already used' }
    expect((await m.charge(body)).body).toMatchObject({ ...used, transaction: one.body.transaction })
    const elsewhere = await m.bodyOf(walletBuyer, {
      txHash: body.txHash,
      attributionToken: await m.mint({ issuedAt: 1_750_000_001 }),
    })
    expect((await m.charge(elsewhere)).body).toMatchObject({ ...used, transaction: one.body.transaction })
  })

  it('that somebody else has charged is not charged again', async () => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    await m.mustCharge(body)
    await m.sql`DELETE FROM facilitator.settlements`
    await m.expectRefused(body, {
      errorReason: 'invalid_payment',
      errorMessage: 'authorization already used',
    })
  })
})

describe('the payer', () => {
  it('is who sent the transfer, not who signed', async () => {
    const { walletBuyer, stranger } = people()
    const txHash = await m.transfer(walletBuyer)
    const body = await m.bodyOf(stranger, { txHash })
    expect(await m.expectRefused(body, { errorReason: 'invalid_payment' })).toContain(walletBuyer.address)
    const inItsName = await m.bodyOf(stranger, { txHash, payer: walletBuyer.address })
    await m.expectRefused(inItsName, { errorReason: 'invalid_payment' })
  })

  it('cannot be told by a signature that nobody can have made', async () => {
    const body = await m.bodyOf(people().walletBuyer, { txHash: await m.transfer(people().walletBuyer) })
    // 5 is the abscissa of no point on the curve.
    const buyerSignature = concat([numberToHex(5, { size: 32 }), numberToHex(1, { size: 32 }), '0x1b'])
    await m.expectRefused({ ...body, buyerSignature }, { errorReason: 'invalid_payment' })
  })

  it('signs this transaction, this link and this agent', async () => {
    const { buyer } = people()
    const signed = { txHash: await m.transfer(buyer), buyerAgentId: String(m.buyerAgentId) }
    const body = await m.bodyOf(buyer, signed)
    const other = { attributionToken: await m.mint({ issuedAt: 1_750_000_001 }) }
    for (const change of [other, { buyerAgentId: '' }, { txHash: await m.transfer(buyer) }]) {
      await m.expectRefused({ ...body, ...change }, { errorReason: 'invalid_payment' })
    }
    await m.mustCharge(body)
  })

  it('may be a contract wallet, which is asked for the signature', async () => {
    const { walletBuyer, stranger } = people()
    const body = await m.bodyOf(stranger, { txHash: await m.transfer(walletBuyer) })
    // Accepts every signature that begins with 0xaa.
    const bytecode = '0x60643560f81c60aa14601057600080fd5b631626ba7e60e01b60005260206000f3'
    await m.chain.client.setCode({ address: walletBuyer.address, bytecode })
    try {
      await m.expectRefused({ ...body, buyerSignature: '0xbb' }, { errorReason: 'invalid_payment' })
      const { payer } = await m.mustCharge({ ...body, buyerSignature: '0xaa' })
      expect(payer).toBe(walletBuyer.address)
    } finally {
      await m.chain.client.setCode({ address: walletBuyer.address, bytecode: '0x' })
    }
  })

  it('names an agent of its own only', async () => {
    const { walletBuyer } = people()
    const txHash = await m.transfer(walletBuyer)
    for (const id of [m.buyerAgentId, 999_999n]) {
      const body = await m.bodyOf(walletBuyer, { txHash, buyerAgentId: String(id) })
      await m.expectRefused(body, { errorReason: 'invalid_payment' })
    }
    await m.mustCharge(await m.bodyOf(walletBuyer, { txHash }))
  })
})

describe('the transaction', () => {
  it('must be known', async () => {
    const body = await m.bodyOf(people().walletBuyer, { txHash: `0x${'12'.repeat(32)}` })
    await m.expectRefused(body, { errorReason: 'settle_failed', retryable: true })
  })

  it('must be deep enough', async () => {
    const { walletBuyer } = people()
    const [chain] = JSON.parse(m.env.CHAINS ?? '')
    const patient = await m.startAnother({ CHAINS: JSON.stringify([{ ...chain, confirmations: 3 }]) })
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    const ask = async () => {
      const sent = { method: 'POST', body: JSON.stringify(body) }
      return (await fetch(`${patient.url}/mpp/charge`, sent)).json()
    }
    try {
      await m.chain.client.mine({ blocks: 1 })
      expect(await ask()).toMatchObject({ errorReason: 'settle_failed', retryable: true, transaction: '' })
      await m.chain.client.mine({ blocks: 1 })
      expect(await ask()).toMatchObject({ success: true })
    } finally {
      await patient.stop()
    }
  })

  it('must have moved USDC to the router', async () => {
    const { walletBuyer, stranger } = people()
    for (const txHash of [
      await m.transfer(walletBuyer, PRICE, stranger.address),
      await m.transfer(walletBuyer, 0n),
    ]) {
      const refused = { errorReason: 'invalid_payment' }
      const message = await m.expectRefused(await m.bodyOf(walletBuyer, { txHash }), refused)
      expect(message).toContain('moved no USDC')
    }
  })

  it('must not have redeemed an authorisation of the payer: that is settled, not charged', async () => {
    const { walletBuyer, stranger } = people()
    const { merchantId, productId } = m.merchant
    const { authorization } = await signPurchase(m.market, walletBuyer, {
      value: PRICE,
      type: 'TransferWithAuthorization',
      attribution: Attribution.from(m.till.terms, { salt: `0x${'00'.repeat(32)}` }),
      salt: keccak256(stringToBytes(`${merchantId}${productId}`)),
    })
    const { from, value, validAfter, validBefore, nonce, signature } = authorization
    const txHash = await m.chain.client.writeContract({
      account: stranger,
      ...m.usdc,
      functionName: 'transferWithAuthorization',
      args: [from, m.till.router, value, validAfter, validBefore, nonce, signature],
    })
    await m.expectRefused(await m.bodyOf(walletBuyer, { txHash }), { errorReason: 'invalid_payment' })
  })

  it('that reverted is refused', async () => {
    const { stranger } = people()
    await m.chain.client.setAutomine(false)
    const txHash = await m.chain.client.writeContract({
      account: stranger,
      ...m.usdc,
      functionName: 'transfer',
      args: [m.till.router, PRICE * 1_000_000n],
      gas: 100_000n,
    })
    await m.chain.client.setAutomine(true)
    await m.chain.client.mine({ blocks: 1 })
    await m.expectRefused(await m.bodyOf(stranger, { txHash }), { errorReason: 'invalid_payment' })
  })
})
