// Serves each payment once. The record of a payment says how far it is: claimed, paid or served. Whoever finds `paid` serves.
import type { Hex } from 'viem'
import type { Answer } from './answer-again.ts'
import { USED } from './answers.ts'
import { type Payment, termsOf } from './payment.ts'
import { memoryStore, type PaymentStore } from './payment-store.ts'
import type { Sale } from './sale.ts'

/**
 * What a shop remembers about payments. Make it once with `createPaymentMemory` and give it to every endpoint of the process;
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
  /** All of these throw what the store throws. */
  claim(payment: Claimed, endpoint: Endpoint): Promise<Claim>
  /** Unix seconds: what was settled before may have been served, and nobody knows. */
  began(): Promise<number>
  /** How far a payment is. Undefined where nothing is recorded about it. */
  standing(key: string, endpoint: Endpoint): Promise<Standing | undefined>
  /** A note of the endpoint itself, until the time (unix seconds): false where there is another one than `before`. */
  note(key: string, before: string | undefined, text: string, untilSeconds: number): Promise<boolean>
  noted(key: string): Promise<string | undefined>
}

type Claimed = Pick<Payment, 'key' | 'fingerprint' | 'validBefore' | 'attributionToken'>

/** The endpoint that asks. What is owed is served by any endpoint of the shop that sells the same product. */
interface Endpoint {
  merchantId: bigint
  productId: Hex | undefined
  now(): number
  tell(event: { type: 'claims_failed'; error: unknown }): void
}

export interface Standing {
  state: 'claimed' | 'paid' | 'served'
  /** Somebody is at work on it. */
  isBusy: boolean
  transaction: string | undefined
  answer: Answer | undefined
}

export type Claim =
  | { isGranted: false; why: 'busy'; retrySeconds: number }
  | { isGranted: false; why: 'altered' }
  | { isGranted: false; why: 'served'; transaction: string; answer: Answer | undefined }
  | {
      isGranted: true
      /** The payment was settled before and has not been served. */
      paid: Sale | undefined
      /** The payment was sent to the facilitator before, and its outcome is unknown. */
      isDoubtful: boolean
      /** Unix seconds: a payment that was settled since then cannot have been served. Infinity where nothing proves it. */
      unservedSince: number
      /** Unix seconds: if it was settled since then, it was settled for this claim, or an earlier one of the same payment. */
      since: number
      /** It was settled: recorded before it is served. Throws, or false, where it is not recorded: then it must not be served now. */
      paidBy(sale: Sale): Promise<boolean>
      /** As that of the memory, and forgotten with the record of the payment, where that is not kept. */
      note: PaymentMemory['note']
      /** Exactly one of these ends the claim. It was served. */
      served(transaction: string, answer?: Answer): Promise<void>
      /** It may have been settled, or was settled and not served: the buyer may send it again. */
      leave(): Promise<void>
      /** It was used before, by this transaction if it is known. Where it is not, it may have been paid here: then it is still owed. */
      used(transaction: string | undefined): Promise<void>
      /** It was refused. */
      forget(): Promise<void>
      /** Nothing happened to it: the state before the claim holds again. */
      undo(): Promise<void>
    }

export type Granted = Extract<Claim, { isGranted: true }>

/** What a buyer is told whose claim is not granted. */
export const REPEATED = {
  busy: 'this payment is being settled or served: wait for its answer, and do not sign another',
  served: USED,
  altered: 'this authorisation came before in another payment: send that one again',
}

/** One line of JSON under the payment's key. `state` stands first: a store may look at it. */
interface PaymentRecord {
  state: 'claimed' | 'paid' | 'served'
  /** Whoever made the claim, by chance: no two claims write the same text. */
  by: string
  /** Unix seconds: the claim holds until then, and is renewed as long as its process lives. 0 where nobody is at work on it. */
  busyUntil: number
  keptUntil: number
  /** Of the whole payment, and what it was for: payer and nonce of a settled payment can be read on the chain. */
  fingerprint: Hex
  product: string
  since: number
  sale?: (Omit<Sale, 'amount'> & { amount: string }) | undefined
  transaction?: string
  answer?: Answer
}

