// The market that a newcomer finds after npm start.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '@referrer/database'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { callerOf } from '../src/caller.ts'
import { GOODS } from '../src/shop/shops.ts'
import { openPlaces, referrer, rowsAt, serveFrom, whileHeld } from './backup.ts'
import { type Review, resolve, reviewsOf } from './links.ts'
import { buy, chainOf } from './purchase.ts'
import { inDatabase, PATIENCE_MS, startTestSandbox, type TestSandbox } from './sandbox.ts'

type Listed = Review & { agent_id: number; comparison_outcome: string; content_json: { description: string } }

describe('the demo market', () => {
  let sandbox: TestSandbox
  let reviews: Listed[]
  beforeAll(async () => {
    sandbox = await startTestSandbox('demo')
    reviews = (await reviewsOf(sandbox)) as Listed[]
  }, PATIENCE_MS)
  afterAll(() => sandbox?.end())

  const get = async (path: string) => (await fetch(`${sandbox.state.baseUrl}${path}`)).json()

  it('has forty products of eight merchants, each reviewed, offered and on the chain', async () => {
    const { products } = sandbox.state
    expect(products).toHaveLength(40)
    expect(new Set(products.map(({ merchantId }) => merchantId)).size).toBe(8)
    expect(new Set(reviews.map(({ product_id }) => product_id)).size).toBe(40)
    const offers = await Promise.all(
      products.map(async ({ endpointUrl }) => (await fetch(endpointUrl)).status),
    )
    expect(new Set(offers)).toEqual(new Set([402]))
  })

  it('has thirty reviewers whose ranks differ, one of them flagged', async () => {
    const reviewers = sandbox.state.accounts.filter(({ role }) => role === 'reviewer')
    expect(reviewers).toHaveLength(30)
    const { agents } = await get('/v1/agent?limit=500')
    const of = (agentId?: number) =>
      agents.find(({ agent_id }: { agent_id: number }) => agent_id === agentId)?.review_rank_repeat
    expect(new Set(reviewers.map(({ agentId }) => of(agentId))).size).toBeGreaterThan(10)
    const all = await Promise.all(reviewers.map(({ agentId }) => get(`/v1/agent/${agentId}`)))
    expect(all.filter(({ flagged }) => flagged)).toHaveLength(1)
  })

  it('has reviews that buyers confirm and contradict, and a dispute', () => {
    const outcomes = new Set(reviews.map(({ comparison_outcome }) => comparison_outcome))
    for (const outcome of ['pending', 'confirmed', 'contradicted', 'disputed'])
      expect(outcomes).toContain(outcome)
    expect(new Set(reviews.map(({ content_json }) => content_json.description)).size).toBeGreaterThan(190)
  })

  it('has three hundred purchases, of which those of the first forty days are settled', async () => {
    const escrow = { address: sandbox.state.contracts.CommissionEscrow, abi: commissionEscrowAbi } as const
    const all = { fromBlock: 0n, strict: true } as const
    const chain = chainOf(sandbox)
    const [deposits, settled] = await Promise.all([
      chain.getContractEvents({ ...escrow, ...all, eventName: 'EscrowDeposited' }),
      chain.getContractEvents({ ...escrow, ...all, eventName: 'EscrowSettled' }),
    ])
    expect(deposits).toHaveLength(300)
    const { timestamp } = await chain.getBlock()
    const ended = deposits.filter(({ args }) => args.windowEnd <= timestamp)
    expect(ended.length).toBeGreaterThan(50)
    // Those of the review in dispute wait.
    expect(settled.length).toBeGreaterThan(ended.length - 10)
    expect(settled.length).toBeLessThanOrEqual(ended.length)
  })

  it('has a proof and a dispute that wait for the admin', async () => {
    const caller = callerOf(sandbox.state.baseUrl)
    const token = await caller.signIn(privateKeyToAccount(sandbox.account('admin').privateKey))
    const headers = { authorization: `Bearer ${token}` }
    const list = async (path: string) => (await fetch(`${sandbox.state.baseUrl}${path}`, { headers })).json()
    expect((await list('/admin/proofs?status=pending')).proofs).toHaveLength(1)
    expect((await list('/admin/disputes')).disputes).toHaveLength(1)
  })

  it('ends now: its newest review is of today, and its oldest of a hundred days ago', async () => {
    const daysAgo = ({ published_at }: { published_at?: string }) =>
      (Date.now() - Date.parse(published_at ?? '')) / 86_400_000
    const listed = reviews as (Listed & { published_at: string })[]
    expect(Math.min(...listed.map(daysAgo))).toBeLessThan(1)
    expect(Math.max(...listed.map(daysAgo))).toBeGreaterThan(95)
    expect((await (await fetch(`${sandbox.state.chatUrl}/clock`)).json()).aheadSeconds).toBe(0)
  })

  it('is the same after it was backed up, destroyed and restored, on a server of one and on an embedded one', {
    timeout: PATIENCE_MS,
  }, async () => {
    const places = await openPlaces(sandbox)
    const [first, second] = ['first', 'second'].map((name) => join(places.directory, name)) as [
      string,
      string,
    ]
    const embedded = { DATABASE_URL: '', DATA_DIR: join(places.directory, 'postgres') }
    const own = { DATABASE_URL: places.url('restored') }
    try {
      const records = await whileHeld(sandbox, async () => {
        await referrer(['backup', first, '--no-verify'], { DATABASE_URL: places.url('market') })
        return rowsAt(places.url('market'))
      })
      expect([...records].filter(([, rows]) => rows.length > 0).length).toBeGreaterThan(40)

      await referrer(['restore', first], embedded)
      const printed = await referrer(['backup', second], embedded)
      expect(printed).toContain('it was restored for a try, and every table was the same')
      const server = await startPostgres({ directory: embedded.DATA_DIR })
      expect(await rowsAt(server.url)).toEqual(records)
      await server.stop()
      rmSync(embedded.DATA_DIR, { recursive: true })

      await inDatabase(sandbox, (sql) => sql`CREATE DATABASE restored`)
      await referrer(['restore', second], own)
      expect(await rowsAt(own.DATABASE_URL)).toEqual(records)
      await expect(referrer(['restore', second], own)).rejects.toThrow('replace them with --replace restored')

      const service = await serveFrom(own.DATABASE_URL, sandbox)
      try {
        for (const path of ['/v1/review?limit=500', '/v1/agent?limit=500', '/v1/merchant?limit=500']) {
          // What was under way when the market was held is done soon, by either of them.
          await vi.waitFor(
            async () =>
              expect([path, await (await fetch(`${service.url}${path}`)).json()]).toEqual([
                path,
                await get(path),
              ]),
            { timeout: 30_000, interval: 500 },
          )
        }
      } finally {
        await service.stop()
      }
    } finally {
      await places.leave()
    }
  })

  it('sells each of its products to the stock x402 client, through the link of a review', {
    timeout: PATIENCE_MS,
  }, async () => {
    const linkOf = (productId: string) =>
      reviews.find(({ product_id }) => product_id === productId)?.ref_link ?? ''
    await Promise.all(
      GOODS.map(async ({ productId, path, example }) => {
        const link = linkOf(productId)
        expect((await resolve(link)).merchant_endpoint).toBe(`${sandbox.state.shopUrl}${path}`)
        const { response, body } = await buy(sandbox, { role: 'buyer', link, query: example })
        expect([path, response.status, body]).toEqual([path, 200, expect.anything()])
      }),
    )
  })
})

