import { createRpcPool } from '@referrer/chain'
import { confirmed, signPurchase } from '@referrer/contracts/local'
import { ProtocolError } from '@referrer/protocol'
import { commissionEscrowAbi, merchantRegistryAbi, sandboxUSDCAbi } from '@referrer/protocol/abi'
import fc from 'fast-check'
import {
  type Address,
  encodeFunctionData,
  type Hash,
  type Hex,
  type LocalAccount,
  parseEventLogs,
} from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Refused } from '../payment/refused.ts'
import { charge } from './charge.ts'
import { type Fixture, PRICE, startFixture, type TestSettler, testSettler } from './fixture.ts'

let f: Fixture
let settler: TestSettler

beforeAll(async () => {
  f = await startFixture()
})
afterAll(() => f.close())
beforeEach(() => {
  settler = testSettler(f)
  f.shop.answer = f.offer()
})

const people = () => f.market.accounts
const usdc = () => ({ address: f.market.addresses.USDC, abi: sandboxUSDCAbi }) as const
const ask = (body: unknown) => charge(f.context, settler, body)

/** A body that is charged, with what a test wants otherwise. */
async function bodyOf(payer: LocalAccount, txHash: Hash, other: Record<string, unknown> = {}) {
  const token = (other.attributionToken as string | undefined) ?? f.token
  const buyerAgentId = typeof other.buyerAgentId === 'string' ? BigInt(other.buyerAgentId) : undefined
  const signed = { txHash, token, ...(buyerAgentId !== undefined && { buyerAgentId }) }
  return {
    txHash,
    attributionToken: token,
    chainId: f.chain.chainId,
    buyerSignature: await f.sign(payer, signed),
    ...other,
  }
}

async function paid(payer: LocalAccount, value = PRICE): Promise<Hash> {
  const txHash = await f.transfer(payer, value)
  await f.bury()
  return txHash
}

async function refusalOf(body: unknown): Promise<Refused> {
  const error = await ask(body).then(
    () => undefined,
    (refused: unknown) => refused,
  )
  expect(error).toBeInstanceOf(Refused)
  return error as Refused
}

/** Refused without a trace. */
async function expectRefused(body: unknown, refused: Partial<Refused>): Promise<void> {
  expect(await refusalOf(body)).toMatchObject({ retryable: false, transaction: undefined, ...refused })
  expect(settler.deposits).toEqual([])
}

/** Refused, and the payer has the money again. */
async function expectRefund(payer: LocalAccount, body: unknown, refused: Partial<Refused>): Promise<void> {
  const before = await f.balance(payer.address)
  const error = await refusalOf(body)
  expect(error).toMatchObject({ retryable: false, ...refused })
  expect(error.message).toContain(`the money went back to ${payer.address}`)
  const [deposit] = settler.deposits
  expect((await f.balance(payer.address)) - before).toBe(deposit?.charge.value)
  const receipt = await f.local.client.getTransactionReceipt({ hash: error.transaction as Hash })
  expect(receipt.status).toBe('success')
}

async function depositIn(hash: Hash) {
  const { logs } = await f.local.client.getTransactionReceipt({ hash })
  return parseEventLogs({ abi: commissionEscrowAbi, eventName: 'EscrowDeposited', logs })[0]?.args
}

