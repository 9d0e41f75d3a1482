import { enqueueTransaction } from '@referrer/chain'
import { int, pick, seeded, seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Address, type Hex, numberToHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../facilitator.ts'
import { Refused } from '../payment/refused.ts'
import { type Backed, type Backing, back, dayOf, givenOn } from './allowance.ts'
import type { Tried } from './gas.ts'
import type { Order } from './order.ts'
import {
  adopt,
  claim,
  countDeployment,
  holdDeployment,
  markFinal,
  pin,
  record,
  recordUnsent,
  unpin,
} from './store.ts'

/** Half for gifts, a tenth for newcomers' gifts, of which 1,000 each; half for failures, of which 10,000 each. */
const SUM = 1_000_000n
const DAY_MS = 86_400_000
const NOW = 20_000 * DAY_MS + 1_000

let database: TestDatabase
let chainId = 0
let made = 0

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database?.drop())
beforeEach(() => {
  chainId += 1
})

const bytes = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')
const payerAt = (at: number): Address => numberToHex(at, { size: 20 })

interface Wanted {
  merchant?: number
  payer?: number
  nonce?: number
  gift?: bigint
  risk?: bigint
  cost?: bigint
  fee?: bigint
  value?: bigint
  isDeployment?: true
}

function tried({
  merchant = 1,
  payer = 1,
  nonce,
  gift = 0n,
  risk = 0n,
  cost = 0n,
  fee = 0n,
  value = 1n,
  isDeployment,
}: Wanted) {
  made += 1
  const name = numberToHex(nonce ?? 1_000_000 + made, { size: 32 })
  const key = { chainId, payer: payerAt(payer), nonce: name }
  const attribution = { merchantId: BigInt(merchant), productId: name, reviewId: 1n }
  const order = { kind: 'settle', key, digest: name, attribution, value, data: '0x' } as unknown as Order
  return { order, gas: 1n, cost, fee, gift, risk, ...(isDeployment && { isDeployment }) } satisfies Tried
}

interface Row extends Partial<Backing> {
  merchant?: number
  payer?: number
  burned?: bigint
  day?: number
  isFinal?: boolean
  chain?: number
}

/** What an earlier payment holds, or did cost. */
async function held({
  merchant = 99,
  payer = 99,
  gift = 0n,
  giftOf = 'new',
  risk = 0n,
  riskOf = 'new',
  burned = 0n,
  day = dayOf(NOW),
  isFinal = true,
  chain = chainId,
}: Row): Promise<void> {
  made += 1
  const nonce = bytes(numberToHex(made, { size: 32 }))
  await database.sql`
    INSERT INTO facilitator.settlements (chain_id, payer, nonce, kind, digest, merchant_id, product_id, review_id, value, state, is_final,
      gift, gift_of, risk, risk_of, burned, day)
    VALUES (${chain}, ${bytes(payerAt(payer))}, ${nonce}, 'settle', ${nonce}, ${merchant}, ${nonce}, 1, 1, 'open', ${isFinal},
      ${gift}, ${giftOf}, ${risk}, ${riskOf}, ${burned}, ${day})`
}

const credit = (kind: 'merchant' | 'payer', at: number, amount: bigint) =>
  database.sql`
    INSERT INTO facilitator.credits (chain_id, kind, id, credit)
    VALUES (${chainId}, ${kind}, ${bytes(kind === 'payer' ? payerAt(at) : numberToHex(at, { size: 8 }))}, ${amount})`

const ask = (wanted: Wanted[], now = NOW, sum = SUM) =>
  database.sql.begin((tx) => back(tx, { giveawayPerDay: sum }, chainId, wanted.map(tried), now))

/** Who answers for the gift and for the risk of each; false: nobody. */
const answersOf = async (wanted: Wanted[], now?: number, sum?: bigint) =>
  (await ask(wanted, now, sum)).map((each) => !(each instanceof Refused) && [each.giftOf, each.riskOf])

const isBacked = async (wanted: Wanted, now?: number) => (await answersOf([wanted], now))[0] !== false

async function refusalOf(wanted: Wanted): Promise<Refused> {
  const [answer] = await ask([wanted])
  if (!(answer instanceof Refused)) throw new Error('it is not refused')
  return answer
}

