// Wallets that agree while they are tried out, and burn the relayer's gas in the block.
import { mintUsdc } from '@referrer/contracts/local'
import { type Address, type Hash, type Hex, type LocalAccount, numberToHex, parseGwei } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HOUR_MS, PRICE, startTestFacilitator, type TestFacilitator, toNext } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { betweenBlocks, inOneBatch, type Settle } from './acts.ts'
import { FICKLE, GREEDY, ownedBy, proxyOf, SLEEPER } from './wallets.ts'

/** The usual hourly budget, and what wallets of one code may burn of it. */
const BUDGET = 6_000_000n
const OF_ONE_CODE = BUDGET / 4n

let m: TestFacilitator
const owner = privateKeyToAccount(generatePrivateKey())

beforeEach(async () => {
  m = await startTestFacilitator({ env: { LINGER_MS: '200' } })
  toNext(HOUR_MS, m)
})
afterEach(() => m?.close())

const settle = async (body: Body) => (await m.settle(body)).body

async function wallet(bytecode: Hex): Promise<Address> {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await m.chain.client.setCode({ address, bytecode })
  await mintUsdc(m.market, address, 20n * PRICE)
  return address
}

/** One after the other: whoever mints has one nonce at a time. */
async function several<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = []
  while (made.length < count) made.push(await make())
  return made
}

const wallets = (count: number, bytecode: Hex) => several(count, () => wallet(bytecode))

/** So many payments of each, all at once. */
async function payAll(payers: Address[], each: number) {
  return Promise.all((await paymentsOf(payers, each)).map(settle))
}

const paymentsOf = (payers: Address[], each: number) =>
  Promise.all(payers.flatMap((from) => Array.from({ length: each }, () => m.payload(owner, { from }))))

/** Gas of all that we have sent after a block; where nothing was settled since, that was for nothing. */
async function spentSince(block: bigint): Promise<bigint> {
  const { client } = m.chain
  let gas = 0n
  for (let number = await client.getBlockNumber(); number > block; number -= 1n) {
    const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true })
    for (const { from, hash } of transactions) {
      if (from.toLowerCase() !== m.relayers[0].address.toLowerCase()) continue
      gas += (await client.getTransactionReceipt({ hash })).gasUsed
    }
  }
  return gas
}

describe('wallets that have settled and then burn gas', () => {
  it('burn a bounded amount, all together, and hold up no honest wallet', async () => {
    const sleepers = await wallets(5, SLEEPER)
    // One after the other: all at once they could burn more than wallets of one code may.
    for (const sleeper of sleepers) expect(await payAll([sleeper], 1)).toMatchObject([{ success: true }])
    for (const address of sleepers)
      await m.chain.client.setStorageAt({ address, index: 0, value: numberToHex(1, { size: 32 }) })

    const began = await m.chain.client.getBlockNumber()
    for (let wave = 0; wave < 2; wave += 1) {
      for (const answer of await payAll(sleepers, 8)) {
        expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed' })
      }
    }
    // Each wallet failed once, with little more gas than a purchase takes.
    const gas = await spentSince(began)
    expect(gas).toBeGreaterThan(0n)
    expect(gas).toBeLessThan(5n * 350_000n)

    const honest = await wallet(ownedBy(owner.address))
    const [plain, other] = [await m.newBuyer(), await m.newBuyer()]
    const answers = await Promise.all([
      settle(await m.payload(owner, { from: honest })),
      settle(await m.payload(plain)),
      settle(await m.payload(other)),
    ])
    for (const answer of answers) expect(answer).toMatchObject({ success: true })
  })
})

