// The payments of one chain, from asking to the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { createSender } from '@referrer/chain'
import type { Hash } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyOf, type Payment, type PaymentKey } from '../payment/payment.ts'
import { alreadyUsed, invalidPayment, type RefusalReason, Refused } from '../payment/refused.ts'
import { type Arrival, findArrival, hasMoved } from './arrival.ts'
import { createDesk, type Result, resultOf, unreachable } from './desk.ts'
import type { OnSettlement } from './events.ts'
import { type Order, toFinish, toRefund, toRefundDeposit, toSettle, toSplitDeposit } from './order.ts'
import { probe } from './probe.ts'
import { errors, explainRevert } from './revert.ts'
import { GAS_PER_PURCHASE, simulate } from './simulation.ts'
import { adopt, blame, findRow, type Row } from './store.ts'
import type { Deposit } from './types.ts'
import { createWatch } from './watch.ts'

export interface Till {
  /** The transaction that split it; throws `Refused`. Until it is written down, the signal ends it. */
  settle(payment: Payment, signal: AbortSignal): Promise<Hash>
  /** Throws `Refused` when it would not be settled now. */
  check(payment: Payment): Promise<void>
  splitDeposit(deposit: Deposit, refusal: Refused | undefined, signal: AbortSignal): Promise<Hash>
  /** Whether the money of a payment reached the router, by whatever transaction. */
  hasMoved(key: PaymentKey): Promise<boolean>
  run(signal: AbortSignal): Promise<void>
}

const POLL_MS = 500
const MOST_LOOKS = 5
/** Reverts of what has been dealt with. */
const OVER = new Set<string | undefined>(['PaymentAlreadySplit', 'PaymentAlreadyRefunded'])
/** A settlement is of use within a minute: its fee is raised early. */
const STUCK_AFTER_MS = 10_000

