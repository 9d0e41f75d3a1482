// Finds a product, chooses it and buys it. The choice is on disk before anything is paid, so a repeated call goes on with it.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Address, isAddressEqual } from 'viem'
import { z } from 'zod'
import { withBackend } from '../backend.ts'
import { type Chain, connect } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import { type Journal, keyHash, openJournal, SettledOutcome } from '../purchase/journal.ts'
import { withLock } from '../purchase/lock.ts'
import type { Order } from '../purchase/order.ts'
import { type Paid, pay, quote } from '../purchase/pay.ts'
import { Resource, resourceOf } from '../purchase/resource.ts'
import { NotBought, NotSold, ShopAway } from '../refused.ts'
import { Candidate, choose } from './choose.ts'
import { readRecord, saveRecord } from './record.ts'

/** Enough to find four that have a link. */
const ASKED_PRODUCTS = 10

export interface Wish extends Omit<Order, 'refLink' | 'votes'> {
  /** In the words of the user. */
  want: string
  category: string | undefined
  maxAmount: bigint
  idempotencyKey: string
}

const Refusal = z.object({ candidate: Candidate, why: z.string() })

const BuyRecord = z.object({
  /** The order as text: another one may not use the same key. */
  order: z.string(),
  /** The choice, then the alternatives that are left. */
  candidates: z.array(Candidate).min(1),
  /** Those whose shop did not sell. */
  refusals: z.array(Refusal),
  result: z
    .object({
      outcome: SettledOutcome,
      amount: z.string(),
      payer: z.string(),
      resource: Resource,
      notes: z.array(z.string()),
    })
    .nullable(),
})
type BuyRecord = z.output<typeof BuyRecord>

export interface Choice {
  chosen: Candidate
  alternatives: Candidate[]
  refusals: z.output<typeof Refusal>[]
}
export interface Purchase extends Choice {
  result: NonNullable<BuyRecord['result']>
}
export interface Estimate extends Choice {
  amount: bigint
  notes: string[]
}

interface Options {
  wanted: number | undefined
  signal: AbortSignal
}

/** With the same idempotency key it is the same purchase: never a second product, and never paid twice. */
export async function buy(context: Context, wish: Wish, { wanted, signal }: Options): Promise<Purchase> {
  const { SIGNER_STATE_DIR: stateDir } = context.config
  const job = await open(context, wish, wanted)
  return withLock(stateDir, job.name, context.timeouts.lock, async () => {
    let record = await job.read()
    if (!record) {
      record = await begin(context, wish, job)
      await job.save(record)
    }
    for (;;) {
      const [chosen, ...alternatives] = record.candidates as [Candidate, ...Candidate[]]
      if (record.result) {
        await closeEntry(job.journal, wish, record.result.outcome)
        return { chosen, alternatives, refusals: record.refusals, result: record.result }
      }
      const unpaid = record
      const keep = (paid: Paid) => {
        record = { ...unpaid, result: resultOf(paid) }
        return job.save(record)
      }
      try {
        await pay(context, orderOf(wish, chosen), { wanted, signal, keep })
      } catch (error) {
        if (!isUnsold(error) || (await job.journal.findByKey(keyHash(wish.idempotencyKey)))) throw error
        const refusals: Choice['refusals'] = [...record.refusals, { candidate: chosen, why: error.message }]
        if (alternatives.length === 0) {
          // Nothing was signed: the next call with the key may choose anew.
          await rm(job.path, { force: true })
          throw nothingSold(refusals)
        }
        record = { ...record, candidates: alternatives, refusals }
        await job.save(record)
      }
    }
  })
}

/** What would be bought now, for how much. Signs no payment and writes nothing. */
export async function estimate(
  context: Context,
  wish: Wish,
  { wanted }: Pick<Options, 'wanted'>,
): Promise<Estimate> {
  const job = await open(context, wish, wanted)
  const record = (await job.read()) ?? (await begin(context, wish, job))
  const refusals = [...record.refusals]
  for (const [at, chosen] of record.candidates.entries()) {
    try {
      const { amount, notes } = await quote(context, orderOf(wish, chosen), { wanted })
      return { chosen, alternatives: record.candidates.slice(at + 1), refusals, amount, notes }
    } catch (error) {
      if (!isUnsold(error)) throw error
      refusals.push({ candidate: chosen, why: error.message })
    }
  }
  throw nothingSold(refusals)
}

