import { mintUsdc } from '@referrer/contracts/local'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import { GREEDY, ownedBy } from './wallets.ts'

let m: TestFacilitator
beforeAll(async () => { m = await startTestFacilitator({ env: { LINGER_MS: '400' } }) })
afterAll(() => m.close())
const owner = privateKeyToAccount(generatePrivateKey())
async function wallet(bytecode: Hex): Promise<Address> {
  const { address } = privateKeyToAccount(generatePrivateKey())
  await m.chain.client.setCode({ address, bytecode })
  await mintUsdc(m.market, address, 2n * PRICE)
  return address
}
it('gap', async () => {
  const from = await wallet(ownedBy(owner.address))
  const g = await wallet(GREEDY)
  for (const k of [29, 30, 31, 32]) {
    const body = await m.payload(owner, { from })
    await mintUsdc(m.market, from, PRICE)
    const first = (await m.settle(body)).body
    const greedy = []
    for (let i = 0; i < k; i++) greedy.push(await m.payload(owner, { from: g }))
    const sent = greedy.map((b) => m.settle(b))
    await new Promise((r) => setTimeout(r, 100))
    const p = (await m.settle(body)).body
    await Promise.all(sent)
    console.log(k, first.success, p.errorReason, p.errorMessage, p.retryable)
  }
})
