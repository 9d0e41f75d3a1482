// The tool `buy` beside the whole marketplace, and killed wherever it may be.
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@referrer/service/testing'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type Jobs, type Message, startJobs, WANT } from './jobs.ts'
import { PRICE } from './marketplace.ts'
import type { Instead } from './runner.ts'
import type { TestSigner } from './signer.ts'

let jobs: Jobs
let signer: TestSigner
beforeAll(async () => {
  jobs = await startJobs()
  signer = await jobs.start()
})
afterAll(() => jobs?.close())
beforeEach(() => {
  jobs.before = undefined
})

let keys = 0
const order = (more: Record<string, unknown> = {}) => {
  keys += 1
  return {
    want: WANT,
    max_amount: String(PRICE),
    idempotency_key: `wish ${keys}`,
    agent_id: jobs.place.agentId,
    ...more,
  }
}
const isPaid = ({ request }: Message) => request.headers['payment-signature'] !== undefined
const bought = (product: { productId: string }) => ({
  status: 'bought',
  chosen: { product: { product_id: product.productId }, price: String(PRICE) },
  resource: { body: expect.stringContaining('a good one') },
})

it.each(['buy', 'review_purchase'])(
  '%s takes at most 450 tokens of a model that lists the tools',
  async (name) => {
    const { tools } = await signer.client.listTools()
    expect(encode(JSON.stringify(tools.find((tool) => tool.name === name))).length).toBeLessThanOrEqual(450)
  },
)

