// Who pays for the deployment of wallets, when payers and merchants see to it that their payment does not.
import { mintUsdc } from '@referrer/contracts/local'
import {
  deploySafeContracts,
  foreseeSafe,
  type Safe,
  type SafeContracts,
  safeFactory,
} from '@referrer/contracts/local/wallets'
import { type Address, type Hash, type Hex, numberToHex, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Facilitator } from '../../src/facilitator.ts'
import { givenOn } from '../../src/settlement/allowance.ts'
import { type Answer, send as ask } from '../asking.ts'
import { eventually } from '../eventually.ts'
import { alreadyGone, costOf, forget } from '../giving.ts'
import { DAY_MS, PRICE, startTestFacilitator, type TestFacilitator, toNext } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { act, betweenBlocks, type Deed, send } from './acts.ts'
import { TURNCOAT } from './wallets.ts'

const STOP: Hex = '0x00'
const REVERT: Hex = '0x600080fd'

let m: TestFacilitator
let safes: SafeContracts

beforeAll(async () => {
  m = await startTestFacilitator({ env: { WALLET_FACTORIES: safeFactory() } })
  safes = await deploySafeContracts(m.market)
})
afterAll(() => m?.close())
// Whatever was counted counts no more.
beforeEach(async () => {
  await forget(m)
  toNext(DAY_MS, m)
})

async function wallet(setUpBy?: Address): Promise<Safe> {
  const made = foreseeSafe(m.market, safes, 1, setUpBy)
  await mintUsdc(m.market, made.address, 2n * PRICE)
  return made
}

async function codeAt(bytecode: Hex): Promise<Address> {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await m.chain.client.setCode({ address, bytecode })
  return address
}

const settle = async (body: Body, { url }: { url: string } = m.facilitator): Promise<Answer['body']> =>
  (await ask(url, 'POST', '/settle', { body })).body

async function withAnother<T>(
  env: Record<string, string>,
  work: (another: Facilitator) => Promise<T>,
): Promise<T> {
  const another = await m.startAnother(env)
  try {
    return await work(another)
  } finally {
    await another.stop()
  }
}

/** What is lost today, or held for what is under way. */
async function counted(): Promise<bigint> {
  const { context } = m.facilitator
  return (await givenOn(m.sql, m.chainId, context.clock())).risk
}

const gasOf = async (hash: Hash) => (await m.chain.client.getTransactionReceipt({ hash })).gasUsed

/** Of the transactions that deployed it, or were to. */
async function hashesOf({ address }: Safe): Promise<Hash[]> {
  const told = m.events.flatMap((event) =>
    event.type === 'sender' && event.event.type === 'mined' ? [event.event] : [],
  )
  const ids = (
    await m.sql<{ id: bigint }[]>`
    SELECT id FROM sender.intents WHERE key LIKE ${`wallet ${address.toLowerCase()}%`}`
  ).map(({ id }) => id)
  return told.filter(({ intent }) => ids.includes(intent)).map(({ hash }) => hash)
}

const deploymentsOf = ({ address }: Safe) =>
  m.sql<{ id: bigint; state: string }[]>`
    SELECT id, state FROM sender.intents WHERE key LIKE ${`wallet ${address.toLowerCase()}%`} ORDER BY id`

/** The pool has the deployment of so many of them, and of no other. */
async function deploying(count: number, ...wallets: Safe[]): Promise<void> {
  await eventually(async () => {
    const intents = (await Promise.all(wallets.map(deploymentsOf))).flat().map(({ id }) => id)
    const sent = m.events.filter(
      (told) =>
        told.type === 'sender' && told.event.type === 'broadcast' && intents.includes(told.event.intent),
    )
    return sent.length < intents.length ? 0 : intents.length
  }).toBe(count)
}

const commissionOf = (bps: number): Deed => ({
  by: m.merchant.account,
  on: 'MerchantRegistry',
  call: ['setProductTerms', m.merchant.merchantId, m.merchant.productId, bps, 0n],
})

/** Of a wallet whose deployment reverts in the block, and did not in any trial. */
async function failInBlock(facilitator?: {
  url: string
}): Promise<{ safe: Safe; setUpBy: Address; answer: Answer['body'] }> {
  const setUpBy = await codeAt(STOP)
  const safe = await wallet(setUpBy)
  const body = await m.payload(safe)
  const answer = await betweenBlocks(m, async ({ mine }) => {
    const settling = settle(body, facilitator)
    await deploying(1, safe)
    await m.chain.client.setCode({ address: setUpBy, bytecode: REVERT })
    await mine()
    return settling
  })
  expect(answer.errorMessage).toContain('failed (the transaction reverted); it is not tried again')
  return { safe, setUpBy, answer }
}

