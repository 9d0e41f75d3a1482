import { confirmed } from '@referrer/contracts/local'
import { commissionEscrowAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import fc from 'fast-check'
import { type Address, encodeFunctionData, type Hex } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { charge } from '../src/charge/charge.ts'
import type { Settler } from '../src/settlement/types.ts'
import { type Charging, startCharging } from './charging.ts'
import { PRICE } from './harness.ts'
import { requirementsOf } from './payloads.ts'
import { FAULTS, withRegistry } from './registry.ts'

let m: Charging

beforeAll(async () => {
  m = await startCharging()
})
afterAll(() => m?.close())
beforeEach(() => {
  m.shop.offer = requirementsOf(m.till, PRICE)
})

const people = () => m.market.accounts

async function write(functionName: 'setProductActive' | 'setActive', ...args: unknown[]): Promise<void> {
  const registry = { address: m.market.addresses.MerchantRegistry, abi: merchantRegistryAbi }
  const call = {
    ...registry,
    account: m.merchant.account,
    functionName,
    args: [m.merchant.merchantId, ...args],
  }
  await confirmed(m.market, await m.chain.client.writeContract(call as never))
}

/** A contract that passes what it is called with on to another, two times. */
function twiceTo(target: Address): Hex {
  const call = `60006000366000600073${target.slice(2)}5af150`
  return `0x366000600037${call}${call}00`
}

describe('the money is its payer’s to take back', () => {
  it.each([PRICE - 1n, PRICE + 1n])('when %s is not the price, and only once', async (value) => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer, value) })
    await m.expectTakenBack(walletBuyer, body, 'invalid_payment', value)
    const before = await m.balanceOf(walletBuyer.address)
    expect((await m.charge(body)).body).toMatchObject({ success: false, errorReason: 'invalid_payment' })
    expect(await m.balanceOf(walletBuyer.address)).toBe(before)
  })

  it('when the payer wrote the review', async () => {
    const { reviewer } = people()
    await m.expectTakenBack(
      reviewer,
      await m.bodyOf(reviewer, { txHash: await m.transfer(reviewer) }),
      'self_referral',
    )
  })

  it('when several transfers of one transaction are together not the price; if they are, they pay it', async () => {
    const { walletBuyer } = people()
    const { client } = m.chain
    const twice: Address = '0x00000000000000000000000000000000000c0de2'
    await client.setCode({ address: twice, bytecode: twiceTo(m.till.usdc) })
    const approved = { ...m.usdc, functionName: 'approve', args: [twice, 2n * PRICE] } as const
    await confirmed(m.market, await client.writeContract({ ...approved, account: walletBuyer }))
    const payTwice = (each: bigint) => {
      const args = [walletBuyer.address, m.till.router, each] as const
      const data = encodeFunctionData({ ...m.usdc, functionName: 'transferFrom', args })
      return client.sendTransaction({ account: walletBuyer, to: twice, data, chain: null })
    }
    await m.mustCharge(await m.bodyOf(walletBuyer, { txHash: await payTwice(PRICE / 2n) }))
    const body = await m.bodyOf(walletBuyer, { txHash: await payTwice(PRICE / 4n) })
    await m.expectTakenBack(walletBuyer, body, 'invalid_payment', PRICE / 2n)
  })

  it('although nothing is given away', async () => {
    const poor = await startCharging({ GIVEAWAY_PER_DAY: '0' })
    try {
      const { walletBuyer } = poor.market.accounts
      const body = await poor.bodyOf(walletBuyer, { txHash: await poor.transfer(walletBuyer, PRICE - 1n) })
      await poor.expectTakenBack(walletBuyer, body, 'invalid_payment', PRICE - 1n)
    } finally {
      await poor.close()
    }
  })

  it('an hour after the transfer, where only its shop does not tell the price', async () => {
    const { walletBuyer } = people()
    const txHash = await m.transfer(walletBuyer)
    const { timestamp } = await m.chain.client.getBlock({
      blockHash: (await m.chain.client.getTransactionReceipt({ hash: txHash })).blockHash,
    })
    const body = await m.bodyOf(walletBuyer, { txHash })
    m.shop.offer = undefined
    const answer = (await m.charge(body)).body
    expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
    const { to, data, not_before } = answer.take_back
    expect(not_before).toBe(Number(timestamp) + 3_600)
    const take = () =>
      m.chain.client.sendTransaction({ account: people().stranger, to, data, chain: null, gas: 300_000n })
    const status = async () => (await m.chain.client.waitForTransactionReceipt({ hash: await take() })).status
    expect(await status().catch(() => 'reverted')).toBe('reverted')
    await m.chain.client.increaseTime({ seconds: 3_600 })
    const before = await m.balanceOf(walletBuyer.address)
    expect(await status()).toBe('success')
    expect((await m.balanceOf(walletBuyer.address)) - before).toBe(PRICE)
    m.shop.offer = requirementsOf(m.till, PRICE)
    expect((await m.charge(body)).body).toMatchObject({
      success: false,
      errorMessage: expect.stringContaining('went back to its payer'),
    })
  })

  it('when the product is closed, even if its shop is gone', async () => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    await write('setProductActive', m.merchant.productId, false)
    m.shop.offer = undefined
    try {
      await m.expectTakenBack(walletBuyer, body, 'settle_failed')
    } finally {
      await write('setProductActive', m.merchant.productId, true)
    }
  })

  it('when the merchant is closed', async () => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    await write('setActive', false)
    try {
      await m.expectTakenBack(walletBuyer, body, 'settle_failed')
    } finally {
      await write('setActive', true)
    }
  })
})

