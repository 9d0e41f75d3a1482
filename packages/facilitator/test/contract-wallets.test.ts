// Wallets that people have: Safe, deployed or not yet, and accounts with a key that delegate to code.
import { confirmed, mintUsdc } from '@referrer/contracts/local'
import {
  delegatedAccount,
  deploySafeContracts,
  deploySimple7702,
  foreseeSafe,
  type Safe,
  type SafeContracts,
  safeFactory,
} from '@referrer/contracts/local/wallets'
import { createPaymentMemory, createReferralEndpoint, type ReferralEndpoint } from '@referrer/merchant'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import {
  type Address,
  encodeFunctionData,
  type Hex,
  type LocalAccount,
  numberToHex,
  parseEventLogs,
  serializeErc6492Signature,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unwrapSignature } from '../src/onchain/wallet-deployment.ts'
import { readPayment } from '../src/payment/read.ts'
import { toSettle } from '../src/settlement/order.ts'
import { act, submission } from './abuse/acts.ts'
import { type Books, openBooks } from './abuse/books.ts'
import { shopSettings } from './abuse/shops.ts'
import { ponderous } from './abuse/wallets.ts'
import { type Answer, send } from './asking.ts'
import { type Charging, startCharging } from './charging.ts'
import { PRICE } from './harness.ts'

let m: Charging
let books: Books
let safes: SafeContracts
let code7702: Address

beforeAll(async () => {
  m = await startCharging({ WALLET_FACTORIES: safeFactory() })
  safes = await deploySafeContracts(m.market)
  code7702 = await deploySimple7702(m.market)
  books = await openBooks(m)
})
afterAll(() => m?.close())

/** With money for ten purchases. */
async function safe(owners = 1): Promise<Safe> {
  const made = await undeployed(owners)
  await made.deploy()
  return made
}

async function undeployed(owners = 1): Promise<Safe> {
  const made = foreseeSafe(m.market, safes, owners)
  await mintUsdc(m.market, made.address, 10n * PRICE)
  return made
}

async function delegated(): Promise<LocalAccount> {
  const account = await delegatedAccount(m.market, code7702)
  await mintUsdc(m.market, account.address, 10n * PRICE)
  return account
}

const wrapped = ({ deployment: { factory, data } }: Safe, signature: Hex): Hex =>
  serializeErc6492Signature({ address: factory, data, signature })

const REGISTER = encodeFunctionData({ abi: identityRegistryAbi, functionName: 'register', args: [''] })

/** A shop in this process. */
function shop(): ReferralEndpoint {
  const { databaseUrl: _database, price, merchantId, ...settings } = shopSettings(m)
  return createReferralEndpoint({
    ...settings,
    price: BigInt(price),
    merchantId: BigInt(merchantId),
    payments: createPaymentMemory(),
    serve: (_request, { payer }) => ({ servedTo: payer }),
  })
}

/** Pays in a shop through a ref link, with the merchant's library. */
async function buyFrom({ fetch }: ReferralEndpoint, wallet: LocalAccount): Promise<unknown> {
  const { paymentPayload } = await m.payload(wallet)
  const header = Buffer.from(JSON.stringify(paymentPayload)).toString('base64url')
  return (await fetch(new Request('https://shop.test/', { headers: { 'PAYMENT-SIGNATURE': header } }))).json()
}

const WALLETS: [string, () => Promise<LocalAccount>][] = [
  ['a Safe of one owner', () => safe()],
  ['a Safe of three owners', () => safe(3)],
  ['an account that delegates to code', delegated],
]

describe.each(WALLETS)('%s', (_, newWallet) => {
  it('pays by either authorisation', async () => {
    const wallet = await newWallet()
    for (const salt of [undefined, numberToHex(1, { size: 32 })]) {
      const body = await m.payload(wallet, salt ? { salt } : {})
      expect((await m.verify(body)).body).toMatchObject({ isValid: true })
      const { body: answer } = await m.settle(body)
      expect(answer).toMatchObject({ success: true, payer: wallet.address })
      expect(await m.escrowsIn(answer.transaction)).toMatchObject([{ payer: wallet.address, price: PRICE }])
    }
    await books.audit()
  })

  it('buys in a shop', async () => {
    const wallet = await newWallet()
    expect(await buyFrom(shop(), wallet)).toMatchObject({ servedTo: wallet.address })
  })

  it('is refused with what another wallet of its kind signed', async () => {
    const [wallet, other] = [await newWallet(), await newWallet()]
    const { body } = await m.settle(await m.payload(other, { from: wallet.address, signer: other }))
    expect(body).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
    await books.audit()
  })
})

