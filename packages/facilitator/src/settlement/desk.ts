// Collects payments of one chain, and settles those that have come while a transaction was under way as one.
import { setTimeout as sleep } from 'node:timers/promises'
import { RpcError } from '@referrer/chain'
import type { Address, Hash } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyOf, keyText, type Payment, type PaymentKey } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import type { Credit } from './credit.ts'
import type { OnSettlement } from './events.ts'
import { type Tried, thatFit } from './gas.ts'
import { type Posted, post } from './ledger.ts'
import { toSettle } from './order.ts'
import { simulate } from './simulation.ts'
import type { Sent, Watch } from './watch.ts'

/** What became of a payment that was brought here. */
export type Result =
  | { type: 'done'; state: 'settled' | 'refunded'; transaction: Hash; message: string | null }
  /**
   * It was sent and the chain refused it in this block: it moved no money. `isForAll`: it was one of several, and none of them took effect.
   */
  | { type: 'failed'; message: string; isForAll: boolean; block: number }
  | { type: 'unsent'; message: string }
  | { type: 'refused'; refusal: Refused }
  /** The authorisation is used already, see `Verdict`. */
  | { type: 'used'; refusal?: Refused }
  /** It has a row that is not ours: somebody else sends it, or it is done. */
  | { type: 'taken' }

export interface Desk {
  /** In a transaction with others. Aborted before it is written down, it is dropped. */
  bring(payment: Payment, signal: AbortSignal): Promise<Result>
  /** In a transaction of its own, now. */
  bringAlone(tried: Tried): Promise<Result>
  /** A relayer is free again. */
  pump(): void
}

interface Entry {
  payment: Payment
  signal: AbortSignal
  /** When it was brought, by the clock that never jumps. */
  since: number
  /** It is being written down: too late to give up. */
  isPosted: boolean
  end(result: Result): void
  fail(error: unknown): void
}

/** An entry whose trial went well. */
interface Good extends Tried {
  entry: Entry
  hasCode: boolean
}

/** Of one payment in a transaction. */
export function resultOf(sent: Sent, key: PaymentKey): Result {
  if (!sent.isSent) return { type: 'unsent', message: sent.reason }
  const { endings, hasReverted, block } = sent
  const ending = endings.find(({ key: { payer, nonce } }) => nonce === key.nonce && payer === key.payer)
  if (!ending?.transaction || ending.state === 'failed') {
    const message = ending?.message ?? 'the transaction did nothing for this payment'
    return { type: 'failed', message, isForAll: hasReverted && endings.length > 1, block }
  }
  const { state, transaction, message } = ending
  return { type: 'done', state, transaction, message }
}

export const unreachable = (cause: unknown) =>
  new Refused(
    'settle_failed',
    'the chain cannot be asked now; nothing was sent, send the same payment again',
    {
      retryable: true,
      cause,
    },
  )