/** A process that has not renewed its claim for so long is dead. */
const LEASE_SECONDS = 60
/** A record is kept so long after the payment was served, or could last be settled. */
const GRACE_SECONDS = 86_400
/** Whoever has paid may come back so long. */
const PAID_SECONDS = 30 * 86_400
/** How far the clocks of two machines may be apart, and how far the newest block may lag. */
const CLOCK_SKEW_SECONDS = 60
/** Under it a store keeps when it began: one that is new, or was lost, knows nothing of the time before. */
const BEGAN = 'referrer:began'
/** The year 2100. */
const FOR_GOOD = 4_102_444_800

/**
 * Makes the memory that all endpoints of a process share. One payment that is sent to two endpoints at once is settled once, and the facilitator
 * reports success to both: only a common memory lets one of them serve it. `store` makes it outlive the process: `fileStore` of
 * `@referrer/merchant/node`, or a table that several processes share.
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
export function createPaymentMemory({
  store: given,
  leaseSeconds = LEASE_SECONDS,
  now = Date.now,
}: {
  store?: PaymentStore
  /** How long a claim outlives its process. Longer than `serve` blocks the event loop. */
  leaseSeconds?: number
  /** Milliseconds since 1970. */
  now?: () => number
} = {}): PaymentMemory {
  const store = given ?? memoryStore()
  const made = Math.floor(now() / 1_000)
  /** What this process is at work on, whatever the clocks say. */
  const held = new Set<string>()

  async function began(): Promise<number> {
    if (!given) return made
    const told = await store.read(BEGAN)
    if (told !== undefined) return Number(told)
    const seconds = Math.floor(now() / 1_000)
    const isFirst = await store.replace(BEGAN, undefined, String(seconds), FOR_GOOD)
    return isFirst ? seconds : Number(await store.read(BEGAN))
  }

  async function read(key: string, seconds: number) {
    const text = await store.read(key)
    const found = text === undefined ? undefined : (JSON.parse(text) as PaymentRecord)
    return { text, record: found && found.keptUntil > seconds ? found : undefined }
  }

  async function claim(payment: Claimed, endpoint: Endpoint): Promise<Claim> {
    const { key } = payment
    if (held.has(key)) return { isGranted: false, why: 'busy', retrySeconds: 1 }
    held.add(key)
    let claimed: Claim | undefined
    try {
      claimed = await take(payment, endpoint)
      return claimed
    } finally {
      if (!claimed?.isGranted) held.delete(key)
    }
  }

  async function take(payment: Claimed, endpoint: Endpoint): Promise<Claim> {
    const { key, fingerprint, validBefore, attributionToken } = payment
    const seconds = () => Math.floor(endpoint.now() / 1_000)
    const asked = seconds()
    const { text, record: before } = await read(key, asked)
    const isSame = before?.fingerprint === fingerprint
    if (before?.state === 'served') {
      const { transaction = '', answer } = before
      return { isGranted: false, why: 'served', transaction, answer: isSame ? answer : undefined }
    }
    if (before && before.busyUntil > asked) {
      return { isGranted: false, why: 'busy', retrySeconds: before.busyUntil - asked }
    }
    const product = `${endpoint.merchantId}:${endpoint.productId ?? termsOf(attributionToken)?.productId}`
    if (before && !(isSame && before.product === product)) return { isGranted: false, why: 'altered' }

    // Whoever alters a payment may write any end into it.
    const ends = Math.max(validBefore ?? asked, asked) + GRACE_SECONDS
    const keptUntil = Math.min(ends, asked + PAID_SECONDS)
    // What a lasting store has no record of was not served since it began, and as long as it keeps records; a memory may have forgotten it.
    const beginning = before ? 0 : await began()
    const kept = given ? Math.max(beginning, asked - GRACE_SECONDS) + CLOCK_SKEW_SECONDS : Infinity
    const unservedSince = before?.since ?? kept
    const since = before?.since ?? Math.max(beginning, Math.min(kept, asked - CLOCK_SKEW_SECONDS))
    const known = before ?? { state: 'claimed', fingerprint, product, keptUntil, since }
    let record: PaymentRecord = { ...known, by: crypto.randomUUID(), busyUntil: 0 }
    let current = text
    let last: Promise<unknown> = Promise.resolve()
    const notes = new Map<string, string>()

    /** One after another: a renewal never overtakes the end of the claim. */
    function put(change: Partial<PaymentRecord> | 'nothing', next?: string): Promise<boolean> {
      const putting = last.then(async () => {
        if (change !== 'nothing') {
          record = { ...record, ...change }
          next = JSON.stringify(record)
        }
        let isDone = await store.replace(key, current, next, record.keptUntil)
        if (!isDone) {
          // A write that failed may have taken effect: then the text is another one, and still of this claim. A full memory may have lost it.
          const there = await store.read(key)
          const isFree = there === undefined || there.includes(record.by)
          if (isFree) isDone = await store.replace(key, there, next, record.keptUntil)
        }
        if (isDone) current = next
        return isDone
      })
      last = putting.catch(() => {})
      return putting
    }
    // Rounded up: no claim ends before its time.
    const busy = () => ({ busyUntil: Math.ceil(endpoint.now() / 1_000) + leaseSeconds })

    if (!(await put(busy()))) return { isGranted: false, why: 'busy', retrySeconds: 1 }
    const renewing = setInterval(() => put(busy()).catch(() => {}), leaseSeconds * 250) as unknown as {
      unref?(): void
    }
    renewing.unref?.()

    async function end(...ending: Parameters<typeof put>): Promise<void> {
      clearInterval(renewing as never)
      const [change, next] = ending
      try {
        if (change === 'nothing' && next === undefined) {
          for (const note of notes) await store.replace(...note, undefined, record.keptUntil)
        }
        await put(...ending)
      } catch (error) {
        endpoint.tell({ type: 'claims_failed', error })
      } finally {
        held.delete(key)
      }
    }

    const served: Granted['served'] = (transaction, answer) =>
      end({
        state: 'served',
        sale: undefined,
        busyUntil: 0,
        keptUntil: seconds() + GRACE_SECONDS,
        transaction,
        ...(answer && { answer }),
      })
    const leave = () => end({ busyUntil: 0 })
    const forget = () => end('nothing')

    return {
      isGranted: true,
      paid: before?.sale && { ...before.sale, amount: BigInt(before.sale.amount) },
      isDoubtful: before?.state === 'claimed',
      unservedSince,
      since,
      paidBy: (sale) =>
        put({
          state: 'paid',
          sale: { ...sale, amount: String(sale.amount) },
          keptUntil: seconds() + PAID_SECONDS,
          ...busy(),
        }),
      async note(name, was, text, untilSeconds) {
        const isDone = was === text || (await store.replace(name, was, text, untilSeconds))
        if (isDone) notes.set(name, text)
        return isDone
      },
      served,
      leave,
      used: (transaction) =>
        transaction ? served(transaction) : before?.state === 'claimed' ? leave() : forget(),
      forget,
      undo: () => end('nothing', before ? text : undefined),
    }
  }

  async function standing(key: string, endpoint: Endpoint): Promise<Standing | undefined> {
    const seconds = endpoint.now() / 1_000
    const { record } = await read(key, seconds)
    if (!record) return undefined
    const { state, busyUntil, sale, transaction = sale?.transaction, answer } = record
    return { state, isBusy: held.has(key) || busyUntil > seconds, transaction, answer }
  }

  return {
    claim,
    began,
    standing,
    note: (key, before, text, untilSeconds) => store.replace(key, before, text, untilSeconds),
    noted: (key) => store.read(key),
  }
}