describe('a Safe', () => {
  it('buys for the agent that it owns', async () => {
    const wallet = await safe(2)
    const hash = await wallet.execute(m.market.addresses.IdentityRegistry, REGISTER)
    const { logs } = await m.chain.client.getTransactionReceipt({ hash })
    const [registered] = parseEventLogs({ abi: identityRegistryAbi, eventName: 'Registered', logs })
    const agentId = registered?.args.agentId
    const { body } = await m.settle(await m.payload(wallet, { buyerAgentId: String(agentId) }))
    expect(body).toMatchObject({ success: true })
    expect(await m.escrowsIn(body.transaction)).toMatchObject([{ buyerAgentId: agentId }])
  })

  it('pays by a transfer of its own', async () => {
    const wallet = await safe(2)
    const { address, abi } = m.usdc
    const data = encodeFunctionData({ abi, functionName: 'transfer', args: [m.till.router, PRICE] })
    const txHash = await wallet.execute(address, data)
    const body = await m.bodyOf(wallet, { txHash })
    // As wallets sign that have not noticed yet that they are deployed.
    const buyerSignature = wrapped(wallet, body.buyerSignature)
    const { payer } = await m.mustCharge({ ...body, buyerSignature })
    expect(payer).toBe(wallet.address)
  })
})

describe('an account that delegates to code', () => {
  it('pays by a transfer of its own', async () => {
    const account = await delegated()
    await m.chain.client.setBalance({ address: account.address, value: 10n ** 18n })
    const { payer } = await m.mustCharge(await m.bodyOf(account, { txHash: await m.transfer(account) }))
    expect(payer).toBe(account.address)
  })
})

describe('a wallet whose check takes 240,000 gas', () => {
  const think = ({ address }: LocalAccount) =>
    m.chain.client.setCode({ address, bytecode: ponderous(240_000) })

  it('pays by an authorisation that somebody else has submitted', async () => {
    const [wallet, signer] = [await m.newBuyer(), await m.newBuyer()]
    await think(wallet)
    const body = await m.payload(wallet, { signer })
    await act(m, submission(m, body))
    expect((await m.settle(body)).body).toMatchObject({ success: true, payer: wallet.address })
    await books.audit()
  })

  it('pays by a transfer of its own', async () => {
    const [wallet, signer] = [await m.newBuyer(), await m.newBuyer()]
    await m.chain.client.setBalance({ address: wallet.address, value: 10n ** 18n })
    const txHash = await m.transfer(wallet)
    await think(wallet)
    const body = await m.bodyOf(signer, { txHash, payer: wallet.address })
    expect((await m.mustCharge(body)).payer).toBe(wallet.address)
  })
})

const deploymentsOf = ({ address }: Safe) =>
  m.sql`SELECT state FROM sender.intents WHERE key = ${`wallet ${address.toLowerCase()}`}`

async function expectUndeployed(wallet: Safe): Promise<void> {
  expect(await wallet.isDeployed()).toBe(false)
  expect(await deploymentsOf(wallet)).toHaveLength(0)
}

/** As somebody else's deployment of the facilitator would answer. */
async function settleWith(env: Record<string, string>, body: unknown): Promise<Answer['body']> {
  const another = await m.startAnother(env)
  try {
    return (await send(another.url, 'POST', '/settle', { body })).body
  } finally {
    await another.stop()
  }
}

