// Wallets that agree while they are tried out, and burn the relayer's gas in the block.
import { mintUsdc } from '@referrer/contracts/local'
import { type Address, type Hash, type Hex, numberToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { givenOn } from '../../src/settlement/allowance.ts'
import { billSince, costOf, gainCode } from '../giving.ts'
import { DAY_MS, PRICE, startTestFacilitator, type TestFacilitator, toNext } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { greedyAbout, withRegistry } from '../registry.ts'
import { betweenBlocks, inOneBatch, otherReviewer, type Settle } from './acts.ts'
import { FICKLE, GREEDY, ownedBy, proxyOf, SLEEPER } from './wallets.ts'

const SUM = 6_000_000n
const OF_ONE = SUM / 100n

let m: TestFacilitator
const owner = privateKeyToAccount(generatePrivateKey())

beforeEach(async () => {
  m = await startTestFacilitator({ env: { LINGER_MS: '200', GIVEAWAY_PER_DAY: String(SUM) } })
  toNext(DAY_MS, m)
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

describe('wallets that have settled and then burn gas', () => {
  it('burn a hundredth of the sum each, beyond what their fees have left, and hold up no honest wallet', async () => {
    const began = await m.chain.client.getBlockNumber()
    const sleepers = await wallets(3, SLEEPER)
    for (const sleeper of sleepers) expect(await payAll([sleeper], 1)).toMatchObject([{ success: true }])
    for (const address of sleepers)
      await m.chain.client.setStorageAt({ address, index: 0, value: numberToHex(1, { size: 32 }) })
    for (let wave = 0; wave < 4; wave += 1)
      for (const answer of await payAll(sleepers, 4))
        expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed' })
    for (const answer of await payAll(sleepers, 1))
      expect(answer).toMatchObject({ success: false, retryable: true, transaction: '' })
    const { loss } = await billSince(m, began)
    expect(loss).toBeLessThanOrEqual(3n * OF_ONE)

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

describe('a wallet that burns gas in every block', () => {
  it('has a hundredth of the sum, which a restart does not renew, and wallets of the same code have their own', async () => {
    const began = await m.chain.client.getBlockNumber()
    const from = await wallet(FICKLE)
    for (let at = 0; at < 5; at += 1) await payAll([from], 2)
    const refused = async () => {
      const answer = await settle(await m.payload(owner, { from }))
      expect(answer).toMatchObject({ success: false, retryable: true, transaction: '' })
      expect(answer.errorMessage).toContain(`payments of the wallet ${from.toLowerCase()}`)
    }
    await refused()
    await m.restart()
    await refused()
    const { loss } = await billSince(m, began)
    expect(loss).toBeGreaterThan(0n)
    expect(loss).toBeLessThanOrEqual(OF_ONE)
    const honest = await wallet(proxyOf(await wallet(ownedBy(owner.address))))
    expect(await settle(await m.payload(owner, { from: honest }))).toMatchObject({ success: true })
    toNext(DAY_MS, m)
    expect(await settle(await m.payload(owner, { from }))).not.toHaveProperty('retryable')
  })
})

describe('accounts that had no code when they were tried', () => {
  /** All that the router gives to a purchase of a batch. */
  const GIVEN = 230_000n

  it('and burn gas by code of the block, eight of thirty-two, take nobody of their transaction down, and burn no more than the router gives them', async () => {
    const code = await wallet(GREEDY)
    const gainers = await several(8, plainAccount)
    const honest = await several(24, () => m.newBuyer())
    const bodies = await Promise.all([...gainers, ...honest].map((buyer) => m.payload(buyer)))
    const settleBetween = (settle: Settle) =>
      betweenBlocks(m, async ({ sent, mine }) => {
        const settling = bodies.map(settle)
        await sent(bodies.length)
        await gainCode(m, gainers, code)
        await mine()
        return Promise.all(settling)
      })
    const answers = await inOneBatch(m, bodies.length, settleBetween)
    expect(answers.map(({ success }) => success)).toEqual([
      ...gainers.map(() => false),
      ...honest.map(() => true),
    ])
    const [transaction, ...others] = new Set(answers.slice(8).map((answer) => answer.transaction as Hash))
    expect(others).toEqual([])
    const { gasUsed } = await m.chain.client.getTransactionReceipt({ hash: transaction as Hash })
    // The usual gas of the others is theirs, and 12,000 go around each that fails.
    const burned = gasUsed - 21_000n - 24n * 105_000n
    expect(burned).toBeGreaterThan(8n * 100_000n)
    expect(burned).toBeLessThanOrEqual(8n * (GIVEN + 12_000n))
    const { risk } = await givenOn(m.sql, m.chainId, m.facilitator.context.clock())
    expect(risk).toBeGreaterThanOrEqual(costOf(burned))
  })
})

it('a batch of sixteen settles all that are good among payers who burn gas and a reviewer about whom the registry does', async () => {
  const { attributionToken, agentId } = await otherReviewer(m, m.market.accounts.walletBuyer, 2n)
  const code = await wallet(GREEDY)
  const payers = await several(16, plainAccount)
  // As the transaction has them: those that burn come first, so that all that they burn is missing afterwards.
  payers.sort((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))
  const bodies = await Promise.all(
    payers.map((payer, at) => m.payload(payer, at >= 2 && at < 6 ? { attributionToken } : {})),
  )
  const settleBetween = (settle: Settle) =>
    betweenBlocks(m, async ({ sent, mine }) => {
      const settling = bodies.map(settle)
      await sent(bodies.length)
      await gainCode(m, payers.slice(0, 2), code)
      return withRegistry(m, greedyAbout(agentId), async () => {
        await mine()
        return Promise.all(settling)
      })
    })
  const answers = await inOneBatch(m, bodies.length, settleBetween)
  expect(answers.map(({ success }) => success)).toEqual(payers.map((_, at) => at >= 6))
  const [transaction, ...others] = new Set(answers.slice(6).map((answer) => answer.transaction as Hash))
  expect(others).toEqual([])
  const { gasUsed } = await m.chain.client.getTransactionReceipt({ hash: transaction as Hash })
  expect(gasUsed).toBeGreaterThan(10n * 100_000n + 2n * 200_000n + 4n * 100_000n)
})

async function plainAccount() {
  const account = privateKeyToAccount(generatePrivateKey())
  await mintUsdc(m.market, account.address, 20n * PRICE)
  return account
}
