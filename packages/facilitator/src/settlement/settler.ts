/**
 * Settles each payment once. Its states and transitions are in states.ts.
 *
 * A payment is named by its payer and nonce. Its row is written, together with the transaction that settles it, before any node hears of
 * it; the transaction is the sender's, which gives it one nonce for good. So:
 * - a crash before the row: nothing was sent, the same payment can be sent again;
 * - a crash after it: the sender sends what it has signed, and the next process goes on from the state that Postgres holds;
 * - a repeat, here or at another process: shares the attempt, or finds the row;
 * - a race with somebody who submits a bare transfer first: the money is in the router, and is split from there;
 * - a reorganisation: the row follows the chain until the block is final;
 * - a dead node: nothing is promised that was not seen on-chain; a dead database: nothing is sent.
 */
import { RpcError } from '@referrer/chain'
import { currentRequestId, withTimeout } from '@referrer/process'
import type { Hash } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyOf, type PaymentKey } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { hasMoved } from './arrival.ts'
import { PerhapsWritten } from './enqueue.ts'
import type { OnSettlement } from './events.ts'
import { keyOfDeposit } from './order.ts'
import { createPaymentFlow } from './payment-flow.ts'
import { notKnownYet, outOfOrder, unreachable } from './refusals.ts'
import { createRequests } from './requests.ts'
import { findRow } from './store.ts'
import type { Settlement, Settler } from './types.ts'
import { verify } from './verify.ts'

/** For a look at the rows. */
const RECORDS_MS = 5_000

export function createSettler(context: Context, onEvent: OnSettlement = () => {}): Settler {
  const { sql, clock, log } = context
  const flows = new Map(
    [...context.chains].map(([chainId, chain]) => [chainId, createPaymentFlow(context, chain, onEvent)]),
  )
  const requests = createRequests(context)

  async function counted(key: PaymentKey, work: () => Promise<Hash>): Promise<Hash> {
    const { chainId } = key
    const began = clock()
    const ended = (status: 'settled' | 'refused' | 'failed') =>
      onEvent({
        type: 'ended',
        chainId,
        status,
        seconds: (clock() - began) / 1_000,
        requestId: currentRequestId(),
      })
    try {
      const transaction = await work()
      ended('settled')
      return transaction
    } catch (error) {
      const refusal = refusalFor(error, key)
      ended(refusal.reason === 'settle_failed' ? 'failed' : 'refused')
      throw refusal
    }
  }

  /** Whatever went wrong, it is safe to ask again. */
  function refusalFor(error: unknown, key?: PaymentKey): Refused {
    if (error instanceof Refused) return error
    if (error instanceof RpcError) return unreachable(error)
    log.error({ err: error }, 'a payment ended with an unexpected error')
    return error instanceof PerhapsWritten && key ? notKnownYet(key) : outOfOrder(error)
  }

  async function lookUp(key: PaymentKey): Promise<Settlement> {
    const isUnderWay = requests.has(key)
    const row = await findRow(sql, key)
    const pending = { status: 'pending', transaction: null, message: null } as const
    if (isUnderWay && (!row || row.state === 'failed')) return pending
    if (!row) return { ...pending, status: 'unknown' }
    // A payment that failed moved nothing, but somebody else may have submitted the transfer.
    if (row.state === 'failed' && (await hasMoved(known(context.chains, key.chainId), key)))
      return { ...pending, message: 'the money has come by another way: send the same payment again' }
    return { status: row.state, transaction: row.transaction, message: row.message }
  }

  return {
    async settle(payment) {
      const flow = known(flows, payment.chainId)
      const key = keyOf(payment)
      const transaction = await requests.share(key, payment.digest, (signal) =>
        counted(key, () => flow.settle(payment, signal)),
      )
      return { transaction, payer: payment.authorization.from }
    },
    async check(payment) {
      const chain: Chain = known(context.chains, payment.chainId)
      await verify(context, chain, payment).catch((error) => {
        throw refusalFor(error)
      })
    },
    async splitDeposit(deposit, refusal) {
      const flow = known(flows, deposit.chainId)
      const key = keyOfDeposit(deposit)
      const transaction = await requests.share(key, deposit.digest, (signal) =>
        counted(key, () => flow.splitDeposit(deposit, refusal, signal)),
      )
      return { transaction, payer: deposit.charge.payer }
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
      await Promise.all([...flows.values()].map((flow) => flow.run(signal)))
    },
  }
}

function known<T>(chains: ReadonlyMap<number, T>, chainId: number): T {
  const found = chains.get(chainId)
  if (!found) throw new Error(`chain ${chainId} is not configured`)
  return found
}
