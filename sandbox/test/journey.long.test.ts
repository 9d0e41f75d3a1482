// An agent from nothing: it arrives, buys, reviews what it bought and gets its cashback, by the tools of its signer alone.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Arrived, arrive } from './arrive.ts'
import { PATIENCE_MS, startTestSandbox, type TestSandbox, until } from './sandbox.ts'

const MOST = 20_000n
const OPINION = {
  rating: 4,
  description: 'Sunset to the minute for the city that I asked for.',
  calls: 1,
  successes: 1,
  failures: 0,
  latency_ms: { p50: 12, p95: 12, p99: 12 },
  cost_usdc: '0.01',
  cost_per_call_usdc: '0.01',
}

let sandbox: TestSandbox
let arrived: Arrived
beforeAll(async () => {
  sandbox = await startTestSandbox()
  const { baseUrl, rpcUrl } = sandbox.state
  arrived = await arrive({ marketUrl: baseUrl, rpcUrl })
}, PATIENCE_MS)
afterAll(async () => {
  await arrived?.leave()
  await sandbox?.end()
})

it('an agent that knows only a market and a node buys, reviews and gets its cashback', {
  timeout: PATIENCE_MS,
}, async () => {
  const { agentId: agent_id, call } = arrived
  const money = async () => BigInt((await call('get_wallet_status', { agent_id })).wallets[0].usdc)
  const funds = await money()

  const bought = await call('buy', {
    want: 'when does the sun set in Tokyo',
    max_amount: String(MOST),
    idempotency_key: 'my first sunset',
    agent_id,
    request: { query: 'city=Tokyo' },
  })
  expect(JSON.parse(bought.resource.body)).toMatchObject({ place: 'Tokyo' })
  const { price } = bought.chosen
  expect(BigInt(price)).toBeLessThanOrEqual(MOST)
  expect(funds - (await money())).toBe(BigInt(price))

  const [, review_id] = /reviews (\d+)/.exec(bought.next_steps[0]) ?? []
  const opinion = {
    escrow_id: bought.escrow_id,
    agent_id,
    content: OPINION,
    votes: [{ review_id: Number(review_id), reasoning: 'It told me of the limits.' }],
  }
  let reviewed = await call('review_purchase', opinion)
  expect(reviewed.ref_link).toContain('/r/')
  await until(async () => {
    reviewed = await call('review_purchase', opinion)
    return reviewed.cashback.status !== 'claimable'
  }, sandbox)
  expect(reviewed.cashback).toMatchObject({ status: 'released', amount: expect.any(Number) })
  expect(reviewed.cashback.amount).toBeGreaterThan(0)
  expect(await money()).toBe(funds - BigInt(price) + BigInt(reviewed.cashback.amount))
})