describe('a merchant that takes its commission away', () => {
  afterEach(async () => void (await act(m, commissionOf(2_000))))

  it('after we have read it has no wallets deployed', async () => {
    expect(await settle(await m.payload(await m.newBuyer()))).toMatchObject({ success: true })
    await act(m, commissionOf(0))
    const safe = await wallet()
    expect(await settle(await m.payload(safe))).toMatchObject({
      success: false,
      errorReason: 'settle_failed',
      errorMessage: expect.stringContaining("the platform's fee of this payment, 0, does not pay for"),
    })
    expect(await deploymentsOf(safe)).toHaveLength(0)
  })

  it('between the deployment and the payment costs what both used, which counts', async () => {
    const safe = await wallet()
    const body = await m.payload(safe)
    const settling = await betweenBlocks(m, async ({ mine }) => {
      const answer = settle(body)
      await deploying(1, safe)
      await send(m, commissionOf(0))
      await mine()
      return { answer }
    })
    const { success, transaction } = await settling.answer
    expect(success).toBe(true)
    const gas = (await gasOf(transaction)) + (await gasOf((await hashesOf(safe))[0] as Hash))
    const { gift, risk } = await givenOn(m.sql, m.chainId, m.facilitator.context.clock())
    expect(gift + risk).toBeGreaterThanOrEqual(costOf(gas))
  })
})

describe('a deployment', () => {
  it('counts no more when the fee has paid for it and for its payment', async () => {
    expect(await settle(await m.payload(await wallet()))).toMatchObject({ success: true })
    expect(await counted()).toBe(0n)
  })

  it('for a fee that would pay for it alone is not made', async () => {
    const safe = await wallet()
    const body = await m.payload(safe, { amount: (PRICE * 6n) / 10n })
    for (const { body: answer } of [await m.verify(body), await m.settle(body)])
      expect(answer.invalidMessage ?? answer.errorMessage).toContain('to deploy it and to settle the payment')
    expect(await deploymentsOf(safe)).toHaveLength(0)
  })

  it('that fails in the block is not tried again, which the answer says', async () => {
    const { safe, setUpBy, answer } = await failInBlock()
    const failed = { success: false, errorReason: 'settle_failed', transaction: '' }
    for (const told of [answer, await settle(await m.payload(safe))]) {
      expect(told).toMatchObject(failed)
      expect(told.errorMessage).toContain('it is not tried again')
      expect(told).not.toHaveProperty('retryable')
    }
    expect(await counted()).toBe(costOf(await gasOf((await hashesOf(safe))[0] as Hash)))
    await eventually(() => deploymentsOf(safe)).toMatchObject([{ state: 'failed' }])
    await m.chain.client.setCode({ address: setUpBy, bytecode: STOP })
    expect((await m.verify(await m.payload(safe))).body).toMatchObject({
      isValid: false,
      invalidMessage: expect.stringContaining('it is not tried again'),
    })
  })

  it('whose wallet tells a trial by its sender is not sent', async () => {
    const safe = await wallet(await codeAt(TURNCOAT))
    expect(await settle(await m.payload(safe))).toMatchObject({
      success: false,
      errorReason: 'invalid_payment',
      errorMessage: expect.stringContaining('does not deploy it by the call in the signature'),
    })
    expect(await deploymentsOf(safe)).toHaveLength(0)
    expect(await counted()).toBe(0n)
  })

  it('that no relayer could send counts for nothing, and is tried again', async () => {
    const [{ address }] = m.relayers
    const safe = await wallet()
    const body = await m.payload(safe)
    await m.chain.client.setBalance({ address, value: 0n })
    for (const states of [['failed'], ['failed', 'failed']]) {
      expect(await settle(body)).toMatchObject({
        success: false,
        errorReason: 'settle_failed',
        errorMessage: expect.stringMatching(/^not sent: no relayer .*; send the same payment again$/),
        retryable: true,
      })
      expect((await deploymentsOf(safe)).map(({ state }) => state)).toEqual(states)
      expect(await counted()).toBe(0n)
    }
    await m.chain.client.setBalance({ address, value: parseEther('10') })
    expect(await settle(body)).toMatchObject({ success: true })
    expect(await safe.isDeployed()).toBe(true)
  })

  it('is not made while as many transactions are under way as may be', async () => {
    const [one, other] = [await wallet(), await wallet()]
    const bodies = [await m.payload(one), await m.payload(other)]
    await withAnother({ MAX_BATCHES_IN_FLIGHT: '1' }, async (another) => {
      const settling = await betweenBlocks(m, async () => {
        const answers = bodies.map((body) => settle(body, another))
        expect(await Promise.race(answers)).toMatchObject({
          success: false,
          errorMessage: 'not sent: too many transactions are under way; send the same payment again',
          retryable: true,
        })
        await deploying(1, one, other)
        return { answers }
      })
      const answers = await Promise.all(settling.answers)
      expect(answers.filter(({ success }) => success)).toHaveLength(1)
    })
  })
})

