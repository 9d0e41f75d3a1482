// A write-ahead journal: every authorisation is stored before it is sent, so that none is lost in a crash. A purchase has one file, which is
// open until its outcome on the chain is final.
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Address, type Hex, keccak256, stringToBytes } from 'viem'
import { z } from 'zod'
import { Refused } from '../refused.ts'
import { namesIn, readText, sync, writeSafely } from '../safe-files.ts'
import { Receipt } from './receipt.ts'

const hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
    .transform((text) => text as Hex)

export const SettledOutcome = z.object({
  state: z.literal('settled'),
  escrowId: z.int(),
  transaction: hex(32).nullable(),
  /** Whether the shop has served the product, as far as is known. */
  isServed: z.boolean(),
  /** The block at which it was read as settled: it was settled in this one or before. */
  block: z.int().default(0),
  /** The differences between the escrow and the terms of the link. */
  differences: z.array(z.string()).default([]),
  /** What the shop signed for the payment, if it did. */
  receipt: Receipt.optional(),
})

const Entry = z.object({
  chainId: z.int(),
  payer: hex(20),
  nonce: hex(32),
  salt: hex(32),
  /** Null when no agent buys. */
  agentId: z.string().nullable(),
  /** The owner of the agent at the time of signing, when it is not the payer. */
  agentOwner: hex(20).nullable().default(null),
  merchantId: z.int(),
  productId: hex(32),
  reviewId: z.int(),
  /** The request to the shop, sent for the price and again with the payment. */
  url: z.string(),
  query: z.string(),
  posted: z.object({ body: z.string(), type: z.string() }).nullable(),
  header: z.string(),
  escrow: hex(20),
  router: hex(20),
  usdc: hex(20),
  /** The attribution token: what follows /r/ in the ref link. */
  token: z.string(),
  amount: z.string(),
  /** Unix seconds by the chain, from which the authorisation can no longer be used. */
  validBefore: z.int(),
  /** The newest block before the payment was sent. */
  fromBlock: z.int(),
  /** A hash of the caller's idempotency key. */
  key: hex(32).nullable(),
  signedAt: z.string(),
  outcome: z
    .discriminatedUnion('state', [
      SettledOutcome,
      z.object({ state: z.literal('never') }),
      z.object({ state: z.literal('refunded') }),
    ])
    .nullable(),
})

export type Entry = z.output<typeof Entry>
export type Outcome = NonNullable<Entry['outcome']>

export interface Journal {
  /** The entries without a final outcome. */
  listOpen(): Promise<Entry[]>
  findByKey(key: Hex): Promise<Entry | undefined>
  /** Resolves once the entry is synced to disk. */
  record(entry: Entry): Promise<void>
  close(entry: Entry, outcome: Outcome): Promise<void>
}

const OPEN = '.open.json'
const CLOSED = '.json'
const PURCHASES = 'purchases'
/** A folder for each UTC day with an empty file for each purchase signed that day: a day is counted without reading all entries. */
const DAYS = 'days'

const walletOf = (chainId: number, payer: Address) => `${chainId}-${payer.toLowerCase()}`
const stemOf = ({ key, nonce }: Entry) => (key ? `key-${key}` : `nonce-${nonce}`)

/** The date part of signedAt. */
export const dayOf = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10)

/** The purchases of one wallet on one chain. */
export function openJournal(stateDir: string, chainId: number, payer: Address): Journal {
  const wallet = walletOf(chainId, payer)
  const folder = join(stateDir, PURCHASES, wallet)
  const nameOf = (entry: Entry) => join(folder, stemOf(entry))
  return {
    async listOpen() {
      const names = await namesIn(folder)
      const entries = await Promise.all(
        names.filter((name) => name.endsWith(OPEN)).map((name) => readEntry(join(folder, name))),
      )
      return entries.filter((entry) => entry !== undefined)
    },
    async findByKey(key) {
      return readNamed(join(folder, `key-${key}`))
    },
    async record(entry) {
      const day = join(stateDir, DAYS, entry.signedAt.slice(0, 10))
      for (const made of [folder, day]) await mkdir(made, { recursive: true, mode: 0o700 })
      for (const parent of [stateDir, dirname(folder), dirname(day)]) await sync(parent)
      // The file of the day comes first, so that every stored purchase is counted.
      await writeSafely(day, join(day, `${wallet}.${stemOf(entry)}`), '')
      await writeSafely(folder, nameOf(entry) + OPEN, textOf(entry))
    },
    async close(entry, outcome) {
      await writeSafely(folder, nameOf(entry) + CLOSED, textOf({ ...entry, outcome }))
      await rm(nameOf(entry) + OPEN, { force: true })
    },
  }
}

export const keyHash = (idempotencyKey: string): Hex =>
  keccak256(stringToBytes(`referrer-signer ${idempotencyKey}`))

/** The entries of all wallets. */
export async function listAllOpen(stateDir: string): Promise<Entry[]> {
  const folder = join(stateDir, PURCHASES)
  const names = await namesIn(folder)
  const wallets = names.flatMap((name) => {
    const [, chainId, payer] = /^(\d+)-(0x[0-9a-f]{40})$/.exec(name) ?? []
    return payer ? [openJournal(stateDir, Number(chainId), payer as Address)] : []
  })
  return (await Promise.all(wallets.map((journal) => journal.listOpen()))).flat()
}

/** The UTC days on which something was signed, newest first. */
export const listDays = async (stateDir: string): Promise<string[]> =>
  (await namesIn(join(stateDir, DAYS)))
    .filter((name) => /^\d{4}-\d\d-\d\d$/.test(name))
    .sort()
    .toReversed()

/** The purchases signed on a day, of all wallets. */
export async function listDay(stateDir: string, day: string): Promise<Entry[]> {
  const names = await namesIn(join(stateDir, DAYS, day))
  const entries = await Promise.all(
    names.map((name) => {
      const [, wallet, stem] = /^(\d+-0x[0-9a-f]{40})\.((?:key|nonce)-0x[0-9a-f]{64})$/.exec(name) ?? []
      return wallet && stem ? readNamed(join(stateDir, PURCHASES, wallet, stem)) : undefined
    }),
  )
  // A purchase with the same key may have been signed again on another day after it expired.
  return entries.filter((entry): entry is Entry => entry?.signedAt.startsWith(day) ?? false)
}

const readNamed = async (name: string): Promise<Entry | undefined> =>
  (await readEntry(name + OPEN)) ?? (await readEntry(name + CLOSED))

async function readEntry(path: string): Promise<Entry | undefined> {
  const text = await readText(path)
  if (text === undefined) return undefined
  try {
    return Entry.parse(JSON.parse(text))
  } catch {
    throw new Refused(
      `the journal entry ${path} is damaged: look at the wallet, then move the file away; nothing was paid`,
    )
  }
}

const textOf = (entry: Entry) => `${JSON.stringify(entry, null, 2)}\n`
