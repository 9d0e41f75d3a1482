// What the runner has bought for intents: one file each, open until the intent is marked and the review that it asks for is published.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { keccak256, stringToBytes } from 'viem'
import { z } from 'zod'
import { Draft } from '../jobs/publish.ts'
import { readRecord, saveRecord } from '../jobs/record.ts'
import { Resource } from '../purchase/resource.ts'
import { namesIn } from '../safe-files.ts'

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
      /** What is being published. */
      draft: Draft.nullable(),
    })
    .nullable(),
})
export type IntentRecord = z.output<typeof IntentRecord>

/** Since when the passes of this machine refuse an intent, in milliseconds. */
const Refusal = z.object({ since: z.number() })

export interface Records {
  find(intentId: string): Promise<IntentRecord | undefined>
  listOpen(): Promise<IntentRecord[]>
  /** Resolves once the record is synced to disk. */
  save(record: IntentRecord): Promise<void>
  /** Since when every pass has refused to buy it; undefined: the last one did not. It counts on only if it is saved again. */
  takeRefusal(intentId: string): Promise<number | undefined>
  saveRefusal(intentId: string, since: number): Promise<void>
  /** A name for locks: processes with the same journal share it. */
  stemOf(intentId: string): string
}

const OPEN = '.open.json'
const CLOSED = '.json'
const REFUSED = '.refused.json'

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
      (await readRecord(pathOf(intentId) + OPEN, IntentRecord)) ??
      (await readRecord(pathOf(intentId) + CLOSED, IntentRecord)),
    async listOpen() {
      const names = (await namesIn(folder)).filter((name) => name.endsWith(OPEN))
      const records = await Promise.all(names.map((name) => readRecord(join(folder, name), IntentRecord)))
      return records
        .filter((record) => record !== undefined)
        .toSorted((a, b) => a.boughtAt.localeCompare(b.boughtAt))
    },
    async takeRefusal(intentId) {
      const path = pathOf(intentId) + REFUSED
      const refusal = await readRecord(path, Refusal)
      await rm(path, { force: true })
      return refusal?.since
    },
    saveRefusal: (intentId, since) => saveRecord(stateDir, pathOf(intentId) + REFUSED, { since }),
    async save(record) {
      const path = pathOf(record.intentId)
      const isOpen = !record.isMarked || isReviewDue(record)
      await saveRecord(stateDir, path + (isOpen ? OPEN : CLOSED), record)
      if (!isOpen) await rm(path + OPEN, { force: true })
    },
  }
}