describe('gifts', () => {
  test('to a new merchant and a new payer are a thousandth of the sum each, to the unit', async () => {
    await held({ merchant: 1, gift: 600n })
    await held({ payer: 2, gift: 600n })
    expect(await isBacked({ merchant: 1, gift: 400n })).toBe(true)
    expect(await isBacked({ merchant: 1, gift: 401n })).toBe(false)
    expect(await isBacked({ payer: 2, gift: 400n })).toBe(true)
    expect(await isBacked({ payer: 2, gift: 401n })).toBe(false)
    expect(await isBacked({ merchant: 3, payer: 3, gift: 1_000n })).toBe(true)
  })

  test('to payments that come together count for those behind them', async () => {
    const wanted = Array.from({ length: 4 }, (_, payer) => ({ payer: payer + 10, gift: 300n, risk: 1n }))
    expect(await answersOf(wanted)).toEqual([['new', 'new'], ['new', 'new'], ['new', 'new'], false])
  })

  test('to all who are new are a tenth of the sum together', async () => {
    for (let at = 0; at < 99; at += 1) await held({ merchant: 100 + at, payer: 100 + at, gift: 1_000n })
    expect(await isBacked({ gift: 1_000n })).toBe(true)
    await held({ merchant: 300, payer: 300, gift: 1n })
    expect(await isBacked({ gift: 1_000n })).toBe(false)
    expect(await isBacked({ gift: 999n })).toBe(true)
  })

  test('that a merchant has credit for are its own, whatever is given to those who are new, and half of the sum with all others', async () => {
    await credit('merchant', 1, 200_000n)
    for (let at = 0; at < 100; at += 1) await held({ merchant: 100 + at, payer: 100 + at, gift: 1_000n })
    expect(
      await answersOf([
        { merchant: 1, gift: 150_000n, risk: 1n },
        { merchant: 1, gift: 50_001n },
      ]),
    ).toEqual([['merchant', 'new'], false])
    await held({ merchant: 7, gift: 300_000n, giftOf: 'merchant' })
    expect(await isBacked({ merchant: 1, gift: 100_000n })).toBe(true)
    expect(await isBacked({ merchant: 1, gift: 100_001n })).toBe(false)
  })

  test('draw on credit as soon as they are promised, and no second time when they are final', async () => {
    await credit('merchant', 1, 50_000n)
    await held({ merchant: 1, gift: 30_000n, giftOf: 'merchant', isFinal: false })
    expect(await isBacked({ merchant: 1, gift: 20_001n })).toBe(false)
    await database.sql`UPDATE facilitator.settlements SET is_final = true WHERE chain_id = ${chainId}`
    expect(await isBacked({ merchant: 1, gift: 50_000n })).toBe(true)
  })

  test('that are refused name a price whose fee covers the gas, and the next day', async () => {
    await held({ merchant: 1, gift: 1_000n })
    const refusal = await refusalOf({ gift: 1n, cost: 7_001n, fee: 200n, value: 10_000n })
    expect(refusal).toMatchObject({ reason: 'settle_failed', retryable: true })
    expect(refusal.message).toContain(
      'a purchase of 420061 base units or more of this product pays for its own gas',
    )
    expect(refusal.message).toContain(`after ${new Date(NOW - 1_000 + DAY_MS).toISOString().slice(0, 16)}Z`)
    const { message } = await refusalOf({ gift: 1n, cost: 7_001n })
    expect(message).toContain('pays no fee that would cover the gas')
  })

  test('are none where the fee covers the gas: such a payment needs none of a sum that is used up', async () => {
    await held({ gift: 500_000n })
    expect(await isBacked({ gift: 1n })).toBe(false)
    expect(await isBacked({ gift: 0n, risk: 10_000n })).toBe(true)
    await credit('payer', 1, 5n)
    expect(await answersOf([{ gift: 0n, risk: 5n }], NOW, 0n)).toEqual([['merchant', 'payer']])
  })
})

