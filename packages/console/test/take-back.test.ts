// What the pages do about a transfer that bought nothing, without a browser: a facilitator, a chain, a wallet.
import { createWalletClient, http, type WalletClient } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Charging, startCharging } from '../../facilitator/test/charging.ts'
import { PRICE } from '../../facilitator/test/harness.ts'
import { signed } from '../src/pages/owner/purchases/charge.ts'
import type { Connected } from '../src/wallet/config.ts'
import { contractCallOf, takeBackIn } from '../src/wallet/take-back.ts'
import { transact } from '../src/wallet/transaction.ts'

let m: Charging
beforeAll(async () => {
  m = await startCharging()
})
afterAll(() => m?.close())

const connected = () => {
  const account = m.market.accounts.buyer
  const wallet: WalletClient = createWalletClient({
    account,
    chain: m.chain.chain,
    transport: http(m.chain.rpcUrl),
  })
  return {
    address: account.address,
    chainId: m.chainId,
    wallet,
    reads: m.chain.client,
  } as unknown as Connected
}
const asked = (txHash: string) => ({ txHash, token: m.till.attributionToken })

it('a wallet signs for a wrong transfer, and takes it back with what the refusal says', async () => {
  const { buyer } = m.market.accounts
  const before = await m.balanceOf(buyer.address)
  const txHash = await m.transfer(buyer, PRICE - 1n)
  const { body } = await m.charge(await signed(connected(), m.till.router, asked(txHash)))
  const call = takeBackIn(body) ?? expect.fail('no call')
  const checked =
    contractCallOf(call, { router: m.till.router, payer: buyer.address }) ?? expect.fail('refused')
  expect(checked.amount).toBe(PRICE - 1n)
  const { status } = await transact(connected(), checked.call, { onSent: () => undefined })
  expect([status, await m.balanceOf(buyer.address)]).toEqual(['success', before])
})

it('a right transfer is charged by the same signature', async () => {
  const txHash = await m.transfer(m.market.accounts.buyer)
  expect(await m.mustCharge(await signed(connected(), m.till.router, asked(txHash)))).toBeDefined()
})