describe('a Safe that is not deployed', () => {
  it('is deployed for its first payment, by either authorisation', async () => {
    const salt = numberToHex(1, { size: 32 })
    for (const options of [{}, { salt }, { salt, type: 'TransferWithAuthorization' }] as const) {
      const wallet = await undeployed(2)
      const body = await m.payload(wallet, options)
      expect((await m.verify(body)).body).toMatchObject({ isValid: true })
      await expectUndeployed(wallet)
      const { body: answer } = await m.settle(body)
      expect(answer).toMatchObject({ success: true, payer: wallet.address })
      expect(await m.escrowsIn(answer.transaction)).toMatchObject([{ payer: wallet.address }])
      expect(await wallet.isDeployed()).toBe(true)
      const { transaction } = answer
      const errorMessage = 'authorization already used'
      expect((await m.settle(body)).body).toMatchObject({ success: false, errorMessage, transaction })
      expect((await m.settle(await m.payload(wallet))).body).toMatchObject({ success: true })
    }
    await books.audit()
  })

  it('is deployed when it buys in a shop', async () => {
    const wallet = await undeployed()
    expect(await buyFrom(shop(), wallet)).toMatchObject({ servedTo: wallet.address })
    expect(await wallet.isDeployed()).toBe(true)
  })

  it('buys for the agent that it owns', async () => {
    const { market, newAgent } = m
    const wallet = await undeployed()
    const { buyer } = market.accounts
    const agentId = await newAgent(buyer)
    const hash = await m.chain.client.writeContract({
      account: buyer,
      address: market.addresses.IdentityRegistry,
      abi: identityRegistryAbi,
      functionName: 'transferFrom',
      args: [buyer.address, wallet.address, agentId],
    })
    await confirmed(market, hash)
    const { body } = await m.settle(await m.payload(wallet, { buyerAgentId: String(agentId) }))
    expect(body).toMatchObject({ success: true })
    expect(await m.escrowsIn(body.transaction)).toMatchObject([{ buyerAgentId: agentId }])
  })

  it('is deployed once for payments that come together', async () => {
    const wallet = await undeployed()
    const bodies = await Promise.all([m.payload(wallet), m.payload(wallet), m.payload(wallet)])
    const answers = await Promise.all(bodies.map((body) => m.settle(body)))
    expect(await deploymentsOf(wallet)).toHaveLength(1)
    for (const { body } of answers) expect(body).toMatchObject({ success: true })
    await books.audit()
  })

  it('that somebody else has deployed since pays by the signature from before', async () => {
    const wallet = await undeployed()
    const bodies = [await m.payload(wallet), await m.payload(wallet, { salt: numberToHex(9, { size: 32 }) })]
    await wallet.deploy()
    for (const body of bodies) expect((await m.settle(body)).body).toMatchObject({ success: true })
    expect(await deploymentsOf(wallet)).toHaveLength(0)
    const { payload, ...rest } = (await m.payload(wallet)).paymentPayload
    const late = { ...payload, signature: wrapped(wallet, payload.signature) }
    const body = { ...bodies[0], paymentPayload: { ...rest, payload: late } }
    expect(await settleWith({ WALLET_FACTORIES: 'none' }, body)).toMatchObject({ success: true })
  })

  it('is not deployed for what it did not sign', async () => {
    const [wallet, other] = [await undeployed(), await undeployed()]
    const body = await m.payload(wallet)
    const { signature } = unwrapSignature(
      (await m.payload(other, { from: wallet.address })).paymentPayload.payload.signature,
    ) as { signature: Hex }
    body.paymentPayload.payload.signature = wrapped(wallet, signature)
    expect((await m.settle(body)).body).toMatchObject({
      errorReason: 'invalid_payment',
      errorMessage: `signature does not match from: the wallet ${wallet.address} does not accept it`,
    })
    await expectUndeployed(wallet)
  })

  it('is not deployed by a factory that is not known', async () => {
    const wallet = await undeployed()
    const body = await m.payload(wallet)
    const errorMessage = expect.stringContaining('deploy the wallet first, then send the same payment again')
    const refusal = { success: false, errorReason: 'invalid_payment', errorMessage, transaction: '' }
    for (const factories of ['none', m.till.usdc])
      expect(await settleWith({ WALLET_FACTORIES: factories }, body)).toMatchObject(refusal)
    await expectUndeployed(wallet)
  })

  it('has its call made by nobody with rights', async () => {
    // The router takes this call from its settlers, and from nobody else.
    const wallet = await undeployed()
    const victim = await m.payload(m.market.accounts.buyer)
    const payment = await readPayment(m.facilitator.context, victim)
    const signature = serializeErc6492Signature({
      address: m.till.router,
      data: toSettle(payment).data,
      signature: `0x${'11'.repeat(65)}`,
    })
    const body = await m.payload(wallet)
    body.paymentPayload.payload.signature = signature
    const before = await m.balanceOf(m.market.accounts.buyer.address)
    const answer = await settleWith({ WALLET_FACTORIES: m.till.router }, body)
    expect(answer).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
    expect(answer.errorMessage).toContain('does not deploy it by the call in the signature')
    expect(await m.balanceOf(m.market.accounts.buyer.address)).toBe(before)
    await expectUndeployed(wallet)
  })

  it('is told the least amount whose fee pays for its deployment and its settlement', async () => {
    const wallet = await undeployed()
    const body = await m.payload(wallet, { amount: PRICE / 10n })
    for (const { body: answer } of [await m.verify(body), await m.settle(body)]) {
      const message = answer.invalidMessage ?? answer.errorMessage
      expect(message).toContain('deploy the wallet first')
      const [, least] = /or pay (\d+) base units or more/.exec(message) ?? []
      expect(BigInt(least ?? 0)).toBeGreaterThan(PRICE / 10n)
      expect(BigInt(least ?? 0)).toBeLessThan(PRICE)
    }
    await expectUndeployed(wallet)
    const { body: answer } = await m.settle(body)
    const [, least] = /or pay (\d+) base units or more/.exec(answer.errorMessage) ?? []
    // What a trial of another call takes differs by a little.
    const amount = (BigInt(least ?? 0) * 101n) / 100n
    expect((await m.settle(await m.payload(wallet, { amount }))).body).toMatchObject({ success: true })
  })
})
