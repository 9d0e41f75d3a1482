// A market whose facilitators are processes, the payments through them, and where each of these stands.
import { readTransaction, type SenderEvent } from '@referrer/chain'
import { type Hash, type LocalAccount, numberToHex } from 'viem'
import { expect, vi } from 'vitest'
import { type Books, openBooks } from '../abuse/books.ts'
import type { Answer } from '../asking.ts'
import { eventually } from '../eventually.ts'
import { type HarnessOptions, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body, PayloadOptions } from '../payloads.ts'
import { type FacilitatorProcess, type FixtureSettings, startProcess } from './process.ts'

export interface Purchase {
  buyer: LocalAccount
  body: Body
  path: string
}

export interface World {
  market: TestFacilitator
  /** The process that is asked; starting another replaces it. */
  facilitator: FacilitatorProcess
  start(env?: Record<string, string>, settings?: FixtureSettings): Promise<FacilitatorProcess>
  buy(options?: PayloadOptions): Promise<Purchase>
  settlement(purchase: Purchase): Promise<{ status: string; transaction: Hash | null }>
  stand(purchase: Purchase): Promise<Stand>
  books: Books
  close(): Promise<void>
}

/** A payment of one of the prepared buyers who has not bought yet. */
export async function nextPurchase(m: TestFacilitator, options?: PayloadOptions): Promise<Purchase> {
  const buyer = m.buyers.pop()
  if (!buyer) throw new Error('nobody is left to buy: prepare more buyers')
  const body = await m.payload(buyer, options)
  const { from, nonce } = body.paymentPayload.payload.authorization
  return { buyer, body, path: `/settlements/${from}/${nonce}` }
}

/** How often the sender of a facilitator in this process has told so. */
export const toldBy = (m: TestFacilitator, type: SenderEvent['type']): number =>
  m.events.filter((event) => event.type === 'sender' && event.event.type === type).length

/** How far a payment has got, told by the database and the chain, not by the facilitator. */
export interface Stand {
  row: string
  intent: string
  /** Transactions that are signed for it in the database; those that the node has; those that are mined. */
  stored: number
  known: number
  mined: number
}

let salts = 0
/** A payment of our own tooling: only the router can redeem it, for nothing but its link. */
export const committed = (): PayloadOptions => {
  salts += 1
  return { salt: numberToHex(salts, { size: 32 }) }
}

export async function startWorld(options: HarnessOptions = {}): Promise<World> {
  const market = await startTestFacilitator(options)
  await market.facilitator.stop()
  const processes: FacilitatorProcess[] = []

  const world: World = {
    market,
    facilitator: await startProcess(market.env),
    async start(env = {}, settings = {}) {
      const started = await startProcess({ ...market.env, ...env }, settings)
      processes.push(started)
      world.facilitator = started
      return started
    },
    buy: (payloadOptions) => nextPurchase(market, payloadOptions),
    async settlement({ path }) {
      const { status, body } = await world.facilitator.call('GET', path)
      expect(status, JSON.stringify(body)).toBe(200)
      return body
    },
    stand: (purchase) => standOf(market, purchase),
    books: await openBooks({ ...market, call: (...ask) => world.facilitator.call(...ask) }),
    async close() {
      await Promise.all(processes.filter((each) => each.isAlive()).map((each) => each.kill()))
      await market.close()
    },
  }
  processes.push(world.facilitator)
  return world
}

async function standOf({ sql, chain }: TestFacilitator, { buyer, body }: Purchase): Promise<Stand> {
  const { nonce } = body.paymentPayload.payload.authorization
  const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex')
  const [row] = await sql<{ state: string; intent_id: bigint | null }[]>`
    SELECT state, intent_id FROM facilitator.settlements
    WHERE payer = ${bytes(buyer.address)} AND nonce = ${bytes(nonce)}`
  const intent = row?.intent_id ? await readTransaction(sql, { id: row.intent_id }) : undefined
  const hashes = intent?.hashes ?? []
  const found = await Promise.all(
    hashes.map((hash) => chain.client.getTransaction({ hash }).catch(() => undefined)),
  )
  return {
    row: row?.state ?? 'none',
    intent: intent?.state ?? 'none',
    stored: hashes.length,
    known: found.filter((each) => each !== undefined).length,
    mined: found.filter((each) => each?.blockNumber != null).length,
  }
}

/** Mines block after block until an answer comes. */
export async function whileMining<T>({ chain }: TestFacilitator, answer: Promise<T>): Promise<T> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  answer.then(end, end)
  await eventually(async () => {
    await chain.client.mine({ blocks: 1 })
    return isOver
  }).toBe(true)
  return answer
}

/** By the clock that never jumps, which here does, for everything in this process until mocks are restored. */
export function passSeconds(seconds: number): void {
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + seconds * 1_000)
}

/** As ANSWER_TIMEOUT_MS of a facilitator in this process: no other timer has it. */
export const DEADLINE_MS = 30_001

export interface Deadlines {
  /** The time is over for so many callers, when they have come so far that it runs. */
  pass(callers: number): Promise<void>
}

/** The time for an answer is over when a test says so, not when a busy machine was slow; until mocks are restored. */
export function holdDeadlines(): Deadlines {
  const waiting: (() => void)[] = []
  const start = globalThis.setTimeout
  const watched = (work: () => void, ms?: number, ...given: unknown[]) => {
    if (ms === DEADLINE_MS) waiting.push(work)
    return start(work, ms, ...(given as []))
  }
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(watched as unknown as typeof setTimeout)
  return {
    async pass(callers) {
      await eventually(() => waiting.length).toBe(callers)
      for (const end of waiting.splice(0)) end()
    },
  }
}

/** Nothing waits to be sent or mined: no nonce was left out. */
export async function expectNothingOpen({ sql, chain, relayers }: TestFacilitator): Promise<void> {
  await eventually(async () => {
    const [row] = await sql<{ open: number }[]>`
      SELECT count(*)::int AS open FROM sender.intents WHERE state IN ('enqueued', 'sent')`
    return row?.open
  }).toBe(0)
  for (const { address } of relayers) {
    const count = (blockTag: 'latest' | 'pending') => chain.client.getTransactionCount({ address, blockTag })
    expect(await count('pending')).toBe(await count('latest'))
  }
  expect((await chain.client.getBlock({ blockTag: 'pending' })).transactions).toEqual([])
}

export const successOf = (
  purchase: Purchase,
  transaction: unknown = expect.stringMatching(/^0x[0-9a-f]{64}$/),
) => ({
  success: true,
  transaction,
  network: expect.stringMatching(/^eip155:\d+$/),
  payer: purchase.buyer.address,
})

export const usedIn = (transaction: Hash | null) => ({
  success: false,
  errorReason: 'invalid_payment',
  errorMessage: 'authorization already used',
  transaction,
})

/** Whether it was this request or an earlier one that settled it, it says in which transaction. */
export function expectOnce({ status, body }: Answer, purchase: Purchase, transaction: Hash | null): void {
  expect(status).toBe(200)
  if (body.success) expect(body).toEqual(successOf(purchase, transaction))
  else expect(body).toMatchObject(usedIn(transaction))
}
