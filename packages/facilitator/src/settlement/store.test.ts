import { enqueueTransaction, readTransaction } from '@referrer/chain'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Hex, numberToHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrations } from '../facilitator.ts'
import type { PaymentKey } from '../payment/payment.ts'
import type { Backed } from './allowance.ts'
import type { Order } from './order.ts'
import {
  type Outcome,
  STORED_STATES,
  type State,
  type StoredState,
  storedState,
  TRANSITIONS,
} from './states.ts'
import { adopt, claim, findRow, markFinal, pin, record, reopen } from './store.ts'
import { withdraw } from './withdraw.ts'

const CHAIN = 31_337
let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database?.drop())

interface Payment {
  key: PaymentKey
  backed: Backed
  intentId: bigint
}

let made = 0

function backedOf(nonce: Hex): Backed {
  const key = { chainId: CHAIN, payer: zeroAddress, nonce }
  const attribution = { merchantId: 1n, productId: nonce, reviewId: 1n }
  const order = { kind: 'settle', key, digest: nonce, attribution, value: 1n, data: '0x' } as unknown as Order
  return { order, gas: 1n, cost: 1n, fee: 0n, gift: 1n, giftOf: 'new', risk: 1n, riskOf: 'new' }
}

function newIntent(): Promise<bigint> {
  made += 1
  return enqueueTransaction(database.sql, {
    chainId: CHAIN,
    from: zeroAddress,
    to: zeroAddress,
    data: '0x',
    key: `intent ${made}`,
  })
}

async function claimFor(backed: Backed): Promise<bigint> {
  const intentId = await newIntent()
  await database.sql.begin((tx) => claim(tx, intentId, [backed], 0))
  return intentId
}

const recordAs = ({ key, intentId }: Payment, state: Outcome) => {
  const transaction = state === 'failed' ? null : key.nonce
  return record(database.sql, intentId, [{ key, state, transaction, message: null, fee: 0n, used: 1n }])
}

const sign = ({ intentId }: Payment) =>
  database.sql`UPDATE sender.intents SET state = 'sent', nonce = ${intentId} WHERE id = ${intentId}`

/** A payment whose row and transaction are in this state. */
async function paymentIn(state: StoredState): Promise<Payment> {
  const nonce = numberToHex(made, { size: 32 })
  const backed = backedOf(nonce)
  const payment = { key: backed.order.key, backed, intentId: await claimFor(backed) }
  if (state === 'open') await withdraw(database.sql, payment.intentId, 'no gas', false)
  else if (state !== 'enqueued') await sign(payment)
  if (state === 'failed') await recordAs(payment, 'failed')
  if (state === 'settled' || state === 'final') await recordAs(payment, 'settled')
  if (state === 'final') await markFinal(database.sql, payment.intentId)
  return payment
}

async function stateOf({ key }: Payment): Promise<StoredState> {
  const row = await findRow(database.sql, key)
  if (!row) throw new Error('the payment has no row')
  const intent = row.intentId === null ? undefined : await readTransaction(database.sql, { id: row.intentId })
  return storedState(row, intent ?? { nonce: -1 })
}

interface Write {
  name: string
  to: StoredState
  /** The transitions that it makes, by name. */
  by: string[]
  write(payment: Payment): Promise<unknown>
}

const WRITES: Write[] = [
  {
    name: 'claimed again',
    to: 'enqueued',
    by: ['try', 'approve', 'write'],
    write: ({ backed }) => claimFor(backed),
  },
  {
    name: 'adopted',
    to: 'final',
    by: ['try', 'find used', 'adopt'],
    write: ({ backed, key }) => adopt(database.sql, backed.order, key.nonce, 0),
  },
  ...(['settled', 'failed'] as const).map(
    (to): Write => ({
      name: `recorded as ${to}`,
      to,
      by: ['sign', 'reorganise', 'mine'],
      write: (payment) => recordAs(payment, to),
    }),
  ),
  {
    name: 'pinned again',
    to: 'open',
    by: [],
    write: ({ backed }) => pin(database.sql, [backed.order], 0),
  },
  {
    name: 'reopened',
    to: 'sent',
    by: ['reorganise'],
    write: ({ intentId }) => reopen(database.sql, intentId),
  },
  {
    name: 'withdrawn',
    to: 'open',
    by: ['withdraw'],
    write: ({ intentId }) => withdraw(database.sql, intentId, 'no gas', false),
  },
]

function isAllowed(from: State, to: State, by: string[], seen: State[] = []): boolean {
  return (Object.entries(TRANSITIONS[from]) as [State, string][]).some(
    ([next, name]) =>
      by.includes(name) &&
      (next === to || (!seen.includes(next) && isAllowed(next, to, by, [...seen, next]))),
  )
}

describe.each(STORED_STATES)('a row that is %s', (state) => {
  test.each(WRITES)(
    'is $name where the machine allows it, and else stays as it is',
    async ({ to, by, write }) => {
      const payment = await paymentIn(state)
      expect(await stateOf(payment)).toBe(state)
      await write(payment)
      expect(await stateOf(payment)).toBe(isAllowed(state, to, by) ? to : state)
    },
  )

  test('is made final where its transaction is mined, and else stays as it is', async () => {
    const payment = await paymentIn(state)
    await markFinal(database.sql, payment.intentId)
    const next = Object.entries(TRANSITIONS[state]).find(([, name]) => name === 'finalise')
    expect(await stateOf(payment)).toBe(next?.[0] ?? state)
  })
})

describe('purchases that are pinned in one statement', () => {
  const orderOf = (nonce: bigint, digest: bigint, isCommitted = false): Order => {
    const { order } = backedOf(numberToHex(nonce, { size: 32 }))
    const payment = { isCommitted, authorization: { validBefore: 1n } } as Order['payment'] & {}
    return { ...order, digest: numberToHex(digest, { size: 32 }), payment }
  }
  const pinAll = async (...orders: Order[]) =>
    (await pin(database.sql, orders, 0)).map(({ digest }) => BigInt(digest))

  test('have the row of the first of the same money, each in its place', async () => {
    expect(await pinAll(orderOf(900n, 1n), orderOf(901n, 2n), orderOf(900n, 3n))).toEqual([1n, 2n, 1n])
    expect(await pinAll(orderOf(900n, 3n), orderOf(902n, 4n), orderOf(901n, 5n))).toEqual([1n, 4n, 2n])
  })

  test('give way to the one that the nonce commits to, wherever it stands', async () => {
    expect(await pinAll(orderOf(910n, 1n), orderOf(910n, 2n, true))).toEqual([2n, 2n])
    expect(await pinAll(orderOf(911n, 2n, true), orderOf(911n, 1n))).toEqual([2n, 2n])
    expect(await pinAll(orderOf(912n, 1n))).toEqual([1n])
    expect(await pinAll(orderOf(912n, 3n), orderOf(912n, 2n, true), orderOf(913n, 4n))).toEqual([2n, 2n, 4n])
  })
})