it('finds, chooses and pays, says why, and answers a repeated call with the same purchase', async () => {
  const wish = order()
  const quoted = await signer.must('buy', { ...wish, dry_run: true })
  expect(quoted).toMatchObject({
    status: 'quoted',
    chosen: {
      product: { name: 'Sunset times', product_id: jobs.first.productId },
      price: String(PRICE),
      why: expect.stringMatching(/^the highest score of 2 within 1000000: 0\.\d{3} \(match 0\.\d{3}, rank/),
    },
    alternatives: [{ product: { product_id: jobs.second.productId }, price: String(PRICE) }],
    refused: [],
  })
  expect(await jobs.spent()).toBe(0n)
  const { escrow } = await jobs.newest()
  const answer = await signer.must('buy', wish)
  expect(answer).toMatchObject({ ...bought(jobs.first), escrow_id: escrow + 1 })
  expect(answer.chosen).toEqual(quoted.chosen)
  expect(answer.next_steps[0]).toMatch(`review_purchase with escrow_id ${escrow + 1}`)
  expect(await signer.must('buy', wish)).toEqual(answer)
  expect(await jobs.spent()).toBe(PRICE)
})

it('passes the request on to the shop, and buys without an agent for the wallet', async () => {
  const walletOnly = await jobs.start({ AGENT_PRIVATE_KEY: jobs.place.env.AGENT_KEYS?.split(':')[1] ?? '' })
  const seen: (string | undefined)[] = []
  jobs.before = ({ to, request }) => void (to === 'first shop' && seen.push(request.url))
  const { agent_id: _, ...wish } = order({ request: { query: 'city=Tokyo' } })
  const answer = await walletOnly.must('buy', wish)
  expect(new Set(seen)).toEqual(new Set(['/jokes?city=Tokyo']))
  expect(answer.next_steps[0]).toContain('bind_escrow')
  expect(await jobs.spent()).toBe(PRICE)
})

it('refuses another order under the same key, and what nothing matches, and pays nothing', async () => {
  const wish = order()
  await signer.must('buy', wish)
  expect(await signer.refusal('buy', { ...wish, want: 'weather of tomorrow' })).toContain('other arguments')
  expect(await signer.refusal('buy', { ...wish, max_amount: '5' })).toContain('other arguments')
  expect(await jobs.spent()).toBe(PRICE)
  expect(await signer.refusal('buy', order({ max_amount: String(PRICE - 1n) }))).toContain(
    'nothing that matches costs at most 999999',
  )
  expect(await signer.refusal('buy', order({ want: 'zymurgy' }))).toContain('nothing that matches')
  expect(await jobs.spent()).toBe(0n)
})

/** The offer of the honest shop for the same request, at twice the price. */
async function dearer({ request: { headers } }: Message): Promise<Instead> {
  const answer = await fetch(jobs.place.endpoint, {
    headers: { 'x-referrer-token': String(headers['x-referrer-token']) },
  })
  const offer = await answer.json()
  offer.accepts[0].amount = String(PRICE * 2n)
  return { status: 402, body: JSON.stringify(offer) }
}

it.each<[string, (message: Message) => Instead | false | Promise<Instead>, RegExp]>([
  ['is away', () => false, /^phase 1: expected 402, got 503; nothing was paid$/],
  ['does not sell', () => ({ status: 404 }), /^phase 1: expected 402, got 404; nothing was paid$/],
  [
    'makes no offer',
    () => ({ status: 402, body: '{}' }),
    /^the shop's offer is refused: .*nothing was paid$/,
  ],
  ['asks for more', dearer, /^live price 2000000 exceeds max_amount 1000000; nothing was paid$/],
])('takes the alternative when the shop %s, says so, and stays with it', async (_, answerOf, why) => {
  const wish = order()
  jobs.before = (message) => (message.to === 'first shop' ? answerOf(message) : undefined)
  expect(await signer.must('buy', { ...wish, dry_run: true })).toMatchObject({
    status: 'quoted',
    chosen: { product: { product_id: jobs.second.productId } },
  })
  const answer = await signer.must('buy', wish)
  expect(answer).toMatchObject({
    ...bought(jobs.second),
    alternatives: [],
    refused: [
      {
        product: { product_id: jobs.first.productId },
        why: expect.stringMatching(why),
      },
    ],
  })
  jobs.before = undefined
  expect(await signer.must('buy', wish)).toEqual(answer)
  expect(await jobs.spent()).toBe(PRICE)
})

it('chooses anew with the same key when no shop sold anything', async () => {
  const wish = order()
  jobs.before = ({ to }) => !to.endsWith('shop')
  const refusal = await signer.refusal('buy', wish)
  expect(refusal).toMatch(/^no shop sells it now: "Sunset times": .*503.* \| "Sunset times": .*503/)
  jobs.before = undefined
  expect(await signer.must('buy', wish)).toMatchObject(bought(jobs.first))
  expect(await jobs.spent()).toBe(PRICE)
})

/** Where a signer is killed; afterwards the message still arrives. */
const MOMENTS: [string, (message: Message) => boolean][] = [
  ['looks for products', ({ body }) => body.includes('"discover_products"')],
  ['looks the link up', ({ to, request }) => to === 'market' && request.url?.startsWith('/r/') === true],
  ['asks the shop for its price', ({ to }) => to === 'first shop'],
  ['reads the caps', ({ request }) => request.url?.startsWith('/v1/spending-limits') === true],
]

it.each(MOMENTS)('buys one product once, though it is killed when it %s', async (what, isThere) => {
  const wish = order()
  const dying = await jobs.start()
  jobs.before = (message) => {
    if (isThere(message)) dying.kill()
  }
  await expect(dying.call('buy', wish)).rejects.toThrow()
  let searches = 0
  jobs.before = ({ body }) => {
    if (body.includes('"discover_products"')) searches += 1
  }
  const again = await jobs.start({ SIGNER_STATE_DIR: dying.stateDir })
  const answer = await again.must('buy', wish)
  expect(answer).toMatchObject(bought(jobs.first))
  // Once something is chosen, nothing else is looked for.
  expect(searches).toBe(what === 'looks for products' ? 1 : 0)
  expect(await again.must('buy', wish)).toEqual(answer)
  expect(await jobs.spent()).toBe(PRICE)
})

it.each([
  ['hands over the payment', isPaid],
  // The next message after the payment.
  ['reads what became of it', ({ to }: Message, hasPaid: boolean) => hasPaid && to === 'chain'],
])('pays once and tells the escrow, though it is killed when it %s', async (_, isThere) => {
  const wish = order()
  const { escrow } = await jobs.newest()
  const dying = await jobs.start()
  let hasPaid = false
  jobs.before = (message) => {
    if (isThere(message, hasPaid)) dying.kill()
    hasPaid ||= isPaid(message)
  }
  await expect(dying.call('buy', wish)).rejects.toThrow()
  await until(async () => (await jobs.newest()).escrow > escrow, 'the purchase on the chain')
  jobs.before = undefined
  const again = await jobs.start({ SIGNER_STATE_DIR: dying.stateDir })
  // This shop serves a payment once, and nobody was there to hear it.
  for (let count = 0; count < 2; count += 1) {
    expect(await again.refusal('buy', wish)).toContain(
      `already paid: the purchase of this idempotency_key is escrow ${escrow + 1}`,
    )
  }
  expect([await jobs.spent(), await jobs.newest()]).toMatchObject([PRICE, { escrow: escrow + 1 }])
})

it('answers what it had stored, though it was killed before the journal was closed', async () => {
  const wish = order()
  const answer = await signer.must('buy', wish)
  const wallets = join(signer.stateDir, 'purchases')
  const [wallet = ''] = await readdir(wallets)
  const folder = join(wallets, wallet)
  const entries = await Promise.all(
    (await readdir(folder)).map(async (name) => ({
      name,
      entry: JSON.parse(await readFile(join(folder, name), 'utf8')),
    })),
  )
  const newest = entries.find(({ entry }) => entry.outcome.escrowId === answer.escrow_id)
  const path = join(folder, newest?.name ?? '')
  await writeFile(path, JSON.stringify({ ...newest?.entry, outcome: null }))
  await rename(path, path.replace(/\.json$/, '.open.json'))
  const open = async () => (await signer.must('get_wallet_status')).open_purchases
  expect(await open()).toHaveLength(1)
  expect(await signer.must('buy', wish)).toEqual(answer)
  expect(await open()).toEqual([])
  expect(await jobs.spent()).toBe(PRICE)
})

it('buys once, though it is asked twice at the same time', async () => {
  const wish = order()
  const other = await jobs.start({ SIGNER_STATE_DIR: signer.stateDir })
  const [one, two] = await Promise.all([signer.must('buy', wish), other.must('buy', wish)])
  expect(two).toEqual(one)
  expect(await jobs.spent()).toBe(PRICE)
})

it('takes no alternative once a signature has left, though it expired unused and the shop is away', async () => {
  const wish = order()
  const dying = await jobs.start()
  jobs.before = (message) => {
    if (!isPaid(message)) return undefined
    dying.kill()
    return false
  }
  await expect(dying.call('buy', wish)).rejects.toThrow()
  jobs.before = ({ to }) => (to === 'first shop' ? false : undefined)
  const again = await jobs.start({ SIGNER_STATE_DIR: dying.stateDir })
  expect(await again.refusal('buy', wish)).toContain('not decided yet')
  await jobs.place.m.market.client.increaseTime({ seconds: 600 })
  await jobs.place.m.market.client.mine({ blocks: 1 })
  expect(await again.refusal('buy', wish)).toBe('phase 1: expected 402, got 503; nothing was paid')
  jobs.before = undefined
  expect(await again.must('buy', wish)).toMatchObject(bought(jobs.first))
  expect(await jobs.spent()).toBe(PRICE)
})
