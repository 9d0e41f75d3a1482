import { numberToHex } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import { betweenBlocks, send, submission } from './acts.ts'
import { openBooks } from './books.ts'

let m: TestFacilitator
/** What a node that is behind takes for the newest block when it is called. */
let newest: bigint | undefined

const behind: typeof fetch = (input, init) => {
  const body = String(init?.body)
  if (newest === undefined || !body.includes('"eth_call"')) return fetch(input, init)
  return fetch(input, { ...init, body: body.replace('"latest"', `"${numberToHex(newest)}"`) })
}

beforeAll(async () => {
  m = await startTestFacilitator({ overrides: { fetch: behind } })
})
afterAll(() => m?.close())

it('a payment whose money somebody else has moved is not called failed because a node is behind', async () => {
  const books = await openBooks(m)
  const body = await m.payload(await m.newBuyer(2n * PRICE))
  const early = await betweenBlocks(m, async ({ sent, mine }) => {
    const settling = m.settle(body)
    await sent(1)
    newest = await m.chain.client.getBlockNumber()
    await send(m, submission(m, body))
    await mine()
    return (await settling).body
  })
  expect(early).toMatchObject({ success: false, retryable: true })
  newest = undefined
  expect((await m.settle(body)).body).toMatchObject({ success: true })
  await books.audit({ reverted: 1 })
})
