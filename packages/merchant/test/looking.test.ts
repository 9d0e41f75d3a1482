// A shop that looks at the chain itself before it serves, and facilitators that say what is not so.
import type { AttributionToken } from '@referrer/protocol'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPaymentMemory, type ReferralConfig } from '../src/index.ts'
import {
  bodyOf,
  PRICE,
  pay,
  retry,
  SETUP_URL,
  settledBy,
  shopOf,
  startWorld,
  TRANSACTION,
  tokenFor,
  type World,
} from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

/** A shop that counts whom it served, and how often it asked the node for what. */
function looking(changes: Partial<ReferralConfig> = {}, manifest?: object) {
  const asked: string[] = []
  const state = { isNodeDown: false }
  let served = 0
  const shop = shopOf(world, {
    checkOnChain: true,
    checkTimeoutMs: 100,
    serve: () => ({ served: ++served }),
    async fetch(input, init) {
      if (String(input) === SETUP_URL) {
        asked.push('manifest')
        return manifest ? Response.json(manifest) : new Response('no', { status: 502 })
      }
      if (String(input).startsWith(world.rpcUrl)) {
        if (state.isNodeDown) throw new TypeError('fetch failed')
        const { method } = JSON.parse(String(init?.body))
        asked.push(method)
      }
      return fetch(input, init)
    },
    ...changes,
  })
  return { ...shop, asked, state, served: () => served }
}

const UNSURE =
  'it is not known yet whether this payment was settled: send the same PAYMENT-SIGNATURE again, and do not sign a new one'

async function expectUnserved(shop: ReturnType<typeof looking>, payment: { header: string }) {
  const response = await shop.fetch(retry(payment))
  expect([response.status, (await bodyOf(response)).error]).toEqual([504, UNSURE])
  expect(response.headers.has('PAYMENT-REQUIRED')).toBe(false)
  expect(shop.served()).toBe(0)
}

