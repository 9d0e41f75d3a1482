import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Charging, startCharging } from './charging.ts'
import { eventually } from './eventually.ts'

let m: Charging

beforeAll(async () => {
  m = await startCharging()
})
afterAll(() => m?.close())

const LEAST = 'at least 10000 base units (0.01 USDC) is settled on eip155:31337'
const sentByRelayer = () => m.chain.client.getTransactionCount({ address: m.relayers[0].address })

it('what does not pay for its own gas is refused before anything is tried or sent', async () => {
  const buyer = await m.newBuyer()
  const body = await m.payload(buyer, { amount: 9_999n })
  const [asked, sent] = [m.nodes.calls.length, await sentByRelayer()]
  const { body: answer } = await m.settle(body)
  expect(answer).toMatchObject({ success: false, errorReason: 'invalid_payment', transaction: '' })
  expect(answer).not.toHaveProperty('retryable')
  expect(answer.errorMessage).toContain(`amount 9999 base units (0.009999 USDC)`)
  expect(answer.errorMessage).toContain(LEAST)
  expect((await m.verify(body)).body).toMatchObject({ isValid: false, invalidReason: 'invalid_payment' })
  expect(m.nodes.calls.slice(asked).filter((call) => call.includes('eth_call'))).toEqual([])
  expect(await sentByRelayer()).toBe(sent)
  expect((await m.settle(await m.payload(buyer, { amount: 10_000n }))).body).toMatchObject({ success: true })
})

it('the least amount is told with what is supported', async () => {
  const { body } = await m.call('GET', '/supported')
  expect(body.kinds[0].extra.leastAmount).toBe('10000')
})

it('a plain transfer of less is its payer’s to take back, and nothing is recorded or sent for it', async () => {
  const { walletBuyer } = m.market.accounts
  const body = await m.bodyOf(walletBuyer, { txHash: await m.transfer(walletBuyer, 1n) })
  const sent = await sentByRelayer()
  const message = await m.expectRefused(body, { errorReason: 'invalid_payment' })
  expect(message).toContain(LEAST)
  await m.expectTakenBack(walletBuyer, body, 'invalid_payment', 1n)
  const rows = () => m.sql<{ count: number }[]>`
    SELECT count(*)::int FROM facilitator.settlements WHERE kind LIKE 'deposit%'`
  await eventually(rows).toEqual([{ count: 0 }])
  expect(await sentByRelayer()).toBe(sent)
})