describe('wallets of one code that burns gas', () => {
  it('have one small budget, proxies and delegating accounts included, which a restart does not renew', async () => {
    const began = await m.chain.client.getBlockNumber()
    const code = await wallet(FICKLE)
    const proxies = await wallets(8, proxyOf(code))
    // The budget is small once one of them has failed; before that several may be under way.
    await payAll([await wallet(FICKLE)], 1)
    await payAll([...(await wallets(7, FICKLE)), ...proxies], 1)
    const delegating = await delegatedTo(code)
    const late = [() => m.payload(owner, { from: proxies[0] as Address }), () => m.payload(delegating)]
    const refused = async () => {
      for (const body of late) {
        const answer = await settle(await body())
        expect(answer).toMatchObject({ success: false, retryable: true, transaction: '' })
        expect(answer.errorMessage).toMatch(/failed in (?:its|their) block/)
      }
    }
    await refused()
    await m.restart()
    await refused()
    const gas = await spentSince(began)
    expect(gas).toBeGreaterThan(0n)
    expect(gas).toBeLessThanOrEqual(OF_ONE_CODE)

    // Another code is not held up by it. The hour after, that one may fail again.
    const honest = await wallet(ownedBy(owner.address))
    expect(await settle(await m.payload(owner, { from: honest }))).toMatchObject({ success: true })
    m.clock.aheadMs += HOUR_MS
    expect(await settle(await m.payload(delegating))).not.toHaveProperty('retryable')
  })

  it('pay one at a time while they are new, and several at once when their purchases have brought fees', async () => {
    const from = await wallet(ownedBy(owner.address))
    const bodies = await paymentsOf([from], 3)
    const first = await inOneBatch(m, bodies.length, (settle) => Promise.all(bodies.map(settle)))
    expect(first.filter(({ success }) => success)).toHaveLength(1)
    for (const { success, retryable } of first) if (!success) expect(retryable).toBe(true)
    const large = await m.payload(owner, { from, amount: 10n * PRICE })
    expect(await settle(large)).toMatchObject({ success: true })
    for (const answer of await payAll([from], 4)) expect(answer).toMatchObject({ success: true })
  })
})

describe('accounts that had no code when they were tried', () => {
  it('and burn gas by code of the block take nobody of their batch down, and pay no more within the hour', async () => {
    const code = await wallet(GREEDY)
    const gainers = await several(2, plainAccount)
    const honest = await several(6, () => m.newBuyer())
    const bodies = await Promise.all([...gainers, ...honest].map((buyer) => m.payload(buyer)))
    const authorizationList = await Promise.all(
      gainers.map((account) =>
        account.signAuthorization({ contractAddress: code, chainId: m.chainId, nonce: 0 }),
      ),
    )
    const settleBetween = (settle: Settle) =>
      betweenBlocks(m, async ({ sent, mine }) => {
        const settling = bodies.map(settle)
        await sent(bodies.length)
        const { stranger } = m.market.accounts
        await m.chain.client.sendTransaction({
          account: stranger,
          to: stranger.address,
          authorizationList,
          maxPriorityFeePerGas: parseGwei('50'),
          maxFeePerGas: parseGwei('100'),
          gas: 500_000n,
        })
        await mine()
        return Promise.all(settling)
      })
    const answers = await inOneBatch(m, bodies.length, settleBetween)
    expect(answers.map(({ success }) => success)).toEqual([
      ...gainers.map(() => false),
      ...honest.map(() => true),
    ])
    const shared = new Set(
      answers.flatMap(({ success, transaction }) => (success ? [transaction as Hash] : [])),
    )
    expect(shared.size).toBe(1)
    // Their code agrees to everything now, so that their trial shows nothing wrong.
    for (const { address } of gainers) await m.chain.client.setCode({ address, bytecode: FICKLE })
    for (const account of gainers) {
      const answer = await settle(await m.payload(account))
      expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
      expect(answer.errorMessage).toContain('a payment of this payer failed in its block')
    }
  })
})

async function plainAccount() {
  const account = privateKeyToAccount(generatePrivateKey())
  await mintUsdc(m.market, account.address, 20n * PRICE)
  return account
}

/** An account with a key that runs a contract's code (EIP-7702). */
async function delegatedTo(contract: Address): Promise<LocalAccount> {
  const account = await plainAccount()
  await m.chain.client.setCode({
    address: account.address,
    bytecode: `0xef0100${contract.slice(2).toLowerCase() as Lowercase<string>}`,
  })
  return account
}