describe('a transfer', () => {
  it('is split on the signature of the wallet that made it', async () => {
    const { walletBuyer } = people()
    const { transaction, payer } = await ask(await bodyOf(walletBuyer, await paid(walletBuyer)))
    expect(payer).toBe(walletBuyer.address)
    expect(await depositIn(transaction)).toMatchObject({
      payer: walletBuyer.address,
      price: PRICE,
      reviewerAgentId: f.reviewerAgentId,
      buyerAgentId: 2n ** 256n - 1n,
      productId: f.product.productId,
    })
    expect(f.shop.asked['x-referrer-token']).toBe(f.token)
    expect(f.shop.asked).not.toHaveProperty('x-referrer-buyer-agent-id')
  })

  it('is split for the agent of the payer', async () => {
    const { buyer } = people()
    const body = await bodyOf(buyer, await paid(buyer), { buyerAgentId: String(f.buyerAgentId) })
    const { transaction } = await ask(body)
    expect(await depositIn(transaction)).toMatchObject({ buyerAgentId: f.buyerAgentId })
    expect(f.shop.asked['x-referrer-buyer-agent-id']).toBe(String(f.buyerAgentId))
  })

  it.each([undefined, null, ''])('is of no agent with buyerAgentId %j', async (buyerAgentId) => {
    const { walletBuyer } = people()
    const txHash = await paid(walletBuyer)
    const { transaction } = await ask({ ...(await bodyOf(walletBuyer, txHash)), buyerAgentId })
    expect(await depositIn(transaction)).toMatchObject({ buyerAgentId: 2n ** 256n - 1n })
  })

  it('is taken with the other spelling of v in the signature', async () => {
    const { walletBuyer } = people()
    const body = await bodyOf(walletBuyer, await paid(walletBuyer))
    const v = body.buyerSignature.endsWith('1b') ? '00' : '01'
    expect(await ask({ ...body, buyerSignature: `${body.buyerSignature.slice(0, -2)}${v}` })).toHaveProperty(
      'transaction',
    )
  })

  it('is for the product that the shop sells at that endpoint', async () => {
    const { walletBuyer, merchant } = people()
    const other = { merchantId: f.product.merchantId, productId: `0x${'22'.repeat(32)}` as Hex }
    await list(merchant, other.productId)
    f.shop.answer = f.offer({}, { productId: other.productId })
    const { transaction } = await ask(await bodyOf(walletBuyer, await paid(walletBuyer)))
    expect(await depositIn(transaction)).toMatchObject(other)
  })

  it('is one deposit for every copy of the request, whatever the shop says between them', async () => {
    const { walletBuyer } = people()
    const body = await bodyOf(walletBuyer, await paid(walletBuyer))
    await ask(body)
    f.shop.answer = f.offer({}, { productId: `0x${'22'.repeat(32)}` })
    await refusalOf(body)
    const [first, second] = settler.deposits
    expect(second?.digest).toBe(first?.digest)
    const other = { ...body, buyerAgentId: '0' }
    expect((await refusalOf(other)).reason).toBe('invalid_payment')
  })

  it.each(['settled', 'refunded'] as const)(
    'that was %s before is refused with that transaction',
    async (status) => {
      const { walletBuyer } = people()
      const body = await bodyOf(walletBuyer, await paid(walletBuyer))
      const transaction: Hash = `0x${'77'.repeat(32)}`
      settler.known = { status, transaction, message: null }
      f.shop.answer = undefined
      await expectRefused(body, { reason: 'invalid_payment', transaction })
    },
  )
})

async function list(merchant: LocalAccount, productId: Hex): Promise<void> {
  await write(merchant, 'listProduct', [f.product.merchantId, productId, 1_000, 0n, 0, ''])
}

async function write(
  account: LocalAccount,
  functionName: 'listProduct' | 'setProductActive' | 'setActive',
  args: readonly unknown[],
): Promise<void> {
  const call = {
    account,
    address: f.market.addresses.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName,
    args,
  }
  await confirmed(f.market, await f.local.client.writeContract(call as never))
}

/** A contract that passes what it is called with on to another, two times. */
function twiceTo(target: Address): Hex {
  const call = `60006000366000600073${target.slice(2)}5af150`
  return `0x366000600037${call}${call}00`
}

describe('the payer', () => {
  it('is who sent the transfer, not who signed', async () => {
    const { walletBuyer, stranger } = people()
    const txHash = await paid(walletBuyer)
    const body = await bodyOf(stranger, txHash)
    await expectRefused(body, { reason: 'invalid_payment' })
    const signed = await f.sign(stranger, { txHash, payer: walletBuyer.address })
    await expectRefused({ ...body, buyerSignature: signed }, { reason: 'invalid_payment' })
    expect((await refusalOf(body)).message).toContain(walletBuyer.address)
  })

  it('signs this transaction, this link and this agent', async () => {
    const { buyer } = people()
    const txHash = await paid(buyer)
    const body = await bodyOf(buyer, txHash, { buyerAgentId: String(f.buyerAgentId) })
    const other = await f.mint({ issuedAt: 1_750_000_001 })
    const changed = [{ attributionToken: other }, { buyerAgentId: '' }, { txHash: await paid(buyer) }]
    for (const change of changed) await expectRefused({ ...body, ...change }, { reason: 'invalid_payment' })
    expect(await ask(body)).toHaveProperty('transaction')
  })

  it('may be a contract wallet, which is asked for the signature', async () => {
    const { walletBuyer, stranger } = people()
    // Answers every question about a signature with yes if its first byte is 0xaa.
    const code = '0x60643560f81c60aa14601057600080fd5b631626ba7e60e01b60005260206000f3' as Hex
    const txHash = await paid(walletBuyer)
    await f.local.client.setCode({ address: walletBuyer.address, bytecode: code })
    try {
      const body = await bodyOf(stranger, txHash)
      await expectRefused({ ...body, buyerSignature: '0xbb' }, { reason: 'invalid_payment' })
      const { payer } = await ask({ ...body, buyerSignature: '0xaa' })
      expect(payer).toBe(walletBuyer.address)
    } finally {
      await f.local.client.setCode({ address: walletBuyer.address, bytecode: '0x' })
    }
  })

  it('names an agent of its own only', async () => {
    const { walletBuyer } = people()
    const txHash = await paid(walletBuyer)
    for (const id of [f.buyerAgentId, 999_999n]) {
      const body = await bodyOf(walletBuyer, txHash, { buyerAgentId: String(id) })
      await expectRefused(body, { reason: 'invalid_payment' })
    }
    expect(await ask(await bodyOf(walletBuyer, txHash))).toHaveProperty('transaction')
  })
})