/** The deployment alone, as it would be sent: other trials of it replace the state of accounts. */
function isRehearsal(call: string, safe: Safe): boolean {
  const calls = [JSON.parse(call)].flat() as { method: string; params: unknown[] }[]
  return calls.some(
    ({ method, params }) =>
      method === 'eth_call' &&
      params.length === 2 &&
      JSON.stringify(params).toLowerCase().includes(safe.address.slice(2).toLowerCase()) &&
      m.relayers.some(
        ({ address }) => address.toLowerCase() === (params[0] as { from?: string }).from?.toLowerCase(),
      ),
  )
}

/** As nodes answer that tell a revert without data in words. */
function reverted(call: string): Response {
  const error = { code: -32_000, message: 'execution reverted' }
  const answer = ({ id }: { id: number }) => ({ jsonrpc: '2.0', id, error })
  const calls = JSON.parse(call)
  return Response.json(Array.isArray(calls) ? calls.map(answer) : answer(calls))
}

describe('the trial of a deployment', () => {
  afterEach(() => {
    m.nodes.intercept = undefined
  })

  it('holds up no other payment, however few transactions may be under way', async () => {
    const [safe, ordinary] = [await wallet(), await m.payload(m.buyers[0] as never)]
    const body = await m.payload(safe)
    await withAnother({ MAX_BATCHES_IN_FLIGHT: '1' }, async (another) => {
      let meanwhile: Answer['body'] | undefined
      m.nodes.intercept = async (call) => {
        if (isRehearsal(call, safe)) meanwhile ??= await settle(ordinary, another)
        return 'pass' as const
      }
      expect(await settle(body, another)).toMatchObject({ success: true })
      expect(meanwhile).toMatchObject({ success: true })
    })
  })

  it('that reverts is known by its message where the node tells no more', async () => {
    const safe = await wallet(await codeAt(TURNCOAT))
    m.nodes.intercept = (call) => (isRehearsal(call, safe) ? reverted(call) : 'pass')
    expect(await settle(await m.payload(safe))).toMatchObject({
      success: false,
      errorMessage: expect.stringContaining('does not deploy it by the call in the signature'),
    })
  })
})

describe('deployments that revert in their block', () => {
  it('count what they used, once for all payments of a wallet, and shut nobody out in tens', async () => {
    const setUpBy = await codeAt(STOP)
    const safes: Safe[] = []
    while (safes.length < 4) safes.push(await wallet(setUpBy))
    const bodies = await Promise.all(
      safes.flatMap((safe) => [m.payload(safe), m.payload(safe), m.payload(safe)]),
    )
    const answers = await betweenBlocks(m, async ({ mine }) => {
      const settling = bodies.map((body) => settle(body))
      await deploying(4, ...safes)
      expect(await counted()).toBeGreaterThan(costOf(4n * 250_000n))
      await m.chain.client.setCode({ address: setUpBy, bytecode: REVERT })
      await mine()
      return Promise.all(settling)
    })
    for (const answer of answers)
      expect(answer.errorMessage).toContain('failed (the transaction reverted); it is not tried again')
    let gas = 0n
    for (const safe of safes) for (const hash of await hashesOf(safe)) gas += await gasOf(hash)
    const sum = await counted()
    expect(sum).toBeGreaterThanOrEqual(costOf(gas))
    expect(sum).toBeLessThanOrEqual(costOf(gas) + 4n)
    // Of half a usual sum, 23 of them leave nearly all.
    expect((sum * 23n) / 4n).toBeLessThan(15_000_000n / 10n)
    expect(await settle(await m.payload(await wallet()))).toMatchObject({ success: true })
    expect(await counted()).toBe(sum)
  })

  it('and other failures that used up half of the sum leave new wallets to deploy themselves, whatever credit the shop has, until the day ends', async () => {
    const shutOut = await wallet()
    const body = await m.payload(shutOut)
    // Others have left just less than a deployment may take.
    await alreadyGone(m, { risk: 15_000_000n - 8_000n })
    await m.sql`DELETE FROM facilitator.credits`
    const shop = Buffer.from(numberToHex(m.merchant.merchantId, { size: 8 }).slice(2), 'hex')
    await m.sql`INSERT INTO facilitator.credits (chain_id, kind, id, credit) VALUES (${m.chainId}, 'merchant', ${shop}, ${15_000_000n})`
    const refused = await settle(body)
    expect(refused).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
    expect(refused.errorMessage).toContain('or deploy the wallet first')
    expect(await deploymentsOf(shutOut)).toHaveLength(0)
    toNext(DAY_MS, m)
    expect(await settle(await m.payload(shutOut))).toMatchObject({ success: true })
  })
})
