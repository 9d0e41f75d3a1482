// Payers that agree while they are tried out, and have nothing left in the block: who answers for it, and how long.
import { listProduct } from '@referrer/contracts/local'
import { type Hash, type Hex, keccak256, type LocalAccount, numberToHex, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import { send as ask } from '../asking.ts'
import { eventually } from '../eventually.ts'
import { DAY_MS, HOUR_MS, PRICE, startTestFacilitator, type TestFacilitator, toNext } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { betweenBlocks, inOneBatch, type Settle, send } from './acts.ts'
import { FICKLE, ownedBy } from './wallets.ts'

const CENT = 10_000n

let m: TestFacilitator
afterEach(() => m?.close())

const start = async (env: Record<string, string> = {}) => {
  m = await startTestFacilitator({ env: { LINGER_MS: '200', ...env } })
  toNext(DAY_MS, m)
}
const settle = async (body: Body) => (await m.settle(body)).body
const payments = (buyer: LocalAccount, count: number, amount = PRICE) =>
  Promise.all(Array.from({ length: count }, () => m.payload(buyer, { amount })))

/** All that the buyer has goes to somebody else, ahead of what waits in the pool. */
async function empty(buyer: LocalAccount): Promise<void> {
  await m.chain.client.setBalance({ address: buyer.address, value: parseEther('1') })
  const amount = await m.balanceOf(buyer.address)
  await send(m, { by: buyer, on: 'USDC', call: ['transfer', m.market.accounts.stranger.address, amount] })
}

/** Pays, and empties itself before the block; what others send shares it. */
async function failing(buyer: LocalAccount, bodies: Body[], others: Body[] = []) {
  const all = [...bodies, ...others]
  const settleBetween = (settle: Settle) =>
    betweenBlocks(m, async ({ sent, mine }) => {
      const settling = all.map(settle)
      await sent(settling.length)
      await empty(buyer)
      await mine()
      return Promise.all(settling)
    })
  return inOneBatch(m, all.length, settleBetween)
}

async function accountOf(kind: string, id: Hex) {
  const [row] = await m.sql<Record<'owed' | 'earned' | 'at_risk' | 'burned', bigint>[]>`
    SELECT owed, earned, at_risk, burned FROM facilitator.accounts
    WHERE kind = ${kind} AND id = ${Buffer.from(id.slice(2), 'hex')}`
  return row
}

describe('payments of an account that empties itself', () => {
  it('count against no merchant: nobody can close a shop by them', async () => {
    await start({ MERCHANT_BUDGET: '30000' })
    const stranger = await m.newBuyer()
    for (const answer of await failing(stranger, await payments(stranger, 8))) {
      expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed' })
    }
    expect(await settle(await m.payload(await m.newBuyer(), { amount: CENT }))).toMatchObject({
      success: true,
    })
    expect(await settle(await m.payload(await m.newBuyer()))).toMatchObject({ success: true })
  })

  it('end its credit for the hour, however little the others in its transaction used', async () => {
    await start()
    const productId = numberToHex(0xf4ee, { size: 32 })
    const { account, merchantId } = m.merchant
    await listProduct(m.market, account, { merchantId, productId }, { commissionBps: 0 })
    const attributionToken = await m.mint({ productId })
    const [stranger, other] = [await m.newBuyer(), await m.newBuyer()]
    const cheap = await Promise.all(
      Array.from({ length: 8 }, () => m.payload(other, { amount: CENT, attributionToken })),
    )
    const [first, ...others] = await failing(stranger, await payments(stranger, 1), cheap)
    expect(first).toMatchObject({ success: false })
    for (const answer of others) expect(answer).toMatchObject({ success: true })
    const again = await m.payload(await refilled(stranger))
    expect(await settle(again)).toMatchObject({ success: false, retryable: true })
  })

  it('leave strangers one payment under way each when they burned the budget of the hour, and lock nobody out', async () => {
    await start({ BURN_GAS_PER_HOUR: '200000' })
    const stranger = await m.newBuyer()
    await failing(stranger, await payments(stranger, 8))
    const [next, honest] = [await m.newBuyer(), await m.newBuyer()]
    const bodies = [...(await payments(next, 8)), await m.payload(honest)]
    const answers = await inOneBatch(m, bodies.length, (settle) => Promise.all(bodies.map(settle)))
    expect(answers.slice(0, 8).filter(({ success }) => success)).toHaveLength(1)
    for (const { success, retryable } of answers) expect(success || retryable).toBe(true)
    expect(answers.at(-1)).toMatchObject({ success: true })
    m.clock.aheadMs += HOUR_MS
    for (const answer of await Promise.all((await payments(await m.newBuyer(), 8)).map(settle)))
      expect(answer).toMatchObject({ success: true })
  })

  it('of yesterday change nothing of today', async () => {
    await start()
    const buyer = await m.newBuyer()
    const after = await betweenBlocks(m, async ({ sent, mine }) => {
      const first = settle(await m.payload(buyer))
      await sent(1)
      m.clock.aheadMs += DAY_MS
      const body = await m.payload(buyer)
      const second = settle(body)
      await sent(2)
      await empty(buyer)
      await mine()
      for (const answer of await Promise.all([first, second]))
        expect(answer).toMatchObject({ success: false })
      return body
    })
    const nonce = Buffer.from(after.paymentPayload.payload.authorization.nonce.slice(2), 'hex')
    const [row] = await m.sql<
      { cost: bigint }[]
    >`SELECT cost FROM facilitator.settlements WHERE nonce = ${nonce}`
    expect(await accountOf('payer', buyer.address)).toMatchObject({ owed: row?.cost, at_risk: 0n })
    expect(await accountOf('merchant', numberToHex(m.merchant.merchantId, { size: 8 }))).toMatchObject({
      owed: 0n,
    })
  })
})

describe('gas that a wallet burned', () => {
  const owner = privateKeyToAccount(generatePrivateKey())

  it('is counted once, although every process is asked about it', async () => {
    await start()
    const another = await m.startAnother()
    try {
      const buyer = await m.newBuyer()
      const body = await m.payload(buyer)
      const [gasUsed, ...answers] = await betweenBlocks(m, async ({ sent, mine }) => {
        const here = m.settle(body)
        await sent(1)
        const tried = trials()
        const there = ask(another.url, 'POST', '/settle', { body })
        await eventually(() => trials() > tried).toBe(true)
        await empty(buyer)
        await mine()
        const block = await m.chain.client.getBlock()
        return Promise.all([gasOf(block.transactions.at(-1) as Hash), here, there])
      })
      for (const { body } of answers) expect(body).toMatchObject({ success: false })
      expect(await accountOf('payer', buyer.address)).toMatchObject({ burned: gasUsed })
    } finally {
      await another.stop()
    }
  })

  it('stays with the code that burned it, whatever the wallet runs when it tries again', async () => {
    await start()
    const from = await wallet(FICKLE)
    // It outlives the hour.
    const body = await m.payload(owner, { from, validBefore: 2n ** 40n })
    expect(await settle(body)).toMatchObject({ success: false })
    await m.chain.client.setCode({ address: from, bytecode: ownedBy(owner.address) })
    m.clock.aheadMs += HOUR_MS
    expect(await settle(body)).toMatchObject({ success: true })
    expect(await accountOf('code', keccak256(ownedBy(owner.address)))).toMatchObject({ burned: 0n })
    const { burned = 0n, earned } = (await accountOf('code', keccak256(FICKLE))) ?? {}
    expect(burned).toBeGreaterThan(0n)
    expect(earned).toBe(0n)
  })

  async function wallet(bytecode: Hex) {
    const { address } = await m.newBuyer()
    await m.chain.client.setCode({ address, bytecode })
    return address
  }
})

async function refilled(buyer: LocalAccount): Promise<LocalAccount> {
  const { stranger } = m.market.accounts
  await send(m, { by: stranger, on: 'USDC', call: ['transfer', buyer.address, 10n * PRICE] })
  return buyer
}

const trials = () => m.nodes.calls.filter((call) => call.includes('eth_call')).length
const gasOf = async (hash: Hash) => (await m.chain.client.getTransactionReceipt({ hash })).gasUsed