export function createDesk(
  context: Pick<Context, 'sql' | 'clock' | 'config'>,
  chain: Chain,
  watch: Watch,
  credit: Credit,
  onEvent: OnSettlement,
): Desk {
  const { maxBatch, maxBatchesInFlight, lingerMs } = context.config
  const queue: Entry[] = []
  /** Batches of a relayer that are being made and not sent yet. */
  const making = new Map<Address, number>()
  let timer: NodeJS.Timeout | undefined

  const busyness = (relayer: Address) => watch.waiting(relayer) + (making.get(relayer) ?? 0)

  function leastBusy(): { relayer: Address; batches: number } {
    const able = chain.roster.able().map((relayer) => ({ relayer, batches: busyness(relayer) }))
    return able.reduce((least, each) => (each.batches < least.batches ? each : least))
  }

  /** A full batch leaves at once; one that is not waits for more, the longer the more transactions are under way already. */
  function pump(): void {
    clearTimeout(timer)
    timer = undefined
    for (let first = queue[0]; first; first = queue[0]) {
      const { relayer, batches } = leastBusy()
      if (batches >= maxBatchesInFlight) return
      const patience = first.since + lingerMs * (batches + 1) ** 2 - performance.now()
      if (queue.length < maxBatch && patience > 0) {
        timer = setTimeout(pump, patience)
        return
      }
      void make(relayer, queue.splice(0, maxBatch))
    }
  }

  /** Nobody waits for it any more. What is being sent by then goes on. */
  function dropped(entry: Entry): void {
    const at = queue.indexOf(entry)
    if (at >= 0) queue.splice(at, 1)
    if (!entry.isPosted) entry.end({ type: 'unsent', message: 'it waited too long for its turn' })
  }

  async function make(relayer: Address, entries: Entry[]): Promise<void> {
    making.set(relayer, (making.get(relayer) ?? 0) + 1)
    try {
      const tried = await tryOut(relayer, entries)
      await dispatch(relayer, tried)
    } finally {
      making.set(relayer, (making.get(relayer) ?? 1) - 1)
      pump()
    }
  }

  /** Those that one transaction can settle. The others get their answer, or wait for the next. */
  async function tryOut(relayer: Address, entries: Entry[]): Promise<Good[]> {
    const payments = entries.map(({ payment }) => payment)
    const verdicts = await despiteTrouble(() => simulate(context, chain, relayer, payments)).catch(
      (error) => {
        for (const { fail } of entries) fail(error)
      },
    )
    if (!verdicts) return []
    const good: Good[] = []
    const later: Entry[] = []
    entries.forEach((entry, at) => {
      const verdict = verdicts[at] ?? { type: 'untried' }
      // Who gave up meanwhile has been told that nothing was sent.
      if (entry.signal.aborted) return
      if (verdict.type === 'good') good.push({ ...verdict, order: toSettle(entry.payment), entry })
      else if (verdict.type === 'untried') later.push(entry)
      else entry.end(verdict)
    })
    const fit = thatFit(good)
    queue.unshift(...good.slice(fit).map(({ entry }) => entry), ...later)
    return good.slice(0, fit).filter(onCredit)
  }

  function onCredit({ entry, hasCode }: Good): boolean {
    const payer = keyOf(entry.payment).payer
    const reason = credit.take(payer, hasCode)
    if (reason) {
      entry.end({ type: 'unsent', message: reason })
      return false
    }
    entry.isPosted = true
    const { end, fail } = entry
    entry.end = (result) => {
      credit.giveBack(payer, hasCode, result.type === 'done')
      end(result)
    }
    entry.fail = (error) => {
      credit.giveBack(payer, hasCode, false)
      fail(error)
    }
    return true
  }

  async function dispatch(
    relayer: Address,
    batch: (Tried & { entry: Pick<Entry, 'end' | 'fail'> })[],
  ): Promise<void> {
    let posted: Posted | undefined
    try {
      posted = await post(context, chain, relayer, batch)
    } catch (error) {
      for (const { entry } of batch) entry.fail(error)
      return
    }
    const taken = new Set(posted?.taken.map(({ order }) => keyText(order.key)))
    const ours = batch.filter(({ order }) => taken.has(keyText(order.key)))
    for (const { order, entry } of batch) if (!taken.has(keyText(order.key))) entry.end({ type: 'taken' })
    if (!posted) return
    onEvent({ type: 'sending', chainId: chain.chainId, size: ours.length })
    const keys = ours.map(({ order }) => order.key)
    watch.follow(posted.intentId, { relayer, keys }).then((sent) => {
      for (const { order, entry } of ours) entry.end(resultOf(sent, order.key))
    })
  }

  return {
    pump,
    bring(payment, signal) {
      if (queue.length >= MOST_QUEUED)
        return Promise.resolve({ type: 'unsent', message: 'too many payments wait already' })
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      const entry: Entry = {
        payment,
        signal,
        since: performance.now(),
        isPosted: false,
        end: resolve,
        fail: reject,
      }
      if (signal.aborted) dropped(entry)
      else queue.push(entry)
      signal.addEventListener('abort', () => dropped(entry), { once: true })
      if (queue.length >= maxBatch) pump()
      else timer ??= setTimeout(pump, lingerMs)
      return promise
    },
    async bringAlone(tried) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      await dispatch(leastBusy().relayer, [{ ...tried, entry: { end: resolve, fail: reject } }])
      return promise
    },
  }
}

/** More than a minute's work: whoever came after these would wait in vain. */
const MOST_QUEUED = 20_000
const AGAIN_AFTER_MS = 300

/** A node that does not answer once may answer now. */
async function despiteTrouble<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof RpcError && error.isRetryable)) throw error
    await sleep(AGAIN_AFTER_MS)
    return ask()
  }
}
