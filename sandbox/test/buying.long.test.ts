// The stock x402 client buys from the demo shop through the links of the demo's reviews. Everything is real but the money.
import { fileURLToPath } from 'node:url'
import { Money } from '@referrer/protocol'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleCommand } from '../src/state.ts'
import { linkTo, resolve, reviewsOf } from './links.ts'
import { ask, buy, buyAndCheck, chainOf, paymentOf, usdcOf } from './purchase.ts'
import { PATIENCE_MS, run, startTestSandbox, type TestSandbox, until } from './sandbox.ts'

const example = (name: string) =>
  run(fileURLToPath(new URL(`../examples/${name}.ts`, import.meta.url)), { SANDBOX_DIR: sandbox.directory })

let sandbox: TestSandbox
beforeAll(async () => {
  sandbox = await startTestSandbox()
}, PATIENCE_MS)
afterAll(() => sandbox?.end())

interface Leg {
  amount: number
  status: string
}

interface SeenEscrow {
  escrow_id: number
  role: string
  held_back: Leg
  cashback: Leg
}

interface Earnings {
  commission: { immediate: number; held_back_pending: number }
  escrow_pending: { held_back: number; cashback: number; total: number }
}

const earningsOf = (agentId: number) => ask<Earnings>(sandbox, 'stranger', `/v1/agent/${agentId}/earnings`)

/** Once the service has read it from the chain. */
async function escrowSeenBy(agentId: number | undefined, escrowId: number): Promise<SeenEscrow | undefined> {
  let seen: SeenEscrow | undefined
  await until(async () => {
    const path = `/v1/agent/${agentId}/escrows`
    const { escrows } = await ask<{ escrows: SeenEscrow[] }>(sandbox, 'stranger', path)
    seen = escrows.find(({ escrow_id }) => escrow_id === escrowId)
    return seen !== undefined
  }, sandbox)
  return seen
}

const readEscrow = (functionName: 'lastEscrowId' | 'totalHeld') =>
  chainOf(sandbox).readContract({
    address: sandbox.state.contracts.CommissionEscrow,
    abi: commissionEscrowAbi,
    functionName,
  })
const escrows = () => readEscrow('lastEscrowId')