describe('what may fail', () => {
  test('of a new payer is a hundredth of the sum at a time, to the unit', async () => {
    await held({ payer: 1, risk: 6_000n, burned: 1_000n })
    expect(await isBacked({ payer: 1, risk: 3_000n })).toBe(true)
    expect(await isBacked({ payer: 1, risk: 3_001n })).toBe(false)
    expect((await refusalOf({ payer: 1, risk: 3_001n })).message).toContain(`the wallet ${payerAt(1)}`)
  })

  test('of all new payers is half of the sum, what is lost for good included; then only those with credit pay', async () => {
    await held({ risk: 400_000n, burned: 95_000n })
    expect(await isBacked({ payer: 1, risk: 5_000n })).toBe(true)
    expect(await isBacked({ payer: 1, risk: 5_001n })).toBe(false)
    const refusal = await refusalOf({ payer: 1, risk: 5_001n })
    expect(refusal).toMatchObject({ reason: 'settle_failed', retryable: true })
    expect(refusal.message).toContain('wallets that are new here')
    await credit('payer', 2, 9_000n)
    await credit('merchant', 5, 9_000n)
    const payments = [
      { payer: 2, merchant: 1, risk: 5_001n },
      { payer: 2, merchant: 1, risk: 5_001n },
      { payer: 1, merchant: 5, risk: 5_001n },
      { payer: 3, merchant: 5, risk: 5_001n },
    ]
    expect(await answersOf(payments)).toEqual([['merchant', 'payer'], false, ['merchant', 'merchant'], false])
  })

  test('is answered for by the payer before anybody else, and by its shop last', async () => {
    await credit('payer', 1, 10n)
    await credit('merchant', 1, 10n)
    expect(await answersOf([{ risk: 10n }, { risk: 10n }])).toEqual([
      ['merchant', 'payer'],
      ['merchant', 'new'],
    ])
  })

  test('of a deployment is part of the sum, whatever credit its payer and its shop have', async () => {
    await credit('payer', 1, 9_000n)
    await credit('merchant', 1, 9_000n)
    await held({ risk: 490_000n })
    const deployment = { risk: 5_001n, isDeployment: true } as const
    expect(await answersOf([deployment, { ...deployment, payer: 2 }])).toEqual([['merchant', 'new'], false])
  })

  test('draws on credit while it is under way', async () => {
    await held({ risk: 500_000n })
    await credit('payer', 1, 10n)
    await credit('merchant', 1, 10n)
    await held({ payer: 1, risk: 4n, riskOf: 'payer', isFinal: false })
    await held({ merchant: 1, risk: 4n, riskOf: 'merchant', isFinal: false })
    expect(await answersOf([{ risk: 6n }])).toEqual([['merchant', 'payer']])
    expect(await answersOf([{ risk: 7n }])).toEqual([false])
    expect(await answersOf([{ payer: 2, risk: 6n }])).toEqual([['merchant', 'merchant']])
    expect(await answersOf([{ payer: 2, gift: 1n, risk: 6n }])).toEqual([false])
  })

  test('that others answer for is no part of the sum, but what was lost before is', async () => {
    await held({ risk: 499_000n, riskOf: 'payer' })
    expect(await isBacked({ risk: 10_000n })).toBe(true)
    await held({ risk: 1n, riskOf: 'payer', burned: 490_001n })
    expect(await isBacked({ risk: 10_000n })).toBe(false)
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 490_001n })
  })
})

test('another day and another chain have a sum of their own; credit outlives the day', async () => {
  await held({ merchant: 1, payer: 1, gift: 100_000n, risk: 500_000n })
  const wanted = { gift: 1_000n, risk: 10_000n }
  expect(await isBacked(wanted)).toBe(false)
  expect(await isBacked(wanted, NOW + DAY_MS)).toBe(true)
  expect(await isBacked(wanted, NOW - DAY_MS)).toBe(true)
  chainId += 1
  expect(await isBacked(wanted)).toBe(true)
  await credit('merchant', 1, 5_000n)
  expect(await answersOf([{ gift: 5_000n, risk: 1n }], NOW + 40 * DAY_MS)).toEqual([['merchant', 'new']])
})

// The book-keeping of a day, with rows as the program writes them.

async function newIntent(): Promise<bigint> {
  made += 1
  return enqueueTransaction(database.sql, {
    chainId,
    from: zeroAddress,
    to: zeroAddress,
    data: '0x',
    key: `intent ${made}`,
  })
}

