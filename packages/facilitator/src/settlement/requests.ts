// The attempts of this process: copies of a request share one attempt, and every caller is answered in time.
import { readTransaction } from '@referrer/chain'
import { withTimeout } from '@referrer/process'
import type { Hash } from 'viem'
import type { Context } from '../context.ts'
import { keyText, type PaymentKey, type PurchaseId } from '../payment/payment.ts'
import type { Refused } from '../payment/refused.ts'
import { notKnownYet, notMinedYet, refusalOfRow, tookTooLong } from './refusals.ts'
import { findRow } from './store.ts'

export interface Requests {
  has(key: PaymentKey): boolean
  /** Only what is admitted stands for its copies. The signal is aborted when the time for an answer is over. */
  share(
    purchase: PurchaseId,
    admit: () => Promise<void>,
    attempt: (signal: AbortSignal) => Promise<Hash>,
  ): Promise<Hash>
}

/** For a last look at the row, when the time for an answer is over. */
const LAST_LOOK_MS = 1_500

export function createRequests({ sql, log, config }: Pick<Context, 'sql' | 'log' | 'config'>): Requests {
  const shared = new Map<string, { digest: Hash; transaction: Promise<Hash> }>()

  /** An attempt that is not done by the deadline goes on without the caller, unless no row is written yet. */
  async function inTime(of: PurchaseId, work: Promise<Hash>, giveUp?: () => void): Promise<Hash> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      giveUp?.()
      withTimeout(LAST_LOOK_MS, findSent(of))
        .catch((err) => void log.warn({ err }, 'the settlements cannot be read from the database'))
        .then((sent) => late.reject(sent ?? notKnownYet(of.key)))
    }, config.answerTimeoutMs)
    try {
      return await Promise.race([work, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  async function findSent({ key, digest }: PurchaseId): Promise<Refused | undefined> {
    const row = await findRow(sql, key)
    if (row?.digest !== digest) return undefined
    const transaction = row.intentId && (await readTransaction(sql, { id: row.intentId }))?.hashes.at(-1)
    return transaction ? notMinedYet(key, transaction) : undefined
  }

  return {
    has: (key) => shared.has(keyText(key)),
    async share(purchase, admit, attempt) {
      const { key, digest } = purchase
      const name = keyText(key)
      const known = shared.get(name)
      if (known?.digest === digest) return inTime(purchase, known.transaction)
      const patience = new AbortController()
      const late = Promise.withResolvers<never>()
      patience.signal.addEventListener('abort', () => late.reject(tookTooLong()), { once: true })
      const begin = async () => {
        // Nothing is sent before it is admitted: whoever waits for a database that does not answer is told so.
        await Promise.race([admit(), late.promise])
        const first = shared.get(name)
        if (first?.digest === digest) return first.transaction
        if (first) throw refusalOfRow(undefined, digest)
        const transaction = attempt(patience.signal).finally(() => shared.delete(name))
        shared.set(name, { digest, transaction })
        return transaction
      }
      return inTime(purchase, begin(), () => patience.abort())
    },
  }
}
