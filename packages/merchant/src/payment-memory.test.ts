import { expect, it } from 'vitest'
import { createPaymentMemory } from './payment-memory.ts'
import type { Sale } from './sale.ts'

const FULL = 50_000
const payments = createPaymentMemory()
const endpoint = { merchantId: 1n, productId: undefined, now: Date.now, tell: () => {} }

async function claim(key: string) {
  const claimed = await payments.claim({ key, fingerprint: '0x1', validBefore: 4_000_000_000 }, endpoint)
  return claimed.isGranted ? claimed : undefined
}

it('forgets the payments that were served first, and those that are being settled or owed last', async () => {
  const busy = await claim('busy')
  const owed = await claim('owed')
  await owed?.paidBy({ id: 'owed', amount: 1n } as Sale)
  await owed?.leave()
  for (let number = 0; number < FULL; number += 1) await (await claim(`${number}`))?.served('0x2')
  expect(await claim('busy')).toBeUndefined()
  expect((await payments.standing('busy', endpoint))?.state).toBe('claimed')
  const owedStill = await claim('owed')
  expect(owedStill?.paid).toMatchObject({ id: 'owed' })
  await owedStill?.undo()
  expect(await payments.standing('0', endpoint)).toBeUndefined()
  expect((await payments.standing(`${FULL - 1}`, endpoint))?.state).toBe('served')
  await busy?.forget()
})