/** Undefined: nobody answers for it. */
async function enqueued(each: Tried, now = NOW, sum = SUM): Promise<bigint | undefined> {
  const intentId = await newIntent()
  return database.sql.begin(async (tx) => {
    const [backing] = await back(tx, { giveawayPerDay: sum }, chainId, [each], now)
    if (!backing || backing instanceof Refused) return undefined
    const written = await claim(tx, intentId, [{ ...each, ...backing } as Backed], now)
    expect(written.size).toBe(1)
    return intentId
  })
}

const mined = (
  { order: { key } }: Tried,
  intentId: bigint,
  state: 'settled' | 'failed',
  fee: bigint,
  used: bigint,
) =>
  record(database.sql, intentId, [
    { key, state, transaction: state === 'failed' ? null : key.nonce, message: null, fee, used },
  ])

const creditOf = async (kind: 'merchant' | 'payer') => {
  const [row] = await database.sql<{ credit: bigint }[]>`
    SELECT credit FROM facilitator.credits WHERE chain_id = ${chainId} AND kind = ${kind}`
  return row?.credit
}

describe('a payment that failed and is sent again', () => {
  const each = () => tried({ cost: 100n, fee: 500n, risk: 300n })

  test('draws on its payer for each try, although no block of them is final', async () => {
    await credit('payer', 1, 900n)
    const payment = each()
    for (let at = 0; at < 3; at += 1) {
      const intentId = await enqueued(payment)
      await mined(payment, intentId as bigint, 'failed', 0n, 300n)
    }
    // Nothing of it is left: the next try is one of a new payer.
    expect(await answersOf([{ risk: 300n }])).toEqual([['merchant', 'new']])
    const last = await enqueued(payment)
    await mined(payment, last as bigint, 'failed', 0n, 300n)
    await markFinal(database.sql, last as bigint)
    expect(await creditOf('payer')).toBe(0n)
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 300n })
  })

  test('has lost what it drew on credit where somebody else settled it before its block was final, and once', async () => {
    for (const kind of ['payer', 'merchant'] as const) {
      chainId += 1
      if (kind === 'merchant') await held({ risk: 500_000n })
      await credit(kind, 1, 900n)
      const payment = each()
      const intentId = (await enqueued(payment)) as bigint
      await mined(payment, intentId, 'failed', 0n, 300n)
      expect(await adopt(database.sql, payment.order, payment.order.digest, NOW)).toBe(true)
      expect(await creditOf(kind)).toBe(600n)
      await markFinal(database.sql, intentId)
      expect(await creditOf(kind)).toBe(600n)
    }
  })

  test('keeps on the sum of the day what it has lost before, whoever answers for it then', async () => {
    const payment = each()
    for (let at = 0; at < 3; at += 1) {
      const intentId = await enqueued(payment)
      await mined(payment, intentId as bigint, 'failed', 0n, 250n)
      await markFinal(database.sql, intentId as bigint)
    }
    await credit('payer', 1, 300n)
    const intentId = (await enqueued(payment)) as bigint
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 750n })
    // The fee pays for its gas, and for 400 of what was lost.
    await mined(payment, intentId, 'settled', 500n, 90n)
    await markFinal(database.sql, intentId)
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 350n })
    expect(await creditOf('payer')).toBe(300n)
  })

  test('counts for nothing where no transaction of it was ever mined', async () => {
    const payment = tried({ cost: 900n, gift: 900n, risk: 300n })
    const intentId = (await enqueued(payment)) as bigint
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 900n, risk: 300n })
    await recordUnsent(database.sql, intentId, 'no gas', false)
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 0n })
  })
})

describe('a payment that was settled', () => {
  test('counts the gas that it used, where that is more than it was tried with', async () => {
    const payment = tried({ cost: 100n, fee: 100n, risk: 300n })
    await mined(payment, (await enqueued(payment)) as bigint, 'settled', 100n, 280n)
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 180n })
  })

  test('leaves half of its surplus to its payer and half to its shop, once it is final, and once', async () => {
    const payment = tried({ cost: 100n, fee: 500n, risk: 300n })
    const intentId = (await enqueued(payment)) as bigint
    await mined(payment, intentId, 'settled', 500n, 90n)
    expect(await creditOf('payer')).toBeUndefined()
    for (let at = 0; at < 2; at += 1) await markFinal(database.sql, intentId)
    expect([await creditOf('payer'), await creditOf('merchant')]).toEqual([200n, 200n])
  })
})

