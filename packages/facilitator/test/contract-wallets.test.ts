// Wallets that people have: Safe, deployed or not yet, and accounts with a key that delegate to code.
import { mintUsdc } from '@referrer/contracts/local'
import {
  delegatedAccount,
  deploySafeContracts,
  deploySimple7702,
  foreseeSafe,
  type Safe,
  type SafeContracts,
} from '@referrer/contracts/local/wallets'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, encodeFunctionData, type LocalAccount, numberToHex, parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Books, openBooks } from './abuse/books.ts'
import { type Charging, startCharging } from './charging.ts'
import { PRICE } from './harness.ts'

let m: Charging
let books: Books
let safes: SafeContracts
let code7702: Address

beforeAll(async () => {
  m = await startCharging()
  safes = await deploySafeContracts(m.market)
  code7702 = await deploySimple7702(m.market)
  books = await openBooks(m)
})
afterAll(() => m.close())

/** With money for ten purchases. */
async function safe(owners = 1): Promise<Safe> {
  const made = foreseeSafe(m.market, safes, owners)
  await made.deploy()
  await mintUsdc(m.market, made.address, 10n * PRICE)
  return made
}

async function delegated(): Promise<LocalAccount> {
  const account = await delegatedAccount(m.market, code7702)
  await mintUsdc(m.market, account.address, 10n * PRICE)
  return account
}

const REGISTER = encodeFunctionData({ abi: identityRegistryAbi, functionName: 'register', args: [''] })

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
    const { payer } = await m.mustCharge(await m.bodyOf(wallet, { txHash }))
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
