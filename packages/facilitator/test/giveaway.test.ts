// What others may cost us in gas beyond the fees that they bring: one sum for a day.
import { int, pick, seeded, seedOf } from '@referrer/chain/testing'
import { mintUsdc } from '@referrer/contracts/local'
import { type Address, keccak256, type LocalAccount, numberToHex, stringToBytes } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { act, betweenBlocks, type Deed, send } from './abuse/acts.ts'
import { GREEDY, TURNCOAT } from './abuse/wallets.ts'
import { send as ask } from './asking.ts'
import { credentialBody } from './credentials.ts'
import { eventually } from './eventually.ts'
import { alreadyGone, billSince, empty, forget, gainCode, newShop, type Shop } from './giving.ts'
import { DAY_MS, PRICE, startTestFacilitator, type TestFacilitator, toNext } from './harness.ts'
import type { Body } from './payloads.ts'

/** Its fee is 200 base units, and its gas costs some 7,000 of them. */
const CENT = 10_000n
/** A merchant gets 16,000 of it: two sales of a cent, and not three. */
const SUM = 16_000_000n

let m: TestFacilitator

const several = async <T>(count: number, make: () => Promise<T>): Promise<T[]> => {
  const made: T[] = []
  while (made.length < count) made.push(await make())
  return made
}
const newBuyers = (count: number) => several(count, () => m.newBuyer())

const pay = async (buyer: LocalAccount, amount: bigint, shop?: Shop, url = m.facilitator.url) => {
  const attributionToken = shop?.attributionToken ?? m.till.attributionToken
  return (await ask(url, 'POST', '/settle', { body: await m.payload(buyer, { amount, attributionToken }) }))
    .body
}

