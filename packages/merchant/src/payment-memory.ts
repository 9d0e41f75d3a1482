// Serves each payment once: remembers which payments are being settled, were served, or are owed to buyers who have paid.
import { USED } from './answers.ts'
import type { Payment } from './payment.ts'
import type { Sale } from './sale.ts'

/**
 * A store that several processes share, so that only one of them serves a payment. A table with a unique key, or `SET NX EXAT` of Redis, is enough.
 *
 * @example
 * ```ts
 * import type { SharedClaims } from '@referrer/merchant'
 *
 * declare const redis: {
 *   set(key: string, value: string, options: { NX: true; EXAT: number }): Promise<string | null>
 *   del(key: string): Promise<number>
 * }
 * export const sharedClaims: SharedClaims = {
 *   claim: async (key, untilSeconds) => (await redis.set(key, '1', { NX: true, EXAT: untilSeconds })) !== null,
 *   release: async (key) => void (await redis.del(key)),
 * }
 * ```
 */
export interface SharedClaims {
  /** True for one caller only, until it releases the key or the time (unix seconds) has passed. */
  claim(key: string, untilSeconds: number): Promise<boolean>
  release(key: string): Promise<void>
}

/**
 * What one process remembers about payments. Make it once with `createPaymentMemory` and give it to every endpoint of the process;
 * nothing else calls it.
 *
 * @example
 * ```ts
 * import { createPaymentMemory, type PaymentMemory } from '@referrer/merchant'
 *
 * export const payments: PaymentMemory = createPaymentMemory()
 * ```
 */
export interface PaymentMemory {
  /** Throws what the shared claims throw; nothing is claimed then. */
  claim(payment: Pick<Payment, 'key' | 'fingerprint' | 'validBefore'>, endpoint: Endpoint): Promise<Claim>
  /**
   * For one caller only, until it releases the key by what it got, or the time (unix seconds) has passed. Throws what the shared claims
   * throw; nothing is reserved then.
   */
  reserve(key: string, untilSeconds: number, endpoint: Endpoint): Promise<(() => Promise<void>) | undefined>
}

/** The endpoint that took the payment. What it owes, no other endpoint serves. */
interface Endpoint {
  now(): number
  tell(event: { type: 'claims_failed'; error: unknown }): void
}