describe('the transaction', () => {
  it('must be known and deep enough, and is asked for again until then', async () => {
    const { walletBuyer } = people()
    const unknown = await bodyOf(walletBuyer, `0x${'12'.repeat(32)}`)
    await expectRefused(unknown, { reason: 'settle_failed', retryable: true })
    const body = await bodyOf(walletBuyer, await f.transfer(walletBuyer, PRICE))
    await expectRefused(body, { reason: 'settle_failed', retryable: true })
    await f.bury()
    expect(await ask(body)).toHaveProperty('transaction')
  })

  it('must have moved USDC to the router', async () => {
    const { walletBuyer, stranger } = people()
    const elsewhere = await f.transfer(walletBuyer, PRICE, stranger.address)
    await f.bury()
    await expectRefused(await bodyOf(walletBuyer, elsewhere), { reason: 'invalid_payment' })
  })

  it('must not have redeemed an authorisation of the payer: that is settled, not charged', async () => {
    const { walletBuyer, stranger } = people()
    const { authorization } = await signPurchase(f.market, walletBuyer, {
      value: PRICE,
      type: 'TransferWithAuthorization',
      attribution: {
        ...f.product,
        reviewId: 1n,
        reviewerAgentId: f.reviewerAgentId,
        buyerAgentId: 0n,
        cashbackOfCommissionBps: 0,
        commissionMultiplierBps: 7_000,
      },
    })
    const { from, value, validAfter, validBefore, nonce, signature } = authorization
    const txHash = await f.local.client.writeContract({
      account: stranger,
      ...usdc(),
      functionName: 'transferWithAuthorization',
      args: [from, f.chain.contracts.SplitRouter, value, validAfter, validBefore, nonce, signature],
    })
    await f.bury()
    await expectRefused(await bodyOf(walletBuyer, txHash), { reason: 'invalid_payment' })
  })

  it('that reverted is refused', async () => {
    const { stranger } = people()
    await f.local.client.setAutomine(false)
    const txHash = await f.local.client.writeContract({
      account: stranger,
      ...usdc(),
      functionName: 'transfer',
      args: [f.chain.contracts.SplitRouter, PRICE * 1_000n],
      gas: 100_000n,
    })
    await f.local.client.setAutomine(true)
    await f.bury()
    await expectRefused(await bodyOf(stranger, txHash), { reason: 'invalid_payment' })
  })
})

describe('the money goes back', () => {
  it.each([PRICE - 1n, PRICE + 1n])('when %s is not the price', async (value) => {
    const { walletBuyer } = people()
    const body = await bodyOf(walletBuyer, await paid(walletBuyer, value))
    await expectRefund(walletBuyer, body, { reason: 'invalid_payment' })
  })

  it('when the payer wrote the review', async () => {
    const { reviewer } = people()
    const body = await bodyOf(reviewer, await paid(reviewer))
    await expectRefund(reviewer, body, { reason: 'self_referral' })
  })

  it('when the payer made several transfers in one transaction', async () => {
    const { walletBuyer } = people()
    const { client } = f.local
    const twice: Address = '0x00000000000000000000000000000000000c0de2'
    await client.setCode({ address: twice, bytecode: twiceTo(f.chain.contracts.USDC) })
    const approved = { ...usdc(), functionName: 'approve', args: [twice, PRICE] } as const
    await confirmed(f.market, await client.writeContract({ ...approved, account: walletBuyer }))
    const data = encodeFunctionData({
      ...usdc(),
      functionName: 'transferFrom',
      args: [walletBuyer.address, f.chain.contracts.SplitRouter, PRICE / 2n],
    })
    const txHash = await client.sendTransaction({ account: walletBuyer, to: twice, data, chain: null })
    await f.bury()
    await expectRefund(walletBuyer, await bodyOf(walletBuyer, txHash), { reason: 'invalid_payment' })
    expect(settler.deposits[0]?.charge.value).toBe(PRICE)
  })

  it('when the product is closed, even if its shop is gone', async () => {
    const { walletBuyer, merchant } = people()
    const { merchantId, productId } = f.product
    const body = await bodyOf(walletBuyer, await paid(walletBuyer))
    await write(merchant, 'setProductActive', [merchantId, productId, false])
    f.shop.answer = undefined
    try {
      await expectRefund(walletBuyer, body, { reason: 'settle_failed' })
    } finally {
      await write(merchant, 'setProductActive', [merchantId, productId, true])
    }
  })

  it('when the merchant is closed', async () => {
    const { walletBuyer, merchant } = people()
    const body = await bodyOf(walletBuyer, await paid(walletBuyer))
    await write(merchant, 'setActive', [f.product.merchantId, false])
    try {
      await expectRefund(walletBuyer, body, { reason: 'settle_failed' })
    } finally {
      await write(merchant, 'setActive', [f.product.merchantId, true])
    }
  })
})

