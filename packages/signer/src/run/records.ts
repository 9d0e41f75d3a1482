// What the runner has bought for intents: one file each, open until the intent is marked and the review that it asks for is published.
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { keccak256, stringToBytes } from 'viem'
import { z } from 'zod'
import { Resource } from '../purchase/resource.ts'
import { Refused } from '../refused.ts'
import { namesIn, readText, sync, writeSafely } from '../safe-files.ts'

const Vote = z.object({ review_id: z.int(), reasoning: z.string() })

const IntentRecord = z.object({
  intentId: z.string(),
  /** The name of the product. */
  name: z.string(),
  merchantId: z.int(),
  productId: z.string(),
  /** The review whose link was paid, by its id on the chain. */
  reviewId: z.int(),
  escrowId: z.int(),
  transaction: z.string().nullable(),
  /** USDC base units; null when another machine paid. */
  amount: z.string().nullable(),
  boughtAt: z.string(),
  /** What the shop served; null when it served nothing to this runner. */
  resource: Resource.nullable(),
  /** What the owner is told. */
  result: z.string(),
  isMarked: z.boolean(),
  /** Null when the intent asks for none. */
  review: z
    .object({
      /** Over: the time for a review has passed. */
      state: z.enum(['due', 'published', 'over']),
      tries: z.int(),
      /** Milliseconds. */
      nextAt: z.number(),
      /** What is being published: the text on the chain and that at the marketplace must be the same. */
      draft: z.object({ votes: z.array(Vote), content: z.string() }).nullable(),
    })
    .nullable(),
})
export type IntentRecord = z.output<typeof IntentRecord>

export interface Records {
  find(intentId: string): Promise<IntentRecord | undefined>
  listOpen(): Promise<IntentRecord[]>
  /** Resolves once the record is synced to disk. */
  save(record: IntentRecord): Promise<void>
  /** A name for locks: processes with the same journal share it. */
  stemOf(intentId: string): string
}

const OPEN = '.open.json'
const CLOSED = '.json'

/** Once the intent is marked, only the review changes the record. */
export const isReviewDue = ({ isMarked, review }: IntentRecord): boolean =>
  isMarked && review?.state === 'due'

/** The intents of one agent on one chain. */
export function openRecords(stateDir: string, chainId: number, agentId: string): Records {
  const folder = join(stateDir, 'intents', `${chainId}-${agentId}`)
  // The marketplace chooses the ids, so a hash is the name of the file.
  const stemOf = (intentId: string) =>
    `intent-${keccak256(stringToBytes(`${chainId} ${agentId} ${intentId}`)).slice(2, 34)}`
  const pathOf = (intentId: string) => join(folder, stemOf(intentId))
  return {
    stemOf,
    find: async (intentId) =>
      (await readRecord(pathOf(intentId) + OPEN)) ?? (await readRecord(pathOf(intentId) + CLOSED)),
    async listOpen() {
      const names = (await namesIn(folder)).filter((name) => name.endsWith(OPEN))
      const records = await Promise.all(names.map((name) => readRecord(join(folder, name))))
      return records
        .filter((record) => record !== undefined)
        .toSorted((a, b) => a.boughtAt.localeCompare(b.boughtAt))
    },
    async save(record) {
      const path = pathOf(record.intentId)
      const isOpen = !record.isMarked || isReviewDue(record)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      for (const parent of [stateDir, dirname(folder)]) await sync(parent)
      await writeSafely(folder, path + (isOpen ? OPEN : CLOSED), `${JSON.stringify(record, null, 2)}\n`)
      if (!isOpen) await rm(path + OPEN, { force: true })
    },
  }
}

async function readRecord(path: string): Promise<IntentRecord | undefined> {
  const text = await readText(path)
  if (text === undefined) return undefined
  try {
    return IntentRecord.parse(JSON.parse(text))
  } catch {
    throw new Refused(`the record ${path} is damaged: move the file away; nothing was paid`)
  }
}