const isUnsold = (error: unknown): error is NotSold | ShopAway =>
  error instanceof NotSold || error instanceof ShopAway

const nothingSold = (refusals: Choice['refusals']) =>
  new NotBought(
    `no shop sells it now: ${refusals.map(({ candidate, why }) => `${JSON.stringify(candidate.name)}: ${why}`).join(' | ')}`,
  )

interface Job {
  chain: Chain
  payer: Address
  journal: Journal
  name: string
  path: string
  read(): Promise<BuyRecord | undefined>
  save(record: BuyRecord): Promise<void>
}

async function open(context: Context, wish: Wish, wanted: number | undefined): Promise<Job> {
  const { keys, SIGNER_STATE_DIR: stateDir } = context.config
  const { address: payer } = wish.agentId === undefined ? keys.ofNoAgent() : keys.ofAgent(wish.agentId)
  const chain = await connect(context, wanted)
  const name = `buy-${keyHash(`${chain.chainId} ${payer} ${wish.idempotencyKey}`).slice(2)}`
  const path = join(stateDir, 'jobs', `${name}.json`)
  return {
    chain,
    payer,
    journal: openJournal(stateDir, chain.chainId, payer),
    name,
    path,
    async read() {
      const record = await readRecord(path, BuyRecord)
      if (record && record.order !== textOf(wish)) {
        throw new NotBought(
          'this idempotency_key belongs to a purchase with other arguments: repeat exactly those, or take another key; nothing was paid',
        )
      }
      return record
    },
    save: (record) => saveRecord(stateDir, path, record),
  }
}

/** Asks the marketplace. */
async function begin(context: Context, wish: Wish, { chain, payer }: Job): Promise<BuyRecord> {
  const { keys, MAX_PER_PURCHASE: limit } = context.config
  const most = limit !== undefined && limit < wish.maxAmount ? limit : wish.maxAmount
  const asked = {
    intent: wish.want,
    ...(wish.category !== undefined && { category: wish.category }),
    ...(most <= BigInt(Number.MAX_SAFE_INTEGER) && { price_ceiling: Number(most) }),
    max_products: ASKED_PRODUCTS,
    chain_id: chain.chainId,
  }
  const found = await withBackend(context, (ask) => ask('discover_products', asked))
  const own = keys.agents.filter((agentId) => isAddressEqual(keys.ofAgent(agentId).address, payer))
  const candidates = choose(found, { most, own: new Set([...own, ...(wish.agentId ? [wish.agentId] : [])]) })
  if (candidates.length === 0) {
    throw new NotBought(
      `nothing that matches costs at most ${most} USDC base units and has a ref link of somebody else: say it in other words, leave out category, or raise max_amount; nothing was paid`,
    )
  }
  return { order: textOf(wish), candidates, refusals: [], result: null }
}

const textOf = ({ want, category, maxAmount, agentId, query, posted }: Wish): string =>
  JSON.stringify({ want, category, maxAmount: String(maxAmount), agentId, query, posted })

const orderOf = ({ want: _, category: __, ...order }: Wish, { refLink }: Candidate): Order => ({
  ...order,
  refLink,
  votes: undefined,
})

const resultOf = ({ money, amount, payer, answer, notes }: Paid): NonNullable<BuyRecord['result']> => ({
  outcome: { ...money, isServed: true },
  amount: String(amount),
  payer,
  resource: resourceOf(answer),
  notes,
})

/** A process that was killed after it had stored the result has left the entry open. */
async function closeEntry(
  journal: Journal,
  { idempotencyKey }: Wish,
  outcome: z.output<typeof SettledOutcome>,
): Promise<void> {
  const entry = await journal.findByKey(keyHash(idempotencyKey))
  if (entry && entry.outcome === null) await journal.close(entry, outcome)
}