describe('the deployment of a wallet', () => {
  const pinned = async (payer = 1) => {
    const payment = tried({ payer })
    Object.assign(payment.order, { payment: { authorization: { validBefore: BigInt(NOW / 1_000) } } })
    await pin(database.sql, [payment.order], NOW)
    return payment
  }
  const hold = ({ order }: Tried, most: bigint) =>
    database.sql.begin((tx) => holdDeployment(tx, order.key, most, NOW))

  test('counts what it used, for the payment that it was sent for and no other of that wallet', async () => {
    const [one, other] = [await pinned(), await pinned()]
    await hold(one, 900n)
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 900n })
    for (const { order } of [one, other, one]) await countDeployment(database.sql, order.key, 500n)
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 500n })
  })

  test('counts on the day of its failure although its pin has ended, and no longer', async () => {
    const payment = await pinned()
    await hold(payment, 900n)
    await unpin(database.sql, chainId, NOW / 1_000 + 3 * 3_600)
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 900n })
    await unpin(database.sql, chainId, NOW / 1_000 + 24 * 3_600)
    expect(await givenOn(database.sql, chainId, NOW)).toEqual({ gift: 0n, risk: 0n })
  })
})

const seed = seedOf()

test(`whoever pays, fails, tries again and burns, days cost at most their sums beyond the fees (SEED=${seed})`, async () => {
  const random = seeded(seed)
  const sum = 100_000n
  const days = 2n
  let [spent, earned] = [0n, 0n]
  const underWay: { payment: Tried; intentId: bigint }[] = []
  const failed: Tried[] = []
  const unfinished: bigint[] = []
  let [refused, adopted] = [0, 0]
  const steps = 500
  for (let step = 0; step < steps; step += 1) {
    const now = NOW + (step < steps / 2 ? 0 : DAY_MS)
    const deed = random()
    if (deed < 0.45) {
      const cost = BigInt(int(random, 50, 100))
      const fee = BigInt(pick(random, [0, 20, 100, 400, 3_000]))
      const fresh = tried({
        merchant: int(random, 1, 6),
        payer: int(random, 1, 30),
        cost,
        fee,
        gift: cost > fee ? cost - fee : 0n,
        risk: 300n + cost,
      })
      const payment =
        failed.length > 0 && random() < 0.5
          ? (failed.splice(int(random, 0, failed.length - 1), 1)[0] as Tried)
          : fresh
      const intentId = await enqueued(payment, now, sum)
      if (intentId === undefined) refused += 1
      else underWay.push({ payment, intentId })
    } else if (deed < 0.9 && underWay.length > 0) {
      const [{ payment, intentId }] = underWay.splice(int(random, 0, underWay.length - 1), 1) as [
        (typeof underWay)[number],
      ]
      const state = random() < 0.6 ? 'failed' : 'settled'
      const fee = state === 'failed' || random() < 0.2 ? 0n : payment.fee
      // At worst all that was held for it.
      const used = BigInt(int(random, 30, Number(payment.risk)))
      await mined(payment, intentId, state, fee, used)
      spent += state === 'failed' || used > payment.cost ? used : payment.cost
      earned += fee
      if (state === 'failed') failed.push(payment)
      unfinished.push(intentId)
    } else if (deed < 0.92 && failed.length > 0) {
      const [{ order }] = failed.splice(int(random, 0, failed.length - 1), 1) as [Tried]
      if (await adopt(database.sql, order, order.digest, now)) adopted += 1
    } else if (unfinished.length > 0) {
      await markFinal(database.sql, unfinished.splice(int(random, 0, unfinished.length - 1), 1)[0] as bigint)
    }
    expect(spent - earned).toBeLessThanOrEqual(sum * days)
    const { gift, risk } = await givenOn(database.sql, chainId, now)
    expect(gift <= sum / 2n && risk <= sum / 2n).toBe(true)
  }
  // Both ways to be refused and to be settled were tried.
  expect(refused).toBeGreaterThan(0)
  expect(adopted).toBeGreaterThan(0)
  expect(spent).toBeGreaterThan(0n)
})
