import { expect, it } from 'vitest'
import { createPaymentMemory, type PaymentMemory } from './payment-memory.ts'
import { memoryStore } from './payment-store.ts'
import type { Sale } from './sale.ts'

const FULL = 50_000
const endpoint = { merchantId: 1n, productId: undefined, now: Date.now, tell: () => {} }

async function claim(key: string, payments: PaymentMemory) {
  const claimed = await payments.claim(
    { key, fingerprint: '0x1', validBefore: 4_000_000_000, attributionToken: undefined },
    endpoint,
  )
  return claimed.isGranted ? claimed : undefined
}

/** A purchase that is owed, and one that is at work. */
async function underWay(payments: PaymentMemory) {
  const busy = await claim('busy', payments)
  const owed = await claim('owed', payments)
  await owed?.paidBy({ id: 'owed', amount: 1n } as Sale)
  await owed?.leave()
  return busy
}

async function expectOwed(payments: PaymentMemory) {
  const owed = await claim('owed', payments)
  expect(owed?.paid).toMatchObject({ id: 'owed' })
  await owed?.undo()
}

it('forgets the payments that were served first, and those that are being settled or owed last', async () => {
  const payments = createPaymentMemory()
  const busy = await underWay(payments)
  for (let number = 0; number < FULL; number += 1) await (await claim(`${number}`, payments))?.served('0x2')
  expect(await claim('busy', payments)).toBeUndefined()
  expect((await payments.standing('busy', endpoint))?.state).toBe('claimed')
  await expectOwed(payments)
  expect(await payments.standing('0', endpoint)).toBeUndefined()
  expect((await payments.standing(`${FULL - 1}`, endpoint))?.state).toBe('served')
  await busy?.forget()
})

it.each([
  ['names', (payments: PaymentMemory, key: string) => payments.note(key, undefined, '{"payment":"x"}', 1)],
  ['signatures', (payments: PaymentMemory, key: string) => payments.note(key, undefined, 'used', 1)],
  ['open claims', async (payments: PaymentMemory, key: string) => (await claim(key, payments))?.leave()],
])(
  'forgets nothing that was paid, and records what is being settled, however many %s strangers leave',
  async (_, leave) => {
    const payments = createPaymentMemory()
    const busy = await underWay(payments)
    await (await claim('served', payments))?.served('0x2')
    for (let number = 0; number < 2 * FULL; number += 1) await leave(payments, `${number}`)
    expect(await payments.noted('0')).toBeUndefined()
    await expectOwed(payments)
    expect((await payments.standing('served', endpoint))?.state).toBe('served')
    expect(await busy?.paidBy({ id: 'busy', amount: 1n } as Sale)).toBe(true)
    await busy?.served('0x3')
    expect(await payments.standing('busy', endpoint)).toMatchObject({ state: 'served', transaction: '0x3' })
  },
)

it('holds a claim for all of its time, wherever in a second it was made', async () => {
  const store = memoryStore()
  const at = (now: number) => {
    const payment = {
      key: 'a',
      fingerprint: '0x1',
      validBefore: undefined,
      attributionToken: undefined,
    } as const
    return createPaymentMemory({ store, leaseSeconds: 1 }).claim(payment, { ...endpoint, now: () => now })
  }
  expect((await at(1_000_000_000_950)).isGranted).toBe(true)
  expect(await at(1_000_000_001_900)).toMatchObject({ why: 'busy' })
  const later = await at(1_000_000_002_950)
  expect(later.isGranted).toBe(true)
  if (later.isGranted) await later.forget()
})
