// Every authorisation is written down before it is sent, so that none is forgotten whatever happens. A purchase has one file: it is open until
// the chain tells what became of the money.
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Address, type Hex, keccak256, stringToBytes } from 'viem'
import { z } from 'zod'
import { Refused } from '../refused.ts'

const hex = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
    .transform((text) => text as Hex)

const Entry = z.object({
  chainId: z.int(),
  payer: hex(20),
  nonce: hex(32),
  salt: hex(32),
  /** Null: in no agent's name. */
  agentId: z.string().nullable(),
  /** Who owned the agent when it was signed, where that is not the payer. */
  agentOwner: hex(20).nullable().default(null),
  merchantId: z.int(),
  productId: hex(32),
  reviewId: z.int(),
  /** What the shop is asked for, and paid with. */
  url: z.string(),
  query: z.string(),
  posted: z.object({ body: z.string(), type: z.string() }).nullable(),
  header: z.string(),
  escrow: hex(20),
  router: hex(20),
  usdc: hex(20),
  /** What follows /r/ in the ref link. */
  token: z.string(),
  amount: z.string(),
  /** Seconds of the chain: from then on the authorisation cannot be used. */
  validBefore: z.int(),
  /** The block before it was sent. */
  fromBlock: z.int(),
  /** A hash of the caller's name for this purchase. */
  key: hex(32).nullable(),
  signedAt: z.string(),
  outcome: z
    .discriminatedUnion('state', [
      z.object({
        state: z.literal('settled'),
        escrowId: z.int(),
        transaction: hex(32).nullable(),
        /** Whether the shop has given what was bought, as far as is known. */
        isServed: z.boolean(),
        /** The block in which it was seen: settled in this one, or before. */
        block: z.int().default(0),
        /** In which points the escrow is not what the link says. */
        differences: z.array(z.string()).default([]),
      }),
      z.object({ state: z.literal('never') }),
      z.object({ state: z.literal('refunded') }),
    ])
    .nullable(),
})

export type Entry = z.output<typeof Entry>
export type Outcome = NonNullable<Entry['outcome']>

export interface Journal {
  /** Those whose outcome is not known. */
  listOpen(): Promise<Entry[]>
  findByKey(key: Hex): Promise<Entry | undefined>
  /** On the disk when it returns. */
  record(entry: Entry): Promise<void>
  close(entry: Entry, outcome: Outcome): Promise<void>
}

const OPEN = '.open.json'
const CLOSED = '.json'
const PURCHASES = 'purchases'
/** A folder for each UTC day, in which a purchase that was signed then has an empty file: its day is counted without reading all others. */
const DAYS = 'days'

const walletOf = (chainId: number, payer: Address) => `${chainId}-${payer.toLowerCase()}`
const stemOf = ({ key, nonce }: Entry) => (key ? `key-${key}` : `nonce-${nonce}`)

/** As signedAt begins. */
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
      // First its day: a purchase that is written down is always counted.
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

/** Of all wallets. */
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

/** What was signed on a day, by all wallets. */
export async function listDay(stateDir: string, day: string): Promise<Entry[]> {
  const names = await namesIn(join(stateDir, DAYS, day))
  const entries = await Promise.all(
    names.map((name) => {
      const [, wallet, stem] = /^(\d+-0x[0-9a-f]{40})\.((?:key|nonce)-0x[0-9a-f]{64})$/.exec(name) ?? []
      return wallet && stem ? readNamed(join(stateDir, PURCHASES, wallet, stem)) : undefined
    }),
  )
  // A purchase of a name that expired may have been signed again on another day.
  return entries.filter((entry): entry is Entry => entry?.signedAt.startsWith(day) ?? false)
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw unreadable(folder, error)
  })

const unreadable = (path: string, { code }: NodeJS.ErrnoException) =>
  new Refused(`the journal cannot be read (${code}): make ${path} readable; nothing was paid`)

const readNamed = async (name: string): Promise<Entry | undefined> =>
  (await readEntry(name + OPEN)) ?? (await readEntry(name + CLOSED))

async function readEntry(path: string): Promise<Entry | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw unreadable(path, error)
  })
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

/** Whole or not at all, whenever the power fails. */
async function writeSafely(folder: string, path: string, text: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await sync(folder)
}

/** So that its names are on the disk. */
async function sync(folder: string): Promise<void> {
  // Windows knows no such thing.
  if (process.platform === 'win32') return
  const directory = await open(folder)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
