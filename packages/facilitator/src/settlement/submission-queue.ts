// Collects the payments of one chain into batches: those that come while transactions are under way share the next one.
import type { Address } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyText, type Payment } from '../payment/payment.ts'
import { type Approved, approve, price, type Queued, type Waiting } from './approve.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { type Enqueued, enqueue } from './enqueue.ts'
import type { OnSettlement } from './events.ts'
import { notSent } from './refusals.ts'
import type { RelayerLoad } from './relayer-load.ts'
import type { Next } from './states.ts'
import { findRow } from './store.ts'
import type { Tracker } from './tracker.ts'

export interface SubmissionQueue {
  /** In a transaction with others. An attempt that is aborted while it is `queued` is refused. */
  submit(attempt: Attempt, payment: Payment): Promise<In<Next<'queued' | 'checked'>>>
  /** In a transaction of its own, now. */
  submitAlone(attempt: Attempt, checked: In<'checked'>): Promise<In<Next<'checked'>>>
  /** A relayer may be free again. */
  pump(): void
}

interface Entry extends Queued {
  /** When it was submitted, by the monotonic clock. */
  since: number
}

/** More than a minute's work: the answer to a payment behind these would come too late. */
const MOST_QUEUED = 20_000

export function createSubmissionQueue(
  context: Context,
  chain: Chain,
  tracker: Tracker,
  load: RelayerLoad,
  onEvent: OnSettlement,
): SubmissionQueue {
  const { maxBatch, maxBatchesInFlight, lingerMs } = context.config
  const queue: Entry[] = []
  let timer: NodeJS.Timeout | undefined

  /** A full batch leaves at once; another one waits for more payments, the longer the more transactions are under way. */
  function pump(): void {
    clearTimeout(timer)
    timer = undefined
    for (let first = queue[0]; first; first = queue[0]) {
      const { relayer, transactions } = load.leastBusy()
      if (transactions >= maxBatchesInFlight) return
      const patience = first.since + lingerMs * (transactions + 1) ** 2 - performance.now()
      if (queue.length < maxBatch && patience > 0) {
        timer = setTimeout(pump, patience)
        return
      }
      void make(relayer, queue.splice(0, maxBatch))
    }
  }

  /** The caller waits no longer. What is `checked` by then is written and sent all the same. */
  function drop(entry: Entry): void {
    const at = queue.indexOf(entry)
    if (at >= 0) queue.splice(at, 1)
    if (entry.attempt.state === 'queued') entry.end(refuse(notSent('it waited too long for its turn')))
  }

  async function make(relayer: Address, entries: Entry[]): Promise<void> {
    const end = load.begin(relayer)
    try {
      const { shared, alone, later } = await approve(context, chain, relayer, entries)
      queue.unshift(...later)
      await Promise.all([
        write(relayer, shared),
        ...alone.map((each) => write(load.leastBusy().relayer, [each])),
      ])
    } catch (error) {
      for (const { fail } of entries) fail(error)
    } finally {
      end()
      pump()
    }
  }

  async function write(relayer: Address, batch: Approved[]): Promise<void> {
    let enqueued: Enqueued
    try {
      enqueued = await enqueue(context, chain, relayer, batch)
    } catch (error) {
      for (const { waiting } of batch) waiting.fail(error)
      return
    }
    const { intentId, written, refused } = enqueued
    if (intentId !== undefined) {
      const sent = batch.filter(({ order: { key } }) => written.has(keyText(key)))
      const requestIds = sent.flatMap(({ waiting }) => waiting.attempt.origin.requestIds)
      onEvent({ type: 'sending', chainId: chain.chainId, size: sent.length, intent: intentId, requestIds })
      const keys = sent.map(({ order: { key } }) => key)
      void tracker.follow(intentId, { relayer, keys })
    }
    for (const { order, waiting } of batch) {
      const name = keyText(order.key)
      const refusal = refused.get(name)
      // What holds up a payment may be its own copy, which another process has sent: whoever repeats it shares the outcome.
      const row = refusal && (await findRow(context.sql, order.key).catch(() => undefined))
      if (refusal && row?.state !== 'pending') waiting.end(refuse(refusal))
      else if (intentId !== undefined && written.has(name)) waiting.end({ state: 'enqueued', intentId })
      else waiting.end({ state: 'taken', mayRetry: waiting.mayRetry })
    }
  }

  return {
    pump,
    submit(attempt, payment) {
      const { signal } = attempt
      if (queue.length >= MOST_QUEUED)
        return Promise.resolve(refuse(notSent('too many payments wait already')))
      const { promise, resolve: end, reject: fail } = Promise.withResolvers<In<Next<'queued' | 'checked'>>>()
      const entry: Entry = { attempt, mayRetry: true, payment, since: performance.now(), end, fail }
      if (signal.aborted) drop(entry)
      else queue.push(entry)
      signal.addEventListener('abort', () => drop(entry), { once: true })
      if (queue.length >= maxBatch) pump()
      else timer ??= setTimeout(pump, lingerMs)
      return promise
    },
    async submitAlone(attempt, { order, gas }) {
      const { promise, resolve: end, reject: fail } = Promise.withResolvers<In<Next<'checked'>>>()
      const waiting: Waiting = { attempt, mayRetry: false, end: end as Waiting['end'], fail }
      await write(load.leastBusy().relayer, await price(context, chain, [{ order, gas, waiting }], false))
      return promise
    },
  }
}
