// Each payment is served once: what is being settled, what was served, and what is owed to buyers who have paid.
import type { MarketSettings } from './config.ts'
import { USED } from './facilitator.ts'
import type { Payment } from './payment.ts'
import type { Sale } from './sale.ts'

/** Keeps one payment from being served twice by two processes. A table with a unique key, or `SET NX EXAT` of Redis, is enough. */
export interface Ledger {
  /** True for one caller only, until it releases the key or the time (unix seconds) has passed. */
  claim(key: string, untilSeconds: number): Promise<boolean>
  release(key: string): Promise<void>
}

export type Claim =
  | { isGranted: false; why: 'busy' | 'taken' | 'served' | 'altered'; transaction?: string }
  | {
      isGranted: true
      /** It was paid before and has not been served. */
      paid: Sale | undefined
      /** It was sent before, and nobody could tell what became of it. */
      isDoubtful: boolean
      /** Unix seconds: nobody can have been served for it if it was settled since then. Undefined where nothing tells. */
      unservedSince: number | undefined
      /** Exactly one of these ends the claim: it was served, is owed to the buyer, may be, is refused, or stands as it stood. */
      served(transaction: string): void
      keep(sale: Sale): Promise<void>
      doubt(): Promise<void>
      drop(): Promise<void>
      back(): Promise<void>
    }

export type Granted = Extract<Claim, { isGranted: true }>

/** What a buyer is told whose claim is not granted. */
export const REPEATED = {
  busy: 'this payment is being settled: wait for its answer, and do not sign another',
  taken: 'this payment is being settled or was used already: do not sign another before you know',
  served: USED,
  altered: 'this authorisation came before in another payment: send that one again',
}

type Entry =
  | { state: 'busy' }
  | { state: 'served'; transaction: string; until: number }
  | ({ state: 'paid'; sale: Sale } & Owed)
  | ({ state: 'unsure' } & Owed)
/** Whoever comes back for it must bring the whole payment, to the endpoint that took it. */
type Owed = { fingerprint: string; endpoint: object; until: number }

type Claimed = Pick<Payment, 'key' | 'fingerprint' | 'validBefore'>

const MAX_ENTRIES = 50_000
/** The part that is left when it is full. */
const ROOM = 0.9
/** How long a buyer who paid and was not served may come back. */
const GRACE_SECONDS = 3_600
/** The shared ledger remembers longer than anybody asks it, however its clock differs from ours. */
const MARGIN_SECONDS = 60
/** Buyers choose when their authorisation ends. What this process forgets the facilitator still refuses. */
const MAX_MEMORY_SECONDS = 86_400
/** The last second that every date library can write. */
const END_OF_TIME = 253_402_300_799

/** Of all endpoints of the process: one payment, sent to two of them at once, is settled once and looks good to both. */
const entries = new Map<string, Entry>()

export function openLedger(endpoint: Pick<MarketSettings, 'ledger' | 'now' | 'tell'>) {
  const { ledger, now, tell } = endpoint
  const seconds = () => Math.floor(now() / 1_000)

  function remember(key: string, entry: Entry) {
    entries.delete(key)
    entries.set(key, entry)
    if (entries.size > MAX_ENTRIES) makeRoom()
  }

  /** What was served goes first: a copy of it is refused by the facilitator too. What is being settled stays. */
  function makeRoom() {
    for (const state of ['served', 'unsure', 'paid']) {
      for (const [key, entry] of entries) {
        if (entries.size <= MAX_ENTRIES * ROOM) return
        if (entry.state === state) entries.delete(key)
      }
    }
  }

  async function release(key: string) {
    try {
      await ledger?.release(key)
    } catch (error) {
      tell({ type: 'ledger_failed', error })
    }
  }

  /** Throws what the shared ledger throws; nothing is claimed then. */
  async function claim({ key, fingerprint, validBefore = seconds() }: Claimed): Promise<Claim> {
    const found = entries.get(key)
    const before = found && found.state !== 'busy' && found.until <= seconds() ? undefined : found
    if (before?.state === 'busy') return { isGranted: false, why: 'busy' }
    if (before?.state === 'served') {
      return { isGranted: false, why: 'served', transaction: before.transaction }
    }
    // Payer and nonce of a settled payment can be read on the chain, so they alone do not make anybody its buyer.
    if (before && (before.fingerprint !== fingerprint || before.endpoint !== endpoint)) {
      return { isGranted: false, why: 'altered' }
    }

    const began = seconds()
    // At least an hour from now: whoever alters a payment may write any end into it.
    const ends = Math.min(Math.max(validBefore, began) + GRACE_SECONDS, END_OF_TIME - MARGIN_SECONDS)
    const restore = () => (before ? remember(key, before) : entries.delete(key))
    remember(key, { state: 'busy' })
    try {
      if (ledger && !(await ledger.claim(key, ends + MARGIN_SECONDS))) {
        restore()
        return { isGranted: false, why: 'taken' }
      }
    } catch (error) {
      restore()
      throw error
    }

    const until = Math.min(ends, seconds() + MAX_MEMORY_SECONDS)
    const owed = { fingerprint, endpoint, until }
    return {
      isGranted: true,
      paid: before?.state === 'paid' ? before.sale : undefined,
      isDoubtful: before?.state === 'unsure',
      // A shared ledger that grants the claim says the same as our own memory, as far back as it remembers for sure.
      unservedSince: before ? 0 : ledger && began - GRACE_SECONDS,
      served: (transaction) => remember(key, { state: 'served', transaction, until }),
      async keep(sale) {
        await release(key)
        remember(key, { state: 'paid', sale, ...owed })
      },
      async doubt() {
        await release(key)
        remember(key, { state: 'unsure', ...owed })
      },
      async drop() {
        await release(key)
        entries.delete(key)
      },
      async back() {
        await release(key)
        restore()
      },
    }
  }

  return { claim }
}
