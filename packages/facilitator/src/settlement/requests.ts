// The attempts of this process: copies of a request share one attempt, and every caller is answered in time.
import { readTransaction } from '@referrer/chain'
import { withTimeout } from '@referrer/process'
import type { Hash } from 'viem'
import type { Context } from '../context.ts'
import { keyText, type PaymentKey } from '../payment/payment.ts'
import type { Refused } from '../payment/refused.ts'
import { notKnownYet, notMinedYet } from './refusals.ts'
import { findRow } from './store.ts'

export interface Requests {
  has(key: PaymentKey): boolean
  /** The signal is aborted when the time for an answer is over. */
  share(
    key: PaymentKey,
    digest: Hash,
    attempt: (signal: AbortSignal) => Promise<Hash>,
    /** Of another request for the same money. */
    refusal: () => Refused,
  ): Promise<Hash>
}

interface Shared {
  digest: Hash
  transaction: Promise<Hash>
}

/** For a last look at the row, when the time for an answer is over. */
const LAST_LOOK_MS = 1_500

export function createRequests({ sql, log, config }: Pick<Context, 'sql' | 'log' | 'config'>): Requests {
  const shared = new Map<string, Shared>()

  /** An attempt that is not done by the deadline goes on without the caller, unless no row is written yet. */
  async function inTime(key: PaymentKey, work: Promise<Hash>, giveUp?: () => void): Promise<Hash> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => {
      giveUp?.()
      withTimeout(LAST_LOOK_MS, findSent(key))
        .catch((err) => void log.warn({ err }, 'the settlements cannot be read from the database'))
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
    return transaction ? notMinedYet(key, transaction) : undefined
  }

  return {
    has: (key) => shared.has(keyText(key)),
    async share(key, digest, attempt, refusal) {
      const name = keyText(key)
      const known = shared.get(name)
      if (known?.digest === digest) return inTime(key, known.transaction)
      if (known) throw refusal()
      const patience = new AbortController()
      const transaction = attempt(patience.signal).finally(() => shared.delete(name))
      shared.set(name, { digest, transaction })
      return inTime(key, transaction, () => patience.abort())
    },
  }
}
