import { enqueueTransaction, readTransaction } from '@referrer/chain'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Hex, numberToHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { migrations } from '../facilitator.ts'
import type { PaymentKey } from '../payment/payment.ts'
import type { Order } from './order.ts'
import type { Backed } from './risk.ts'
import {
  type Outcome,
  STORED_STATES,
  type State,
  type StoredState,
  storedState,
  TRANSITIONS,
} from './states.ts'
import { adopt, claim, findRow, markFinal, record, reopen, withReasons } from './store.ts'
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
  return { order, gas: 1n, code: undefined, cost: 1n, fee: 0n, backer: 'payer', isShared: true, atRisk: 0n }
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

const recordAs = ({ key, intentId }: Payment, state: Outcome, isFinal: boolean) => {
  const transaction = state === 'failed' ? null : key.nonce
  return record(
    database.sql,
    intentId,
    [{ key, state, transaction, message: null, fee: 0n, earned: 0n }],
    isFinal,
  )
}

const sign = ({ intentId }: Payment) =>
  database.sql`UPDATE sender.intents SET state = 'sent', nonce = ${intentId} WHERE id = ${intentId}`

/** A payment whose row and transaction are in this state. */
async function paymentIn(state: StoredState): Promise<Payment> {
  const nonce = numberToHex(made, { size: 32 })
  const backed = backedOf(nonce)
  const payment = { key: backed.order.key, backed, intentId: await claimFor(backed) }
  if (state === 'unsent') await withdraw(database.sql, payment.intentId, 'no gas')
  else if (state !== 'enqueued') await sign(payment)
  const [outcome, isFinal] = state.split('_') as [Outcome, string | undefined]
  if (['settled', 'refunded', 'failed'].includes(outcome))
    await recordAs(payment, outcome, isFinal !== undefined)
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
  to: StoredState | 'final'
  /** The transitions that it makes, by name. */
  by: string[]
  write(payment: Payment): Promise<unknown>
}

const WRITES: Write[] = [
  {
    name: 'claimed again',
    to: 'enqueued',
    by: ['retry', 'approve', 'write'],
    write: ({ backed }) => claimFor(backed),
  },
  {
    name: 'adopted',
    to: 'settled_final',
    by: ['retry', 'find used', 'adopt'],
    write: ({ backed, key }) => adopt(database.sql, backed.order, key.nonce),
  },
  ...(['settled', 'refunded', 'failed'] as const).map(
    (to): Write => ({
      name: `recorded as ${to}`,
      to,
      by: ['sign', 'reorganise', 'mine'],
      write: (payment) => recordAs(payment, to, false),
    }),
  ),
  {
    name: 'made final',
    to: 'final',
    by: ['finalise'],
    write: ({ intentId }) => markFinal(database.sql, intentId),
  },
  {
    name: 'reopened',
    to: 'sent',
    by: ['reorganise'],
    write: ({ intentId }) => reopen(database.sql, intentId),
  },
  {
    name: 'withdrawn',
    to: 'unsent',
    by: ['withdraw'],
    write: ({ intentId }) => withdraw(database.sql, intentId, 'no gas'),
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
      const target = to === 'final' ? (`${state}_final` as StoredState) : to
      expect(await stateOf(payment)).toBe(isAllowed(state, target, by) ? target : state)
    },
  )
})

test('a refund that was seen on the chain has the reason that its row was written with', async () => {
  const backed = backedOf(numberToHex(2n ** 200n, { size: 32 }))
  const order = { ...backed.order, message: 'the merchant is not active' } as Order
  const { key } = order
  const intentId = await claimFor({ ...backed, order })
  const other = { ...key, nonce: numberToHex(2n ** 201n, { size: 32 }) }
  const seen = { state: 'refunded', transaction: key.nonce, message: null, fee: 0n } as const
  const reasons = async (key: PaymentKey) =>
    (await withReasons(database.sql, intentId, [{ key, ...seen }])).map(({ message }) => message)
  expect(await reasons(key)).toEqual(['the merchant is not active'])
  expect(await reasons(other)).toEqual([null])
})