describe.each(FAULTS)('while the identity registry %s', (_how, code) => {
  const unanswered = { errorReason: 'settle_failed', retryable: true }

  it('the money is its payer’s to take back', async () => {
    const { buyer, walletBuyer, stranger } = people()
    const signed: [typeof buyer, { buyerAgentId?: string }][] = [
      [walletBuyer, {}],
      [buyer, { buyerAgentId: String(m.buyerAgentId) }],
    ]
    for (const [payer, agent] of signed) {
      const body = await m.bodyOf(payer, { txHash: await m.transfer(payer), ...agent })
      const before = await m.balanceOf(payer.address)
      await withRegistry(m, code, async () => {
        await m.expectRefused(body, unanswered)
        const { to, data, not_before } = (await m.charge(body)).body.take_back
        expect({ to, not_before }).toEqual({ to: m.till.router, not_before: 0 })
        const taken = await m.chain.client.sendTransaction({ account: stranger, to, data, chain: null })
        await confirmed(m.market, taken)
        expect((await m.balanceOf(payer.address)) - before).toBe(PRICE)
        expect((await m.charge(body)).body).not.toHaveProperty('take_back')
      })
      expect((await m.charge(body)).body.errorMessage).toContain('went back to its payer')
    }
  })

  it('nobody is refused for good', async () => {
    const { buyer } = people()
    const signed = { txHash: await m.transfer(buyer), buyerAgentId: String(m.buyerAgentId) }
    const body = await m.bodyOf(buyer, signed)
    await withRegistry(m, code, () => m.expectRefused(body, unanswered))
    await m.mustCharge(body)
  })
})

describe('the money stays for the next try', () => {
  const offers: [string, () => object | undefined][] = [
    ['does not answer', () => undefined],
    ['offers nothing that can be read', () => ({ amount: 'x' })],
    ['wants to be paid elsewhere', () => ({ payTo: people().merchant.address })],
    ['wants another token', () => ({ asset: people().merchant.address })],
    ['sells on another chain', () => ({ network: 'eip155:1' })],
  ]
  it.each(offers)('while the shop %s', async (_what, change) => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    const changed = change()
    m.shop.offer = changed && { ...requirementsOf(m.till, PRICE), ...changed }
    await m.expectRefused(body, { errorReason: 'settle_failed', retryable: true })
    m.shop.offer = requirementsOf(m.till, PRICE)
    await m.mustCharge(body)
  })

  it('while the contracts are paused', async () => {
    const { walletBuyer, guardian } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer, PRICE + 1n) })
    const escrow = { address: m.market.addresses.CommissionEscrow, abi: commissionEscrowAbi } as const
    const toggle = (functionName: 'pause' | 'unpause') =>
      m.chain.client.writeContract({ ...escrow, account: guardian, functionName })
    await toggle('pause')
    try {
      await m.expectRefused(body, { errorReason: 'settle_failed', retryable: true })
    } finally {
      await toggle('unpause')
    }
    await m.expectTakenBack(walletBuyer, body, 'invalid_payment', PRICE + 1n)
  })

  it('while the records cannot be read', async () => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    const settler = { find: () => Promise.reject(new Error('down')) } as unknown as Settler
    const refused = { reason: 'settle_failed', retryable: true }
    await expect(charge(m.facilitator.context, settler, body)).rejects.toMatchObject(refused)
    await m.mustCharge(body)
  })

  it('while no node answers', async () => {
    const { walletBuyer } = people()
    const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer) })
    m.nodes.intercept = () => 'refuse'
    try {
      await m.expectRefused(body, { errorReason: 'settle_failed', retryable: true })
    } finally {
      m.nodes.intercept = undefined
    }
    await m.mustCharge(body)
  })
})

it('a link must be signed by the key of its chain, for it and for its router', async () => {
  const { walletBuyer } = people()
  const txHash = await m.transfer(walletBuyer)
  const bad = [
    await m.mint({}, 8),
    await m.mint({ chainId: 1 }),
    await m.mint({ splitRouter: walletBuyer.address }),
    'x',
  ]
  for (const attributionToken of bad) {
    const body = await m.bodyOf(walletBuyer, { txHash, attributionToken })
    await m.expectRefused(body, { errorReason: 'invalid_payment' })
  }
})

describe('a request', () => {
  it('learns what is wrong with a field', async () => {
    const body = await m.bodyOf(people().walletBuyer, { txHash: `0x${'12'.repeat(32)}` })
    const wrong = {
      txHash: [undefined, 7, '0x12', `${body.txHash}00`],
      attributionToken: [undefined, 7, ''],
      buyerAgentId: [7, '-1', '01', '0x1', 'abc', '9007199254740992', {}],
      chainId: [undefined, '31337', 1.5, 1],
      buyerSignature: [undefined, '', '0x', '0x1', 'ab', 7, `0x${'ab'.repeat(4_097)}`],
    }
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const { status, body: refused } = await m.charge({ ...body, [field]: value })
        expect(status).toBe(200)
        expect(refused).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
        expect(refused.errorMessage).toContain(field === 'chainId' ? 'chain' : field)
      }
    }
  })

  it.each(['null', '"x"', '7', '[]', '', '{'])('%s is no envelope', async (body) => {
    expect(await m.charge(body)).toMatchObject({ status: 400, body: { error: expect.any(String) } })
  })

  it('of any kind is refused in words, never by accident', async () => {
    const field = fc.oneof(fc.jsonValue(), fc.constant(m.till.attributionToken))
    const body = fc.record(
      {
        txHash: field,
        attributionToken: field,
        buyerAgentId: field,
        chainId: fc.oneof(field, fc.constant(m.chainId)),
        buyerSignature: field,
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(body, async (given) => {
        const answer = await m.charge(given)
        expect(answer).toMatchObject({
          status: 200,
          body: { success: false, errorMessage: expect.any(String) },
        })
      }),
      { numRuns: 100 },
    )
  })
})
