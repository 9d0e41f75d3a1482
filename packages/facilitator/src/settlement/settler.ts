/**
 * Settles each payment once.
 *
 * A payment is named by its payer and nonce. Its row is written, together with the transaction that settles it, before any node hears of
 * it; the transaction is the sender's, which gives it one nonce for good. So:
 * - a crash before the row: nothing was sent, the same payment can be sent again;
 * - a crash after it: the sender sends what it has signed, and the next process writes down what became of it;
 * - a repeat, here or at another process: shares the flight, or finds the row;
 * - a race with somebody who submits a bare transfer first: the money is in the router, and is split from there;
 * - a reorganisation: the row follows the chain until the block is final;
 * - a dead node: nothing is promised that was not seen on-chain; a dead database: nothing is sent.
 */
import { RpcError, readTransaction } from '@referrer/chain'
import { withTimeout } from '@referrer/process'
import type { Hash } from 'viem'
import type { Context } from '../context.ts'
import { keyOf, keyText, type PaymentKey } from '../payment/payment.ts'
import { alreadyUsed, Refused } from '../payment/refused.ts'
import { unreachable } from './desk.ts'
import type { OnSettlement } from './events.ts'
import { PerhapsWritten } from './ledger.ts'
import { keyOfDeposit } from './order.ts'
import { findRow } from './store.ts'
import { createTill, type Till } from './till.ts'
import type { Settlement, Settler } from './types.ts'

interface Flight {
  digest: Hash
  transaction: Promise<Hash>
}

/** For a look into the records; and for the last one, when the time for an answer is over. */
const RECORDS_MS = 5_000
const LAST_LOOK_MS = 1_500

const askFor = ({ payer, nonce }: PaymentKey) => `ask GET /settlements/${payer}/${nonce} before paying again`

/** It is being written down, or the database is gone and may have it. */
const notKnownYet = (key: PaymentKey) =>
  new Refused('settle_failed', `whether it is sent is not known yet: ${askFor(key)}`, { pending: true })

export function createSettler(context: Context, onEvent: OnSettlement = () => {}): Settler {
  const { sql, clock, config, log } = context
  const tills = new Map(
    [...context.chains].map(([chainId, chain]) => [chainId, createTill(context, chain, onEvent)]),
  )
  /** Under way in this process. */
  const flights = new Map<string, Flight>()

  function tillOf(chainId: number): Till {
    const till = tills.get(chainId)
    if (!till) throw new Error(`chain ${chainId} is not configured`)
    return till
  }

  /** Copies share one flight. Another request for the same money waits for it, and has its turn only if it fails. */
  async function once(
    key: PaymentKey,
    digest: Hash,
    work: (signal: AbortSignal) => Promise<Hash>,
  ): Promise<Hash> {
    const name = keyText(key)
    for (;;) {
      const known = flights.get(name)
      if (!known) break
      if (known.digest === digest) return answerInTime(key, known.transaction)
      const transaction = await answerInTime(key, known.transaction).catch((error) => {
        if (error instanceof Refused && error.pending) throw error
      })
      if (transaction) throw alreadyUsed(transaction)
    }
    const patience = new AbortController()
    const transaction = counted(key, () => work(patience.signal)).finally(() => flights.delete(name))
    flights.set(name, { digest, transaction })
    return answerInTime(key, transaction, () => patience.abort())
  }

  async function counted(key: PaymentKey, work: () => Promise<Hash>): Promise<Hash> {
    const { chainId } = key
    const began = clock()
    const ended = (status: 'settled' | 'refused' | 'failed') =>
      onEvent({ type: 'ended', chainId, status, seconds: (clock() - began) / 1_000 })
    try {
      const transaction = await work()
      ended('settled')
      return transaction
    } catch (error) {
      const refusal = error instanceof Refused ? error : refusalFor(error, key)
      ended(refusal.reason === 'settle_failed' ? 'failed' : 'refused')
      throw refusal
    }
  }

  /** Whatever went wrong, it is safe to ask again. */
  function refusalFor(error: unknown, key?: PaymentKey): Refused {
    if (error instanceof RpcError) return unreachable(error)
    log.error({ err: error }, 'a payment could not be dealt with')
    if (error instanceof PerhapsWritten && key) return notKnownYet(key)
    return new Refused('settle_failed', 'out of order for the moment; send the same payment again', {
      retryable: true,
      cause: error,
    })
  }

  /** What is not done by the deadline goes on without whoever asked, unless nothing of it is written down yet. */
  async function answerInTime(
    key: PaymentKey,
    work: Promise<Hash>,
    giveUp: () => void = () => {},
  ): Promise<Hash> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      giveUp()
      withTimeout(LAST_LOOK_MS, findSent(key))
        .catch((err) => void log.warn({ err }, 'the records cannot be read'))
        .then((sent) => late.reject(sent ?? notKnownYet(key)))
    }, config.answerTimeoutMs)
    try {
      return await Promise.race([work, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  async function findSent(key: PaymentKey): Promise<Refused | undefined> {
    const row = await findRow(sql, key)
    const transaction = row?.intentId && (await readTransaction(sql, { id: row.intentId }))?.hashes.at(-1)
    if (!transaction) return undefined
    const message = `sent and not mined yet: ${askFor(key)}`
    return new Refused('settle_failed', message, { pending: true, transaction })
  }

  async function lookUp(key: PaymentKey): Promise<Settlement> {
    const isUnderWay = flights.has(keyText(key))
    const row = await findRow(sql, key)
    const pending = { status: 'pending', transaction: null, message: null } as const
    if (isUnderWay && (!row || row.state === 'failed')) return pending
    if (!row) return { ...pending, status: 'unknown' }
    // What failed moved nothing, but somebody else may have submitted the transfer.
    if (row.state === 'failed' && (await tillOf(key.chainId).hasMoved(key)))
      return { ...pending, message: 'the money has come by another way: send the same payment again' }
    return { status: row.state, transaction: row.transaction, message: row.message }
  }

  return {
    async settle(payment) {
      const till = tillOf(payment.chainId)
      const transaction = await once(keyOf(payment), payment.digest, (signal) => till.settle(payment, signal))
      return { transaction, payer: payment.authorization.from }
    },
    async check(payment) {
      await tillOf(payment.chainId)
        .check(payment)
        .catch((error) => {
          throw error instanceof Refused ? error : refusalFor(error)
        })
    },
    async splitDeposit(deposit, refusal) {
      const { chainId, charge, digest } = deposit
      const till = tillOf(chainId)
      const transaction = await once(keyOfDeposit(deposit), digest, (signal) =>
        till.splitDeposit(deposit, refusal, signal),
      )
      return { transaction, payer: charge.payer }
    },
    async find(key) {
      const found = await withTimeout(RECORDS_MS, lookUp(key)).catch((cause) => {
        if (!(cause instanceof RpcError)) throw cause
        throw new Refused('settle_failed', 'the chain cannot be asked now; ask again', { cause })
      })
      if (!found) throw new Error(`the database does not answer within ${RECORDS_MS} ms`)
      return found
    },
    async run(signal) {
      await Promise.all([...tills.values()].map((till) => till.run(signal)))
    },
  }
}