export type Claim =
  | { isGranted: false; why: 'busy' | 'taken' | 'served' | 'altered'; transaction?: string }
  | {
      isGranted: true
      /** The payment was settled before and has not been served. */
      paid: Sale | undefined
      /** The payment was sent to the facilitator before, and its outcome is unknown. */
      isDoubtful: boolean
      /** Unix seconds: a payment that was settled since then cannot have been served. Undefined where nothing proves it. */
      unservedSince: number | undefined
      /** Exactly one of these five ends the claim. The payment was served. */
      served(transaction: string): void
      /** It was settled and not served: the buyer may come back for it. */
      owe(sale: Sale): Promise<void>
      /** It may have been settled: the buyer may send it again. */
      leaveOpen(): Promise<void>
      /** It was refused. */
      forget(): Promise<void>
      /** Nothing happened to it: the state before the claim holds again. */
      undo(): Promise<void>
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
/** The buyer who comes back for it must send the whole payment, to the endpoint that took it. */
type Owed = { fingerprint: string; endpoint: Endpoint; until: number }

const MAX_ENTRIES = 50_000
/** The share of the entries that stays when the memory is full. */
const KEPT_SHARE = 0.9
/** How long a buyer who paid and was not served may come back. */
const GRACE_SECONDS = 3_600
/** The shared store remembers longer than any endpoint asks it, even if its clock differs from ours. */
const MARGIN_SECONDS = 60
/** Buyers choose when their authorisation ends. What this process forgets the facilitator still refuses. */
const MAX_MEMORY_SECONDS = 86_400
/** The last second that every date library can write. */
const END_OF_TIME = 253_402_300_799

/**
 * Makes the memory that all endpoints of a process share. One payment that is sent to two endpoints at once is settled once, and the facilitator
 * reports success to both: only a common memory lets one of them serve it. Several processes share `sharedClaims` besides.
 *
 * @example
 * ```ts
 * import { createPaymentMemory, createReferralEndpoint, type MarketConfig } from '@referrer/merchant'
 *
 * const market: MarketConfig = {
 *   chainId: 31337,
 *   rpcUrl: 'http://127.0.0.1:8545',
 *   addressRegistry: '0x1cf1a78B12CFd45F03514845b3A6F2d91CE40869',
 *   facilitatorUrl: 'http://127.0.0.1:8081',
 *   setupUrl: 'http://127.0.0.1:8080/.well-known/referrer-agent',
 *   merchantId: 5,
 *   payments: createPaymentMemory(),
 * }
 * export const jokes = createReferralEndpoint({ ...market, price: '0.10', serve: () => ({ joke: 'Knock, knock.' }) })
 * export const poems = createReferralEndpoint({ ...market, price: '0.20', serve: () => ({ poem: 'Roses are red.' }) })
 * ```
 */
export function createPaymentMemory({ sharedClaims }: { sharedClaims?: SharedClaims } = {}): PaymentMemory {
  const entries = new Map<string, Entry>()
  const reserved = new Map<string, number>()

  function remember(key: string, entry: Entry) {
    entries.delete(key)
    entries.set(key, entry)
    if (entries.size > MAX_ENTRIES) makeRoom()
  }

  /** Served payments go first, because the facilitator refuses their copies too. Payments that are being settled stay. */
  function makeRoom() {
    for (const state of ['served', 'unsure', 'paid']) {
      for (const [key, entry] of entries) {
        if (entries.size <= MAX_ENTRIES * KEPT_SHARE) return
        if (entry.state === state) entries.delete(key)
      }
    }
  }

  async function release(key: string, { tell }: Endpoint): Promise<void> {
    try {
      await sharedClaims?.release(key)
    } catch (error) {
      tell({ type: 'claims_failed', error })
    }
  }

  async function claim(
    { key, fingerprint, validBefore }: Parameters<PaymentMemory['claim']>[0],
    endpoint: Endpoint,
  ): Promise<Claim> {
    const seconds = () => Math.floor(endpoint.now() / 1_000)
    const found = entries.get(key)
    const before = found && found.state !== 'busy' && found.until <= seconds() ? undefined : found
    if (before?.state === 'busy') return { isGranted: false, why: 'busy' }
    if (before?.state === 'served') {
      return { isGranted: false, why: 'served', transaction: before.transaction }
    }
    // Anybody can read payer and nonce of a settled payment on the chain, so they do not prove who bought.
    if (before && (before.fingerprint !== fingerprint || before.endpoint !== endpoint)) {
      return { isGranted: false, why: 'altered' }
    }

    const began = seconds()
    // At least an hour from now: whoever alters a payment may write any end into it.
    const ends = Math.min(Math.max(validBefore ?? began, began) + GRACE_SECONDS, END_OF_TIME - MARGIN_SECONDS)
    const restore = () => (before ? remember(key, before) : entries.delete(key))
    remember(key, { state: 'busy' })
    try {
      if (sharedClaims && !(await sharedClaims.claim(key, ends + MARGIN_SECONDS))) {
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
      // Shared claims that grant the claim prove the same as our own memory, as far back as they are sure to remember.
      unservedSince: before ? 0 : sharedClaims && began - GRACE_SECONDS,
      served: (transaction) => remember(key, { state: 'served', transaction, until }),
      async owe(sale) {
        await release(key, endpoint)
        remember(key, { state: 'paid', sale, ...owed })
      },
      async leaveOpen() {
        await release(key, endpoint)
        remember(key, { state: 'unsure', ...owed })
      },
      async forget() {
        await release(key, endpoint)
        entries.delete(key)
      },
      async undo() {
        await release(key, endpoint)
        restore()
      },
    }
  }

  async function reserve(key: string, untilSeconds: number, endpoint: Endpoint) {
    if ((reserved.get(key) ?? 0) > endpoint.now() / 1_000) return undefined
    reserved.delete(key)
    reserved.set(key, untilSeconds)
    const oldest = reserved.size > MAX_ENTRIES ? reserved.keys().next().value : undefined
    if (oldest !== undefined) reserved.delete(oldest)
    try {
      // A key that another process has is asked for there again: it may be released.
      const isOurs = (await sharedClaims?.claim(key, untilSeconds + MARGIN_SECONDS)) ?? true
      if (!isOurs) reserved.delete(key)
      return isOurs ? () => release(key, endpoint).then(() => void reserved.delete(key)) : undefined
    } catch (error) {
      reserved.delete(key)
      throw error
    }
  }

  return { claim, reserve }
}