export function createTill(context: Context, chain: Chain, onEvent: OnSettlement): Till {
  const watch = createWatch(context, chain, () => desk.pump())
  const desk = createDesk(context, chain, watch, onEvent)

  async function settle(payment: Payment, signal: AbortSignal): Promise<Hash> {
    return conclude(payment, await desk.bring(payment, signal), signal)
  }

  async function conclude(payment: Payment, result: Result, signal: AbortSignal): Promise<Hash> {
    if (result.type === 'used') return settleUsed(payment, result.refusal, signal)
    if (result.type === 'taken') return settleTaken(payment, signal)
    if (result.type === 'failed') {
      // Between the trial and the block somebody may have submitted the transfer. A node that is behind would not know of it.
      const [verdict] = await simulate(context, chain, chain.roster.able()[0], [payment], result.block)
      if (verdict?.type === 'used') return settleUsed(payment, verdict.refusal, signal, result.burned)
      const fault = verdict?.type === 'good' ? verdict : verdict?.type === 'refused' && verdict.fault
      if (fault && !result.isForAll) await hold(payment, result.burned, fault.hasCode)
      // What somebody else in its transaction brought down is sent alone.
      if (verdict?.type === 'good' && result.isForAll)
        return conclude(payment, await bringAlone(toSettle(payment), verdict, signal), signal)
    }
    return transactionOf(result)
  }

  /** The payer answers for what its payment burned. */
  const hold = (payment: Payment, burned: bigint, hasCode: boolean) =>
    blame(context.sql, keyOf(payment), burned, hasCode, context.clock())

  /** Somebody has written it down: another process, or one before this. */
  async function settleTaken(payment: Payment, signal: AbortSignal): Promise<Hash> {
    const row = await findRow(context.sql, keyOf(payment))
    if (row?.state === 'pending' && row.digest === payment.digest) {
      return conclude(payment, await follow(row), signal)
    }
    if (row?.state === 'pending') await follow(row)
    if (row && row.state !== 'failed') throw await refusalOf(row.key)
    return settle(payment, signal)
  }

  async function follow({ intentId, key }: Row): Promise<Result> {
    if (intentId === null) throw new Error(`nothing was sent for ${key.payer} ${key.nonce}`)
    return resultOf(await watch.follow(intentId), key)
  }

  /** Of a payment that is somebody else's. */
  async function refusalOf(key: PaymentKey): Promise<Refused> {
    const row = await findRow(context.sql, key)
    if (row?.state === 'settled') return alreadyUsed(row.transaction ?? undefined)
    if (row?.state === 'refunded' && row.transaction) return returned(row.message, row.transaction)
    return new Refused(
      'settle_failed',
      'another request for this payment is under way or failed; send it again',
      {
        retryable: true,
      },
    )
  }

  /** The token has the authorisation as used: it was split, or cancelled, or the money is in the router. */
  async function settleUsed(
    payment: Payment,
    refusal: Refused | undefined,
    signal: AbortSignal,
    burned = 0n,
  ): Promise<Hash> {
    const row = await findRow(context.sql, keyOf(payment))
    if (row && row.state !== 'failed') return settleTaken(payment, signal)
    const arrival = await requireArrived(payment, signal, burned)
    if (arrival.type === 'outside' && refusal) throw refusal
    if (arrival.type === 'outside') return adoptOutside(payment, arrival.transaction)
    if (refusal) return giveBack(toRefund(payment, refusal.message), refusal.reason, signal)
    return splitArrived(toFinish(payment), (why) => toRefund(payment, why), signal)
  }

  /** Waits until what somebody else did is deep enough to build on. Throws when it leaves nothing to do. */
  async function requireArrived(payment: Payment, signal: AbortSignal, burned: bigint): Promise<Open> {
    for (let looks = 1; ; looks += 1) {
      const arrival = await findArrival(chain, payment)
      // Of several nodes one may be behind.
      const isToBeSeen = arrival.type === 'unseen' && looks < MOST_LOOKS
      // Only the payer can have cancelled it, or signed another with its nonce.
      if (burned > 0n && (arrival.type === 'cancelled' || arrival.type === 'elsewhere'))
        await hold(payment, burned, false)
      if (!isOpen(arrival) && !isToBeSeen) throw notHere(arrival)
      if (isOpen(arrival) && arrival.depth >= chain.confirmations) return arrival
      await sleep(POLL_MS, undefined, { signal }).catch(() => {})
      requirePatience(signal)
    }
  }

  /** All is done, by somebody who told nobody. Whoever asks first is told. */
  async function adoptOutside(payment: Payment, transaction: Hash): Promise<Hash> {
    if (await adopt(context.sql, toSettle(payment), transaction)) return transaction
    throw await refusalOf(keyOf(payment))
  }

  /** Splits money that is in the router, or gives it back when it can never be split. */
  async function splitArrived(
    order: Order,
    refundFor: (why: string) => Order,
    signal: AbortSignal,
  ): Promise<Hash> {
    const tried = await tryOut(order)
    if ('gas' in tried) return transactionOf(await bringAlone(order, tried, signal))
    const { name, message, isForGood } = tried
    if (OVER.has(name)) return transactionOf(await resultElsewhere(order))
    if (!isForGood) throw new Refused('settle_failed', message, { retryable: true })
    return giveBack(refundFor(message), name === 'SelfReferral' ? 'self_referral' : 'settle_failed', signal)
  }

  async function giveBack(order: Order, reason: RefusalReason, signal: AbortSignal): Promise<Hash> {
    const tried = await tryOut(order)
    if (!('gas' in tried) && !OVER.has(tried.name))
      throw new Refused('settle_failed', tried.message, { retryable: true })
    const result = 'gas' in tried ? await bringAlone(order, tried, signal) : await resultElsewhere(order)
    if (result.type === 'done' && result.state === 'refunded')
      throw returned(order.message ?? null, result.transaction, reason)
    return transactionOf(result)
  }

  async function bringAlone(
    order: Order,
    { gas, hasCode }: { gas: bigint; hasCode: boolean },
    signal: AbortSignal,
  ): Promise<Result> {
    requirePatience(signal)
    const result = await desk.bringAlone({ order, gas, hasCode })
    return result.type === 'taken' ? resultElsewhere(order) : result
  }

  /** Another process was faster. A copy of its request gets its answer too; others are refused. */
  async function resultElsewhere({ key, digest }: Order): Promise<Result> {
    const row = await findRow(context.sql, key)
    const result = row?.state === 'pending' ? await follow(row) : undefined
    if (result && row?.digest === digest) return result
    throw await refusalOf(key)
  }

  /** The gas it uses, or why it reverts. */
  async function tryOut({ data, key }: Order) {
    const call = { target: chain.contracts.SplitRouter, gas: GAS_PER_PURCHASE, data }
    const tried = await probe(chain, chain.roster.able()[0], [call], { wallets: [key.payer] })
    const [outcome] = tried.outcomes
    if (!outcome?.ok) return explainRevert(outcome?.data ?? '0x')
    return { gas: outcome.gasUsed, hasCode: tried.haveCode[0] === true }
  }

  return {
    settle,
    async check(payment) {
      const [verdict] = await simulate(context, chain, chain.roster.able()[0], [payment])
      if (verdict?.type === 'good') return
      if (verdict?.type === 'refused') throw verdict.refusal
      if (verdict?.type !== 'used') throw unreachable(undefined)
      if (verdict.refusal) throw verdict.refusal
      const row = await findRow(context.sql, keyOf(payment))
      if (row && row.state !== 'failed') throw await refusalOf(row.key)
      const arrival = await findArrival(chain, payment)
      if (!isOpen(arrival)) throw notHere(arrival)
    },
    splitDeposit(deposit, refusal, signal) {
      if (refusal) return giveBack(toRefundDeposit(deposit, refusal.message), refusal.reason, signal)
      return splitArrived(toSplitDeposit(deposit), (why) => toRefundDeposit(deposit, why), signal)
    },
    hasMoved: (key) => hasMoved(chain, key),
    async run(signal) {
      const sender = createSender({
        chainId: chain.chainId,
        rpc: chain.rpc,
        databaseUrl: context.databaseUrl.reveal(),
        signers: [...chain.relayers],
        confirmations: chain.confirmations,
        maxFeePerGas: chain.maxFeePerGas,
        errors,
        stuckAfterMs: STUCK_AFTER_MS,
        watchIntervalMs: context.config.watchIntervalMs,
        onEvent(event) {
          onEvent({ type: 'sender', chainId: chain.chainId, event })
          if ('intent' in event) watch.wake(event.intent)
        },
      })
      await Promise.all([sender.run(signal), watch.run(signal), chain.roster.run(signal)])
    },
  }
}

