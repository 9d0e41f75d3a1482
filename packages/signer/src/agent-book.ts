// Which agents the keys of the key store own, and registrations on their way: `agents.json` in the state folder. Only setup writes it.
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Address, type Hash, isAddressEqual } from 'viem'
import { z } from 'zod'
import { Refused } from './refused.ts'
import { writeSafely } from './safe-files.ts'

const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => text as Address)

const Book = z.object({
  agents: z.array(
    z.object({ chainId: z.int(), agentId: z.string().regex(/^(?:0|[1-9]\d{0,77})$/), address }),
  ),
  /** Stored before they are sent. All have one nonce, so that the chain takes one of them at most. */
  registrations: z.array(
    z.object({
      chainId: z.int(),
      address,
      nonce: z.int(),
      hashes: z.array(
        z
          .string()
          .regex(/^0x[0-9a-fA-F]{64}$/)
          .transform((text) => text as Hash),
      ),
    }),
  ),
})

export type Book = z.output<typeof Book>
export type BookedAgent = Book['agents'][number]
export type Registration = Book['registrations'][number]

const pathOf = (stateDir: string) => join(stateDir, 'agents.json')

/** Read anew by every call: another process may have set an agent up. */
export function readBook(stateDir: string): Book {
  const path = pathOf(stateDir)
  try {
    return Book.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { agents: [], registrations: [] }
    throw new Refused(`${path} cannot be read: it should be as setup has written it`)
  }
}

/** Resolves once the book is synced to disk. */
export async function writeBook(stateDir: string, book: Book): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 })
  await writeSafely(stateDir, pathOf(stateDir), `${JSON.stringify(book, null, 2)}\n`)
}

interface Wallet {
  chainId: number
  address: Address
}

export const isOf =
  (wallet: Wallet) =>
  (entry: Wallet): boolean =>
    entry.chainId === wallet.chainId && isAddressEqual(entry.address, wallet.address)