describe('before it serves, a shop', () => {
  it('reads the transaction that the facilitator names, and its block, with three questions to the node', async () => {
    const payment = await pay(world)
    const transaction = await payment.settleOnChain()
    world.facilitator.says(settledBy(transaction))
    const shop = looking({ checkTimeoutMs: 20_000 })
    await shop.ready()
    shop.asked.length = 0
    const response = await shop.fetch(retry(payment))
    expect([response.status, await bodyOf(response)]).toEqual([200, { served: 1, transaction }])
    expect(shop.asked).toEqual(['eth_getTransactionReceipt', 'eth_getBlockByHash', 'eth_getBlockByNumber'])
  })

  it('finds the payment where its transaction was replaced by one with a higher fee', async () => {
    const payment = await pay(world)
    const transaction = await payment.settleOnChain()
    world.facilitator.says(settledBy(TRANSACTION))
    const shop = looking({ checkTimeoutMs: 20_000 })
    const response = await shop.fetch(retry(payment))
    expect([response.status, await bodyOf(response)]).toEqual([200, { served: 1, transaction }])
  })

  it('waits for the block', async () => {
    const { client } = world.local
    const payment = await pay(world)
    await client.setAutomine(false)
    const settling = payment.settleOnChain()
    let hash: Hex | undefined
    while (!hash) hash = (await client.getBlock({ blockTag: 'pending' })).transactions[0]
    world.facilitator.says(settledBy(hash))
    const shop = looking({ checkTimeoutMs: 20_000 })
    const answer = shop.fetch(retry(payment))
    // It has looked once and found nothing.
    await expect.poll(() => shop.asked).toContain('eth_call')
    await client.setAutomine(true)
    await client.mine({ blocks: 1 })
    expect((await answer).status).toBe(200)
    expect(await settling).toBe(hash)
  })

  it('answers 504 to a transaction that does not exist, is not mined, failed or pays somebody else, and serves when it is true', async () => {
    const { client } = world.local
    const { merchant } = world.market.accounts
    const [payment, other] = [await pay(world), await pay(world)]
    const failed = await client
      .sendTransaction({
        account: merchant,
        to: world.market.addresses.SplitRouter,
        data: '0xdeadbeef',
        gas: 100_000n,
      })
      .catch(async () => (await client.getBlock()).transactions[0] as Hex)
    expect((await client.getTransactionReceipt({ hash: failed })).status).toBe('reverted')
    await client.setAutomine(false)
    const settling = payment.settleOnChain()
    let unmined: Hex | undefined
    while (!unmined) unmined = (await client.getBlock({ blockTag: 'pending' })).transactions[0]
    const shop = looking()
    for (const named of [TRANSACTION, unmined, failed, 'nonsense']) {
      world.facilitator.says(settledBy(named))
      await expectUnserved(shop, payment)
    }
    await client.setAutomine(true)
    await client.mine({ blocks: 1 })
    const transaction = await settling
    const foreign = await other.settleOnChain()
    const unpaid = await pay(world)
    world.facilitator.says(settledBy(foreign))
    await expectUnserved(shop, unpaid)

    world.facilitator.says(settledBy(transaction))
    expect((await shop.fetch(retry(payment))).status).toBe(200)
    expect(shop.served()).toBe(1)
  })

  it('answers 504 while no node answers, never 402, and serves the same payment afterwards', async () => {
    const payment = await pay(world)
    world.facilitator.says(settledBy(await payment.settleOnChain()))
    const shop = looking()
    await shop.ready()
    shop.state.isNodeDown = true
    await expectUnserved(shop, payment)
    expect(shop.events.at(-1)).toMatchObject({
      type: 'unsure',
      message: expect.stringContaining('no node answered'),
    })
    shop.state.isNodeDown = false
    expect((await shop.fetch(retry(payment))).status).toBe(200)
  })

  it('does not serve an old purchase again, whose record is gone, for a facilitator that calls it new', async () => {
    const { client } = world.local
    const payment = await pay(world)
    const transaction = await payment.settleOnChain()
    world.facilitator.says(settledBy(transaction))
    const id = await client.snapshot()
    await client.increaseTime({ seconds: 120 })
    await client.mine({ blocks: 1 })
    const shop = looking({ payments: createPaymentMemory() })
    const response = await shop.fetch(retry(payment))
    await client.revert({ id })
    expect([response.status, (await bodyOf(response)).transaction, shop.served()]).toEqual([
      409,
      transaction,
      0,
    ])
  })

  it('serves nobody whose payment bought something else', async () => {
    const { merchantId } = world.product
    const memories = Array.from({ length: 6 }, () => createPaymentMemory())
    const paid = await pay(world)
    world.facilitator.says(settledBy(await paid.settleOnChain()))
    for (const [changes, link, more] of [
      [{ merchantId: merchantId + 1n, product: {} }, { merchantId: Number(merchantId) + 1 }],
      [{ price: PRICE + 1n }, {}],
      [{}, { reviewId: Number(world.reviewId) + 1 }],
      [{}, { reviewerAgentId: Number(world.reviewerAgentId) + 1 }],
      [{}, { cashbackOfCommissionBps: 0 }],
      [{}, {}, { buyerAgentId: '7' }],
    ] as [Partial<ReferralConfig>, Partial<AttributionToken.Terms>, object?][]) {
      const payments = memories.shift()
      if (!payments) throw new Error('too few memories')
      const shop = looking({ ...changes, payments })
      const extensions = {
        ...paid.payload.extensions,
        attributionToken: await tokenFor(world, link),
        ...more,
      }
      const header = Buffer.from(JSON.stringify({ ...paid.payload, extensions })).toString('base64')
      const response = await shop.fetch(retry({ header }))
      expect([409, 504]).toContain(response.status)
      expect(shop.served()).toBe(0)
    }
  })
})

describe('whether it looks', () => {
  it('depends on whose the facilitator is, where the shop does not say', async () => {
    const own = { facilitatorUrl: `${world.facilitator.url}/` }
    for (const [manifest, checkOnChain, status] of [
      [own, undefined, 200],
      [{ facilitatorUrl: 'https://facilitator.test' }, undefined, 504],
      [{}, undefined, 504],
      [undefined, undefined, 504],
      [own, true, 504],
      [undefined, false, 200],
    ] as const) {
      world.facilitator.says(settledBy())
      const shop = looking({ checkOnChain }, manifest)
      expect([manifest, (await shop.fetch(retry(await pay(world)))).status]).toEqual([manifest, status])
      expect((await shop.fetch(retry(await pay(world)))).status).toBe(status)
      expect(shop.asked.filter((one) => one === 'manifest')).toHaveLength(checkOnChain === undefined ? 1 : 0)
    }
  })

  it('is asked anew later where the manifest did not tell', async () => {
    let now = Date.now()
    const manifest: { facilitatorUrl?: string } = {}
    world.facilitator.says(settledBy())
    const shop = looking({ checkOnChain: undefined, now: () => now }, manifest)
    expect((await shop.fetch(retry(await pay(world)))).status).toBe(504)
    manifest.facilitatorUrl = world.facilitator.url
    now += 300_000
    expect((await shop.fetch(retry(await pay(world)))).status).toBe(200)
  })
})