describe('the money stays for the next try', () => {
  const unusable: [string, () => Fixture['shop']['answer']][] = [
    ['does not answer', () => undefined],
    ['makes no offer', () => ({ status: 200, body: {} })],
    ['offers nothing that can be read', () => ({ status: 402, body: { accepts: 'x' } })],
    ['wants to be paid elsewhere', () => f.offer({ payTo: people().merchant.address })],
    ['wants another token', () => f.offer({ asset: people().merchant.address })],
    ['sells on another chain', () => f.offer({ network: 'eip155:1' })],
  ]
  it.each(unusable)('while the shop %s', async (_what, answer) => {
    const { walletBuyer } = people()
    const body = await bodyOf(walletBuyer, await paid(walletBuyer))
    f.shop.answer = answer()
    await expectRefused(body, { reason: 'settle_failed', retryable: true })
    f.shop.answer = f.offer()
    expect(await ask(body)).toHaveProperty('transaction')
  })

  it('while the contracts are paused', async () => {
    const { walletBuyer, guardian } = people()
    const body = await bodyOf(walletBuyer, await paid(walletBuyer, PRICE + 1n))
    const escrow = { address: f.market.addresses.CommissionEscrow, abi: commissionEscrowAbi } as const
    await f.local.client.writeContract({ ...escrow, account: guardian, functionName: 'pause' })
    try {
      await expectRefused(body, { reason: 'settle_failed', retryable: true })
    } finally {
      await f.local.client.writeContract({ ...escrow, account: guardian, functionName: 'unpause' })
    }
  })

  it('while no node answers', async () => {
    const { walletBuyer } = people()
    const body = await bodyOf(walletBuyer, await paid(walletBuyer))
    const { request } = f.chain.rpc
    f.chain.rpc.request = createRpcPool({ chainId: f.chain.chainId, urls: ['http://127.0.0.1:1'] }).request
    try {
      await expectRefused(body, { reason: 'settle_failed', retryable: true })
    } finally {
      f.chain.rpc.request = request
    }
  })
})

describe('the link', () => {
  it('must be signed by the key of its chain, for it and for its router', async () => {
    const { walletBuyer } = people()
    const txHash = await paid(walletBuyer)
    const bad = [
      await f.mint({}, 8),
      await f.mint({ chainId: 1 }),
      await f.mint({ splitRouter: walletBuyer.address }),
      'x',
    ]
    for (const attributionToken of bad) {
      const body = await bodyOf(walletBuyer, txHash, { attributionToken })
      await expectRefused(body, { reason: 'invalid_payment' })
    }
  })
})

describe('the request', () => {
  it('says what is wrong with a field', async () => {
    const { walletBuyer } = people()
    const body = await bodyOf(walletBuyer, `0x${'12'.repeat(32)}`)
    const wrong = {
      txHash: [undefined, 7, '0x12', `${body.txHash}00`],
      attributionToken: [undefined, 7, ''],
      buyerAgentId: [7, '-1', '01', '0x1', 'abc', '9007199254740992', {}],
      chainId: [undefined, '31337', 1.5, 1],
      buyerSignature: [undefined, '', '0x', '0x1', 'ab', 7, `0x${'ab'.repeat(4_097)}`],
    }
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const refused = await refusalOf({ ...body, [field]: value })
        expect(refused.reason).toBe('invalid_payment')
        expect(refused.message, `${field} ${String(value)}`).toMatch(
          new RegExp(field === 'chainId' ? 'chain' : field),
        )
      }
    }
  })

  it.each([null, 'x', 7, [], undefined])('%j is no envelope', async (body) => {
    await expect(ask(body)).rejects.toMatchObject({ code: 'invalid_envelope' })
  })

  it('of any kind is refused in words, never by accident', async () => {
    const field = fc.oneof(
      fc.json().map((text) => JSON.parse(text) as unknown),
      fc.constant(f.token),
    )
    const body = fc.record(
      {
        txHash: field,
        attributionToken: field,
        buyerAgentId: field,
        chainId: fc.oneof(field, fc.constant(f.chain.chainId)),
        buyerSignature: field,
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, field), async (given) => {
        const error = await ask(given).then(
          () => undefined,
          (refused: unknown) => refused,
        )
        expect(error instanceof Refused || error instanceof ProtocolError).toBe(true)
      }),
      { numRuns: 100 },
    )
  })
})