/** Whoever asked has been told that it took too long: what is not written down by then is not begun. */
function requirePatience(signal: AbortSignal): void {
  if (signal.aborted)
    throw new Refused('settle_failed', 'it took too long; nothing was sent, send the same payment again', {
      retryable: true,
    })
}

function transactionOf(result: Result): Hash {
  switch (result.type) {
    case 'done':
      if (result.state === 'settled') return result.transaction
      throw returned(result.message, result.transaction)
    case 'refused':
      throw result.refusal
    case 'failed':
      throw new Refused('settle_failed', `${result.message}; no money moved`)
    case 'unsent':
      throw new Refused('settle_failed', `not sent: ${result.message}; send the same payment again`, {
        retryable: true,
      })
    default:
      throw new Error(`a payment that is ${result.type} has no transaction`)
  }
}

const returned = (why: string | null, transaction: Hash, reason: RefusalReason = 'settle_failed') =>
  new Refused(reason, `${why ?? 'it could not be split'}; the money went back to the payer`, { transaction })

/** What somebody else has begun and nobody has been told the end of. */
type Open = Extract<Arrival, { type: 'arrived' | 'outside' }>

const isOpen = (arrival: Arrival): arrival is Open => arrival.type === 'arrived' || arrival.type === 'outside'

/** The authorisation is used, and nothing of it is left to do. */
function notHere(arrival: Exclude<Arrival, Open>): Refused {
  if (arrival.type === 'split') return alreadyUsed(arrival.transaction)
  if (arrival.type === 'altered') {
    const { transaction, told, due } = arrival
    // Neither `already used` nor a refund, for which merchants take a refusal with a transaction: it is no purchase of theirs.
    return invalidPayment(
      `the buyer's authorisation was settled in ${transaction} with a commission of ${told.commission} and a cashback of ${told.cashback} base units, and the link's are ${due.commission} and ${due.cashback}: nothing is owed for it, sign a new payment`,
    )
  }
  if (arrival.type === 'cancelled')
    return invalidPayment('authorization cancelled by its payer: sign a new one')
  if (arrival.type === 'unseen')
    return new Refused(
      'settle_failed',
      'authorization already used, and no node tells what for: send the same payment again later',
      { retryable: true },
    )
  return alreadyUsed(undefined)
}
