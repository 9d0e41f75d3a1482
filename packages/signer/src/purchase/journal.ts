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

/** The purchases of one wallet on one chain. */
export function openJournal(stateDir: string, chainId: number, payer: Address): Journal {
  const folder = join(stateDir, 'purchases', `${chainId}-${payer.toLowerCase()}`)
  const nameOf = ({ key, nonce }: Entry) => join(folder, key ? `key-${key}` : `nonce-${nonce}`)
  return {
    async listOpen() {
      const names = await namesIn(folder)
      const entries = await Promise.all(
        names.filter((name) => name.endsWith(OPEN)).map((name) => readEntry(join(folder, name))),
      )
      return entries.filter((entry) => entry !== undefined)
    },
    async findByKey(key) {
      const name = join(folder, `key-${key}`)
      return (await readEntry(name + OPEN)) ?? (await readEntry(name + CLOSED))
    },
    async record(entry) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      for (const parent of [stateDir, dirname(folder)]) await sync(parent)
      await writeSafely(folder, nameOf(entry) + OPEN, entry)
    },
    async close(entry, outcome) {
      await writeSafely(folder, nameOf(entry) + CLOSED, { ...entry, outcome })
      await rm(nameOf(entry) + OPEN, { force: true })
    },
  }
}

export const keyHash = (idempotencyKey: string): Hex =>
  keccak256(stringToBytes(`referrer-signer ${idempotencyKey}`))

/** Of all wallets. */
export async function listAllOpen(stateDir: string): Promise<Entry[]> {
  const folder = join(stateDir, 'purchases')
  const names = await namesIn(folder)
  const wallets = names.flatMap((name) => {
    const [, chainId, payer] = /^(\d+)-(0x[0-9a-f]{40})$/.exec(name) ?? []
    return payer ? [openJournal(stateDir, Number(chainId), payer as Address)] : []
  })
  return (await Promise.all(wallets.map((journal) => journal.listOpen()))).flat()
}

const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw unreadable(folder, error)
  })

const unreadable = (path: string, { code }: NodeJS.ErrnoException) =>
  new Refused(`the journal cannot be read (${code}): make ${path} readable; nothing was paid`)

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

/** Whole or not at all, whenever the power fails. */
async function writeSafely(folder: string, path: string, entry: Entry): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(entry, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  // Windows knows no such thing.
  if (process.platform === 'win32') return
  await sync(folder)
}

/** So that its names are on the disk. */
async function sync(folder: string): Promise<void> {
  const directory = await open(folder)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