describe('cheap purchases', () => {
  beforeAll(async () => {
    m = await startTestFacilitator({ env: { GIVEAWAY_PER_DAY: String(SUM) } })
    // The first purchase of all takes more gas than those after it.
    expect(await pay(await m.newBuyer(), 5n * PRICE)).toMatchObject({ success: true })
  })
  afterAll(() => m?.close())
  beforeEach(async () => {
    await forget(m)
    toNext(DAY_MS, m)
  })

  it('in a shop that buys from itself through fresh wallets cost its thousandth of the sum, whichever process is asked, at once or after a restart', async () => {
    const [shop, other] = [await newShop(m), await newShop(m)]
    const another = await m.startAnother()
    const buyers = await newBuyers(7)
    const began = await m.chain.client.getBlockNumber()
    try {
      const answers = await Promise.all(
        buyers.slice(0, 6).map((buyer, at) => pay(buyer, CENT, shop, at % 2 ? another.url : undefined)),
      )
      expect(answers.filter(({ success }) => success).length).toBeGreaterThan(0)
      const refused = answers.filter(({ success }) => !success)
      expect(refused.length).toBeGreaterThan(2)
      const tomorrow = new Date(Date.now() + m.clock.aheadMs + DAY_MS).toISOString().slice(0, 10)
      for (const answer of refused) {
        expect(answer).toMatchObject({ errorReason: 'settle_failed', retryable: true, transaction: '' })
        expect(answer.errorMessage).toContain(`after ${tomorrow}T00:00Z`)
      }
    } finally {
      await another.stop()
    }
    await m.restart()
    for (let at = 0; at < 2; at += 1) await pay(buyers[6] as LocalAccount, CENT, shop)
    expect((await billSince(m, began)).loss).toBeLessThanOrEqual(SUM / 1_000n)
    expect(await pay(buyers[0] as LocalAccount, CENT, other)).toMatchObject({ success: true })
    toNext(DAY_MS, m)
    expect(await pay(await m.newBuyer(), CENT, shop)).toMatchObject({ success: true })
  })

  it('of one wallet cost its thousandth of the sum, in however many shops', async () => {
    const shops = await several(4, () => newShop(m))
    const buyer = await m.newBuyer()
    const began = await m.chain.client.getBlockNumber()
    for (const shop of shops) await pay(buyer, CENT, shop)
    const { loss, purchases } = await billSince(m, began)
    expect(loss).toBeLessThanOrEqual(SUM / 1_000n)
    expect(purchases).toBeGreaterThan(0)
  })

  it('in all shops without credit cost a tenth of the sum together; shops whose fees have paid sell on', async () => {
    await alreadyGone(m, { gift: SUM / 10n - 15_000n })
    const shops = await several(4, () => newShop(m))
    const buyers = await newBuyers(4)
    const began = await m.chain.client.getBlockNumber()
    for (const [at, buyer] of buyers.entries()) await pay(buyer, CENT, shops[at])
    const { loss, purchases } = await billSince(m, began)
    expect(loss).toBeLessThanOrEqual(15_000n)
    expect(purchases).toBeGreaterThan(0)
    // The usual shop has sold for five dollars.
    await forget(m)
    await alreadyGone(m, { gift: SUM / 10n })
    expect(await pay(await m.newBuyer(), CENT, shops[3])).toMatchObject({ success: false, retryable: true })
    expect(await pay(await m.newBuyer(), CENT)).toMatchObject({ success: true })
  })

  it('draw on the credit of their shop, which expensive ones fill, until it is used up', async () => {
    const shop = await newShop(m)
    await alreadyGone(m, { gift: SUM / 10n })
    expect(await pay(await m.newBuyer(), CENT, shop)).toMatchObject({ success: false })
    const began = await m.chain.client.getBlockNumber()
    const large = await pay(await m.newBuyer(), 2n * PRICE, shop)
    expect(large).toMatchObject({ success: true })
    const { loss: earned } = await billSince(m, began)
    const final = () => m.sql`
      SELECT 1 FROM facilitator.credits WHERE kind = 'merchant' AND id = int8send(${shop.merchantId})`
    await eventually(async () => (await final()).length).toBe(1)
    const cheap = await several(4, async () => pay(await m.newBuyer(), CENT, shop))
    expect(cheap[0]).toMatchObject({ success: true })
    expect(cheap.at(-1)).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
    // No more than half of what was earned before.
    expect((await billSince(m, began)).loss).toBeLessThanOrEqual(earned / 2n)
  })

  it('are refused with a price, from which on payments are settled whatever was given away, and below it are not', async () => {
    await alreadyGone(m, { gift: SUM / 2n })
    const refused = await pay(await m.newBuyer(), CENT)
    expect(refused).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
    const [, named] = /a purchase of (\d+) base units or more/.exec(refused.errorMessage) ?? []
    const price = BigInt(named ?? 0)
    expect(price).toBeLessThan(PRICE)
    for (const buyer of await newBuyers(3)) expect(await pay(buyer, price)).toMatchObject({ success: true })
    expect(await pay(await m.newBuyer(), (price * 3n) / 4n)).toMatchObject({
      success: false,
      retryable: true,
    })
  })

  it('that came together are refused with a price that holds for one that comes alone', async () => {
    await alreadyGone(m, { gift: SUM / 2n })
    const shop = await newShop(m)
    const answers = await Promise.all((await newBuyers(4)).map((buyer) => pay(buyer, CENT, shop)))
    const prices = answers.map(({ errorMessage }) => BigInt(/purchase of (\d+)/.exec(errorMessage)?.[1] ?? 0))
    const [price = 0n] = prices.toSorted((a, b) => Number(a - b))
    expect(await pay(await m.newBuyer(), price, shop)).toMatchObject({ success: true })
  })
})

