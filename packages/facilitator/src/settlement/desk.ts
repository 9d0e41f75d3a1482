// Collects payments of one chain, and settles those that have come while a transaction was under way as one.
import { setTimeout as sleep } from 'node:timers/promises'
import { RpcError } from '@referrer/chain'
import type { Address, Hash } from 'viem'
import type { Chain, Context } from '../context.ts'
import { expectedFee } from '../payment/fee.ts'
import { keyText, type Payment, type PaymentKey } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { readAccounts } from './accounts.ts'
import { codeHash } from './code.ts'
import { type Backed, back, holdersOf } from './credit.ts'
import type { OnSettlement } from './events.ts'
import { lifeGas, thatFit } from './gas.ts'
import { type Postings, post } from './ledger.ts'
import { isPurchase, type Order, toSettle } from './order.ts'
import { costOf } from './prices.ts'
import { simulate } from './simulation.ts'
import { takenOf } from './store.ts'
import type { Sent, Watch } from './watch.ts'

/** What became of a payment that was brought here. */
export type Result =
  | { type: 'done'; state: 'settled' | 'refunded'; transaction: Hash; message: string | null }
  /**
   * It was sent and the chain refused it in this block: it moved no money. `isForAll`: it was one of several, and none of them took effect.
   * `burned`: the gas that it used.
   */
  | { type: 'failed'; message: string; isForAll: boolean; block: number; burned: bigint }
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
  bringAlone(alone: Pick<Good, 'order' | 'gas' | 'hasCode'>): Promise<Result>
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

/** An order whose trial went well. */
interface Good {
  order: Order
  gas: bigint
  hasCode: boolean
  entry: Pick<Entry, 'end' | 'fail'>
}

/** Of one payment in a transaction. */
export function resultOf(sent: Sent, key: PaymentKey): Result {
  if (!sent.isSent) return { type: 'unsent', message: sent.reason }
  const { endings, hasReverted, block, burned } = sent
  const ending = endings.find(({ key: { payer, nonce } }) => nonce === key.nonce && payer === key.payer)
  if (!ending?.transaction || ending.state === 'failed') {
    const message = ending?.message ?? 'the transaction did nothing for this payment'
    return { type: 'failed', message, isForAll: hasReverted && endings.length > 1, block, burned }
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

export function createDesk(context: Context, chain: Chain, watch: Watch, onEvent: OnSettlement): Desk {
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
      const { shared, alone } = await tryOut(relayer, entries)
      await Promise.all([
        dispatch(relayer, shared),
        ...alone.map((each) => dispatch(leastBusy().relayer, [each])),
      ])
    } finally {
      making.set(relayer, (making.get(relayer) ?? 1) - 1)
      pump()
    }
  }

  /** Those that one transaction can settle, and those that get one of their own. The others get their answer, or wait for the next. */
  async function tryOut(relayer: Address, entries: Entry[]) {
    const payments = entries.map(({ payment }) => payment)
    const good: (Good & { entry: Entry })[] = []
    const later: Entry[] = []
    try {
      const verdicts = await despiteTrouble(() => simulate(context, chain, relayer, payments))
      entries.forEach((entry, at) => {
        const verdict = verdicts[at] ?? { type: 'untried' }
        // Who gave up meanwhile has been told that nothing was sent.
        if (entry.signal.aborted) return
        if (verdict.type === 'good') good.push({ ...verdict, order: toSettle(entry.payment), entry })
        else if (verdict.type === 'untried') later.push(entry)
        else entry.end(verdict)
      })
      const backed = (await backAll(good)).filter(({ entry }) => !entry.signal.aborted)
      const together = backed.filter(({ isShared }) => isShared)
      const single = backed.filter(({ isShared }) => !isShared)
      const fit = thatFit(together)
      const [shared, alone] = [together.slice(0, fit), single.slice(0, MOST_ALONE)]
      queue.unshift(
        ...[...together.slice(fit), ...single.slice(MOST_ALONE)].map(({ entry }) => entry),
        ...later,
      )
      for (const { entry } of [...shared, ...alone]) entry.isPosted = true
      return { shared, alone }
    } catch (error) {
      for (const { fail } of entries) fail(error)
      return { shared: [], alone: [] }
    }
  }

  /** Those that somebody answers for; the others get their answer. */
  async function backAll<T extends Good>(good: T[]): Promise<(T & Backed)[]> {
    if (good.length === 0) return []
    const tried = await Promise.all(
      good.map(async (each) => ({
        ...each,
        code: each.hasCode ? await codeHash(chain, each.order.key.payer) : undefined,
        cost: costOf(context.config, lifeGas(each.order, each.gas, good.length)),
        fee: isPurchase(each.order) ? await expectedFee(context, chain, each.order) : 0n,
      })),
    )
    const now = context.clock()
    const accounts = await readAccounts(context.sql, chain.chainId, holdersOf(tried), now)
    const backings = back(context.config, accounts, tried, now)
    const refused = tried.filter((_, at) => backings[at] instanceof Refused)
    // What holds up a payment may be its own copy, which another process has sent: whoever repeats it shares the outcome.
    const taken = await takenOf(
      context.sql,
      refused.map(({ order }) => order.key),
    )
    return tried.flatMap((each, at) => {
      const backing = backings[at]
      if (backing && !(backing instanceof Refused)) return [{ ...each, ...backing }]
      if (taken.has(keyText(each.order.key))) each.entry.end({ type: 'taken' })
      else if (backing) each.entry.end({ type: 'refused', refusal: backing })
      return []
    })
  }

  async function dispatch(relayer: Address, batch: (Backed & Pick<Good, 'entry'>)[]): Promise<void> {
    let postings: Postings
    try {
      postings = await post(context, chain, relayer, batch)
    } catch (error) {
      for (const { entry } of batch) entry.fail(error)
      return
    }
    const { posted, refused } = postings
    const taken = new Set(posted?.taken.map(({ order }) => keyText(order.key)))
    const ours = batch.filter(({ order }) => taken.has(keyText(order.key)))
    for (const { order, entry } of batch) {
      const refusal = refused.get(keyText(order.key))
      if (refusal) entry.end({ type: 'refused', refusal })
      else if (!taken.has(keyText(order.key))) entry.end({ type: 'taken' })
    }
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
    async bringAlone(alone) {
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      const backed = await backAll([{ ...alone, entry: { end: resolve, fail: reject } }])
      await dispatch(leastBusy().relayer, backed)
      return promise
    },
  }
}

/** More than a minute's work: whoever came after these would wait in vain. */
const MOST_QUEUED = 20_000
const AGAIN_AFTER_MS = 300
/** Payments of one turn that are sent alone: each takes one of the few places that nodes keep for a relayer. */
const MOST_ALONE = 4

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