describe('the demo shop', () => {
  it('has links to each of its products, which the service resolves', async () => {
    const { state } = sandbox
    const reviews = await reviewsOf(sandbox)
    const endpoints = new Set<string>()
    for (const { ref_link, product_id, on_chain_id } of reviews) {
      const { merchant_endpoint, split_router, facilitator_url, ...found } = await resolve(ref_link)
      endpoints.add(merchant_endpoint)
      expect(split_router).toBe(state.contracts.SplitRouter)
      expect(facilitator_url).toBe(state.facilitatorUrl)
      expect(found).toMatchObject({ product_id, review_id: on_chain_id })
    }
    expect([...endpoints].sort()).toEqual(state.products.map(({ endpointUrl }) => endpointUrl).sort())
  })

  it('passes the readiness checks with every product', async () => {
    expect(sandbox.state.products.length).toBeGreaterThan(0)
    for (const { endpointUrl: resource } of sandbox.state.products) {
      const ready = await ask(sandbox, 'merchant', '/v1/merchant/product/readiness', { resource })
      expect(ready).toMatchObject({ pass: true })
    }
  })

  it('shows what it sells to people and to programs', async () => {
    const { state } = sandbox
    const page = await fetch(state.shopUrl, { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const html = await page.text()
    const { products } = await (await fetch(state.shopUrl)).json()
    expect(products).toHaveLength(state.products.length)
    for (const { name, endpoint_url, price_usdc, reviews } of products) {
      expect(html).toContain(name)
      const offer = await (await fetch(endpoint_url)).json()
      expect(offer.accepts[0].amount).toBe(String(price_usdc))
      expect((await (await fetch(reviews)).json()).reviews.length).toBeGreaterThan(0)
    }
    expect((await fetch(`${state.shopUrl}/nothing`)).status).toBe(404)
  })
})

describe('the stock client', () => {
  it('buys through a ref link as an agent, and the payment is split on the chain [REF-39]', async () => {
    const link = await linkTo(sandbox, '/daylight')
    const { body } = await buyAndCheck(sandbox, { role: 'buyer', link, query: '?city=Tokyo' }, 10_000n)
    expect(body).toMatchObject({ place: 'Tokyo', daylight_minutes: expect.any(Number) })
  })

  it('buys as a wallet without an agent', async () => {
    const link = await linkTo(sandbox, '/daylight')
    const { body } = await buyAndCheck(sandbox, { role: 'walletBuyer', link }, 10_000n)
    expect(body).toMatchObject({ place: 'Lisbon' })
  })

  it('buys what is sold once, at another rate of commission', async () => {
    const link = await linkTo(sandbox, '/almanac')
    const { body } = await buyAndCheck(sandbox, { role: 'buyer', link, query: '?year=2027' }, 2_500_000n)
    expect(body).toMatchObject({ title: 'Daylight in 2027' })
  })

  it('buys with a body of its own', async () => {
    const text = 'The shop opens at nine. Bees make honey. Honey feeds bees.'
    const init = { method: 'POST', body: JSON.stringify({ text, sentences: 1 }) }
    const link = await linkTo(sandbox, '/summary')
    const { body } = await buyAndCheck(sandbox, { role: 'buyer', link, init }, 50_000n)
    expect(body).toMatchObject({ summary: 'Bees make honey.' })
  })

  it('has the pledged cashback set aside for it', async () => {
    const link = await linkTo(sandbox, '/almanac')
    expect(await resolve(link)).toMatchObject({ cashback_of_commission_bps: 2_000 })
    const { shares, escrowId } = await buyAndCheck(sandbox, { role: 'buyer', link }, 2_500_000n)
    expect(shares.cashback).toBeGreaterThan(0n)
    const seen = await escrowSeenBy(sandbox.account('buyer').agentId, escrowId)
    expect(seen).toMatchObject({
      role: 'buyer',
      cashback: { amount: Number(shares.cashback), status: 'pending_buyer_review' },
    })
  })

  it('leaves a purchase that the service shows to the reviewer and to the buyer', async () => {
    const link = await linkTo(sandbox, '/summary')
    const { reviewer_agent_id } = await resolve(link)
    const before = await earningsOf(reviewer_agent_id)
    const order = { role: 'buyer', link, query: '?text=Bees+make+honey.' } as const
    const { shares, escrowId } = await buyAndCheck(sandbox, order, 50_000n)
    const heldBack = { amount: Number(shares.heldBack), status: 'pending' }
    const seen = await escrowSeenBy(reviewer_agent_id, escrowId)
    expect(seen).toMatchObject({ role: 'reviewer', held_back: heldBack, cashback: { amount: 0 } })
    const seenByBuyer = await escrowSeenBy(sandbox.account('buyer').agentId, escrowId)
    expect(seenByBuyer).toMatchObject({ role: 'buyer', held_back: heldBack })
    const after = await earningsOf(reviewer_agent_id)
    expect(after.commission.immediate - before.commission.immediate).toBe(Number(shares.immediate))
    expect(after.commission.held_back_pending - before.commission.held_back_pending).toBe(heldBack.amount)
    expect(after.escrow_pending.held_back - before.escrow_pending.held_back).toBe(heldBack.amount)
  })

  it('buys above every cap of its owner: caps are advice [SPEND-01]', async () => {
    const caps = { per_tx_cap_usdc: 0, daily_cap_usdc: 0, total_cap_usdc: 0 }
    const limits = { chain_id: sandbox.state.chainId, ...caps }
    expect(await ask(sandbox, 'buyer', '/v1/spending-limits', limits)).toMatchObject(limits)
    const link = await linkTo(sandbox, '/daylight')
    const { escrowId } = await buyAndCheck(sandbox, { role: 'buyer', link }, 10_000n)
    expect(await escrowSeenBy(sandbox.account('buyer').agentId, escrowId)).toMatchObject({ role: 'buyer' })
    const unlimited = { per_tx_cap_usdc: null, daily_cap_usdc: null, total_cap_usdc: null }
    await ask(sandbox, 'buyer', '/v1/spending-limits', { ...limits, ...unlimited })
  })

  it('pays nothing for what cannot be made', async () => {
    const { address } = sandbox.account('buyer')
    const before = await usdcOf(sandbox, address)
    const link = await linkTo(sandbox, '/daylight')
    const { response, body } = await buy(sandbox, { role: 'buyer', link, query: '?city=Atlantis' })
    expect(response.status).toBe(400)
    expect(body.error).toContain('city must be one of')
    expect(await usdcOf(sandbox, address)).toBe(before)
  })
})

describe('a payment that is sent again', () => {
  it('neither gets the resource twice nor moves money twice', async () => {
    const link = await linkTo(sandbox, '/daylight')
    const bought = await buy(sandbox, { role: 'buyer', link })
    expect(bought.response.status).toBe(200)
    const { address } = sandbox.account('buyer')
    const [count, balance] = [await escrows(), await usdcOf(sandbox, address)]
    const { merchant_endpoint } = await resolve(link)
    for (const path of ['', '?city=Tokyo']) {
      const again = await fetch(`${merchant_endpoint}${path}`, {
        headers: { 'PAYMENT-SIGNATURE': bought.signature },
      })
      const body = await again.json()
      expect([again.status, body]).toEqual([409, expect.anything()])
      expect(body).not.toHaveProperty('place')
      expect(body).toMatchObject({ transaction: paymentOf(bought).transaction })
    }
    const { merchant_endpoint: other } = await resolve(await linkTo(sandbox, '/almanac'))
    const elsewhere = await fetch(other, { headers: { 'PAYMENT-SIGNATURE': bought.signature } })
    expect([402, 409]).toContain(elsewhere.status)
    expect(await elsewhere.json()).not.toHaveProperty('title')
    expect(await escrows()).toBe(count)
    expect(await usdcOf(sandbox, address)).toBe(balance)
  })
})

describe('the examples of the quick start, in their order', () => {
  /** What the example says, without what is another each time. */
  async function said(name: string): Promise<string> {
    const { output, ended } = example(name)
    expect([await ended, output.text]).toEqual([[0, null], expect.any(String)])
    return output.text
      .replaceAll(/0x[0-9a-f]{64}/g, 'hash')
      .replaceAll(/escrow \d+/g, 'escrow N')
      .replace(/is \d{4}-\d\d-\d\d/, 'is some day')
  }

  it(
    'finds what is asked for and prints how to buy it',
    async () => {
      const text = await said('discover')
      expect(text).toMatch(/^\d\.\d{3} {2}Daylight, /)
      const command = exampleCommand('buy', { SANDBOX_DIR: sandbox.directory })
      expect(text.split('\n\n')[1]?.replace(/http\S+/, 'link')).toBe(`${command} link\n`)
    },
    PATIENCE_MS,
  )

  it(
    'buys and prints how the price was split',
    async () => {
      const text = await said('buy')
      expect(text).toMatch(/^200 {"place":"Lisbon"/)
      expect(text.split('\n\n')[1]).toBe(
        [
          'hash',
          '  buyer → router        0.01 USDC',
          '  router → escrow       0.000455 USDC',
          '  router → merchant     0.0093 USDC',
          '  router → reviewer     0.000245 USDC',
          'of that, in escrow N',
          '  held back             0.000245 USDC',
          '  cashback              0.00014 USDC',
          '  fee                   0.00007 USDC',
          '',
        ].join('\n'),
      )
    },
    PATIENCE_MS,
  )

  it(
    'votes, reviews and prints the cashback, and the rank that the vote gave',
    async () => {
      const { address, agentId } = sandbox.account('buyer')
      const [, author] = sandbox.state.accounts.filter(({ role }) => role === 'reviewer')
      await escrowSeenBy(agentId, Number(await escrows()))
      const before = await usdcOf(sandbox, address)
      const balances = [before, before + 140n].map((units) => Money.format(units)).join(' → ')
      expect(await said('review')).toBe(
        [
          'escrow N: Daylight, bought through review 5',
          '  held back             0.000245 USDC  pending',
          '  cashback              0.00014 USDC  pending_buyer_review',
          'voted for review 4',
          'published review 6',
          '  held back             0.000245 USDC  pending',
          '  cashback              0.00014 USDC  released',
          `  balance               ${balances} USDC`,
          `agent ${author?.agentId}, whom the vote was for, has rank 0.5247524752475248 (repeat)`,
          `  vote of agent ${agentId}, counts 0.625`,
          '',
        ].join('\n'),
      )
      expect(await usdcOf(sandbox, address)).toBe(before + 140n)
    },
    PATIENCE_MS,
  )

  it(
    'lets sixty days pass and prints what the oracle settles: everything',
    async () => {
      const count = Number(await escrows())
      const settled = (await said('later')).split('\nescrow N: ')
      expect(settled.shift()).toBe('60 days later it is some day')
      expect(settled).toHaveLength(count)
      // The purchase of the first example: the cashback was paid before.
      expect(settled.at(-1)).toBe(
        'contradicted false, cashback earned true\n  escrow → reviewer     0.000245 USDC\n',
      )
      expect(await readEscrow('totalHeld')).toBe(0n)
    },
    PATIENCE_MS,
  )
})