describe('a merchant that pays itself', () => {
  beforeAll(async () => {
    m = await startTestFacilitator()
  })
  afterAll(() => m?.close())

  const set = (call: Deed['call']) => act(m, { by: m.merchant.account, on: 'MerchantRegistry', call })
  const role = keccak256(stringToBytes('SETTLEMENT_SIGNER_ROLE'))
  const ways: [string, () => Promise<LocalAccount>][] = [
    ['as its owner', async () => m.merchant.account],
    [
      'from its payout wallet',
      async () => {
        const wallet = await m.newBuyer()
        await set(['setPayoutWallet', m.merchant.merchantId, wallet.address])
        return wallet
      },
    ],
    [
      'from a wallet that settles for it',
      async () => {
        const wallet = await m.newBuyer()
        await set(['grantRole', m.merchant.merchantId, role, wallet.address])
        return wallet
      },
    ],
  ]

  it.each(ways)('%s is refused, at every route, and nothing is sent', async (_, way) => {
    const payer = await way()
    await mintUsdc(m.market, payer.address, 10n * PRICE)
    const before = await m.balanceOf(payer.address)
    for (const salt of [undefined, numberToHex(1, { size: 32 })]) {
      const body = await m.payload(payer, salt ? { salt } : {})
      const errorMessage = expect.stringContaining('the payer is the merchant')
      const reasons = { isValid: false, invalidReason: 'invalid_payment', invalidMessage: errorMessage }
      expect((await m.verify(body)).body).toMatchObject(reasons)
      const refused = { success: false, errorReason: 'invalid_payment', errorMessage, transaction: '' }
      expect((await m.settle(body)).body).toMatchObject(refused)
      const charged = await m.call('POST', '/mpp/charge', { body: await credentialBody(m, payer) })
      expect(charged.body).toMatchObject(refused)
    }
    expect(await m.balanceOf(payer.address)).toBe(before)
  })
})

describe('what fails', () => {
  /** Half of it pays for some seventy payments under way, of which a wallet may have one. */
  const SMALL = 1_500_000n

  beforeAll(async () => {
    m = await startTestFacilitator({ env: { GIVEAWAY_PER_DAY: String(SMALL), LINGER_MS: '100' } })
  })
  afterAll(() => m?.close())
  beforeEach(async () => {
    await forget(m)
    toNext(DAY_MS, m)
  })

  it('because merchants take their commission away costs half of the sum, with however many wallets and shops', async () => {
    await alreadyGone(m, { risk: SMALL / 2n - 120_000n })
    const shops = await several(3, () => newShop(m, 8_000))
    const began = await m.chain.client.getBlockNumber()
    let [settled, refused] = [0, 0]
    for (const shop of shops) {
      const buyers = await newBuyers(8)
      // Its terms are known from now on, and believed for a while.
      expect((await m.verify(await m.payload(buyers[0] as LocalAccount, shop))).body.isValid).toBe(true)
      await pay(await m.newBuyer(), 10n * CENT, shop)
      await act(m, shop.commission(0))
      const answers = await Promise.all(buyers.map((buyer) => pay(buyer, 10n * CENT, shop)))
      settled += answers.filter(({ success }) => success).length
      refused += answers.filter(({ success, retryable }) => !success && retryable).length
    }
    expect(settled).toBeGreaterThan(0)
    expect(refused).toBeGreaterThan(0)
    expect((await billSince(m, began)).loss).toBeLessThanOrEqual(120_000n)
  })

  it('over half of the sum keeps out new wallets only, where the shop has no credit', async () => {
    const [shop, known] = [await newShop(m), await m.newBuyer()]
    for (let at = 0; at < 2; at += 1) expect(await pay(known, 3n * PRICE)).toMatchObject({ success: true })
    await eventually(
      async () => (await m.sql`SELECT 1 FROM facilitator.settlements WHERE NOT is_final`).length,
    ).toBe(0)
    await alreadyGone(m, { risk: SMALL / 2n })
    const refused = await pay(await m.newBuyer(), PRICE, shop)
    expect(refused).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
    expect(refused.errorMessage).toContain('wallets that are new here')
    expect(refused.transaction).toBe('')
    // Who has paid here, wherever; and whoever pays in a shop whose fees have paid.
    expect(await pay(known, PRICE, shop)).toMatchObject({ success: true })
    expect(await pay(await m.newBuyer(), PRICE)).toMatchObject({ success: true })
    toNext(DAY_MS, m)
    expect(await pay(await m.newBuyer(), PRICE, shop)).toMatchObject({ success: true })
  })
})