describe('npm start -- --empty', () => {
  let sandbox: TestSandbox
  beforeAll(async () => {
    sandbox = await startTestSandbox('empty')
  }, PATIENCE_MS)
  afterAll(() => sandbox?.end())

  it('has accounts with identities and money, and nothing to buy', async () => {
    const { state, account } = sandbox
    expect(state.products).toEqual([])
    expect(account('merchant').merchantId).toBeGreaterThan(0)
    expect(account('reviewer').agentId).toBeGreaterThan(0)
    expect(await reviewsOf(sandbox)).toEqual([])
    await expect(fetch(state.shopUrl)).rejects.toThrow()
  })

  it('prints three commands, and each works', async () => {
    const urls = [...sandbox.output.text.matchAll(/^ {2}(?:read|look): +curl -s (\S+)$/gm)].map(
      ([, url]) => url ?? '',
    )
    expect(urls).toHaveLength(2)
    for (const url of urls) expect((await fetch(url)).status).toBe(200)
    const [, url = '', body = ''] = /^ {2}fund: +curl -s (\S+) -d '(.+)'$/m.exec(sandbox.output.text) ?? []
    expect(await (await fetch(url, { method: 'POST', body })).json()).toMatchObject({
      address: sandbox.account('stranger').address,
      usdc: '100000000',
    })
  })
})
