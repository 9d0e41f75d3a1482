import { expect, it } from 'vitest'
import { createPaymentMemory } from './payment-memory.ts'
import type { Sale } from './sale.ts'

const FULL = 50_000
const payments = createPaymentMemory()
const endpoint = { now: Date.now, tell: () => {} }

async function claim(key: string) {
  const claimed = await payments.claim({ key, fingerprint: '0x1', validBefore: 4_000_000_000 }, endpoint)
  return claimed.isGranted ? claimed : undefined
}

it('forgets the payments that were served first, and never those that are being settled or owed', async () => {
  await claim('busy')
  await (await claim('owed'))?.owe({ id: 'owed' } as Sale)
  for (let number = 0; number < FULL; number += 1) (await claim(`${number}`))?.served('0x2')
  expect(await claim('0')).toBeDefined()
  expect(await claim(`${FULL - 1}`)).toBeUndefined()
  expect(await claim('busy')).toBeUndefined()
  expect((await claim('owed'))?.paid).toEqual({ id: 'owed' })
})