describe('a payment of a wallet with credit that fails before the block of the last failure is final', () => {
  beforeAll(async () => {
    m = await startTestFacilitator({ confirmations: 30, env: { GIVEAWAY_PER_DAY: '1500000' } })
    toNext(DAY_MS, m)
  })
  afterAll(() => m?.close())

  it('is not sent again and again: each try draws on the credit', async () => {
    const payer = await m.newBuyer()
    // Its fees have left enough for three payments under way, and the sum of the day has nothing left.
    await alreadyGone(m, { risk: 750_000n })
    await m.sql`
      INSERT INTO facilitator.credits (chain_id, kind, id, credit)
      VALUES (${m.chainId}, 'payer', ${Buffer.from(payer.address.slice(2), 'hex')}, 12000)`
    const body = await m.payload(payer)
    const began = await m.chain.client.getBlockNumber()
    let told = { retryable: false } as { retryable?: boolean; pending?: boolean }
    for (let at = 0; at < 12 && !told.retryable; at += 1) {
      told = await betweenBlocks(m, async ({ mine }) => {
        const seen = m.events.length
        const settling = m.settle(body)
        const isSent = () =>
          m.events.slice(seen).some((event) => event.type === 'sender' && event.event.type === 'broadcast')
        const isOver = settling.then(() => true)
        await eventually(async () => isSent() || (await Promise.race([isOver, Promise.resolve(false)]))).toBe(
          true,
        )
        if (isSent()) await empty(m, payer)
        await mine()
        return (await settling).body
      })
      await act(m, give(payer.address))
    }
    const { loss } = await billSince(m, began)
    expect(loss).toBeGreaterThan(0n)
    expect(loss).toBeLessThanOrEqual(12_000n)
  })

  const give = (to: Address): Deed => ({
    by: m.market.accounts.stranger,
    on: 'USDC',
    call: ['transfer', to, PRICE],
  })
})

const seed = seedOf()

describe('whatever payers and merchants do on a day', () => {
  const sum = 4_000_000n
  /** The rest is gone already, so that the limits are reached. */
  const room = { gift: 40_000n, risk: 90_000n }
  /** A purchase costs some 7,500. Fees are a tenth of the commission. */
  const FEES = [200n, 5_500n, 7_500n, 9_000n, 9_000n, 25_000n]

  beforeAll(async () => {
    m = await startTestFacilitator({
      relayers: 2,
      confirmations: 3,
      env: { GIVEAWAY_PER_DAY: String(sum), LINGER_MS: '60', MAX_BATCH: '8' },
    })
    toNext(DAY_MS, m)
  })
  afterAll(() => m?.close())

  it(`their purchases cost at most the sum beyond their fees, by the chain (SEED=${seed})`, async () => {
    const random = seeded(seed)
    const shops: [Shop, bigint][] = []
    for (const bps of [2_000, 8_000, 500]) shops.push([await newShop(m, bps), BigInt(bps)])
    const codes = await several(2, async () => (await m.newBuyer(0n)).address)
    for (const [at, bytecode] of ([GREEDY, TURNCOAT] as const).entries())
      await m.chain.client.setCode({ address: codes[at] as Address, bytecode })
    const another = await m.startAnother()
    await alreadyGone(m, { gift: sum / 2n - room.gift, risk: sum / 2n - room.risk })
    const began = await m.chain.client.getBlockNumber()
    const seen = { settled: 0, failed: 0, noGift: 0, noRisk: 0 }
    const regulars = await newBuyers(4)
    const failed: Body[] = []
    try {
      const unseen = () => Object.values(seen).includes(0)
      for (let round = 0; round < 7 || (round < 21 && unseen()); round += 1) {
        const newcomers = await newBuyers(8)
        const buyers = [...newcomers, ...regulars]
        const fresh = await Promise.all(
          buyers.map((buyer) => {
            const [{ attributionToken }, bps] = pick(random, shops)
            return m.payload(buyer, { amount: (pick(random, FEES) * 100_000n) / bps, attributionToken })
          }),
        )
        const bodies = [...fresh, ...failed.splice(0, 4)]
        const answers = await betweenBlocks(m, async ({ mine }) => {
          let ended = 0
          const settling = bodies.map((body) =>
            ask(pick(random, [m.facilitator.url, another.url]), 'POST', '/settle', { body }).finally(() => {
              ended += 1
            }),
          )
          await eventually(async () => ended + (await inPool())).toBe(bodies.length)
          // Whoever is new may turn out to be anything: those whose payments wait for a block, and others.
          const waiting = await payersInPool()
          const isWaiting = (buyer: LocalAccount) => waiting.has(buyer.address.toLowerCase())
          const inTurn = newcomers.toSorted((a, b) => Number(isWaiting(b)) - Number(isWaiting(a)))
          const some = () => inTurn.splice(0, int(random, seen.failed === 0 ? 1 : 0, 2))
          const [empties, ...gainers] = [some(), some(), some()]
          for (const buyer of empties) await empty(m, buyer)
          for (const [at, accounts] of gainers.entries())
            if (accounts.length > 0) await gainCode(m, accounts, codes[at] as Address)
          if (random() < 0.5)
            await send(m, pick(random, shops)[0].commission(pick(random, [0, 300, 2_000, 8_000])))
          while ((await inPool()) > 0) await mine()
          return Promise.all(settling)
        })
        for (const [at, { body }] of answers.entries()) {
          if (body.success) seen.settled += 1
          else if (body.errorMessage.includes('gives no more gas away')) seen.noGift += 1
          else if (body.errorMessage.includes('new here')) seen.noRisk += 1
          else if (body.pending) {
            seen.failed += 1
            failed.push(bodies[at] as Body)
          }
        }
        if (round % 3 === 2) await m.restart()
        const { loss } = await billSince(m, began)
        expect(loss, JSON.stringify(seen)).toBeLessThanOrEqual(room.gift + room.risk)
      }
    } finally {
      await another.stop()
    }
    for (const times of Object.values(seen)) expect(times, JSON.stringify(seen)).toBeGreaterThan(0)
  })

  /** Payments that wait for a block, all of them sent. */
  async function inPool(): Promise<number> {
    const [row] = await m.sql<{ sent: number; unsent: number }[]>`
      SELECT count(*) FILTER (WHERE i.state = 'sent')::int AS sent, count(*) FILTER (WHERE i.state <> 'sent')::int AS unsent
      FROM facilitator.settlements s JOIN sender.intents i ON i.id = s.intent_id WHERE s.state = 'pending'`
    return row && row.unsent === 0 ? row.sent : -1_000
  }

  async function payersInPool(): Promise<Set<string>> {
    const rows = await m.sql<{ payer: string }[]>`
      SELECT '0x' || encode(payer, 'hex') AS payer FROM facilitator.settlements WHERE state = 'pending'`
    return new Set(rows.map(({ payer }) => payer))
  }
})

it('a fee that pays for more gas than there is, where gas costs nothing, is taken', async () => {
  m = await startTestFacilitator({ env: { GAS_PRICE_WEI: '1', ETH_PRICE_USD: '1' } })
  try {
    expect(await pay(await m.newBuyer(), 1_000n * PRICE)).toMatchObject({ success: true })
  } finally {
    await m.close()
  }
})
