// The text of a review between the chain and the market. Whoever loses it then cannot show what was published, so the browser keeps it.
import type { Hash } from 'viem'

export interface Draft {
  /** The exact characters that are hashed. */
  content: string
  /** The transaction that publishes it, once it was sent. */
  transaction: Hash | null
}

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Not by the number of the escrow: a sandbox that began anew has escrows of the same numbers. */
const keyOf = (purchase: { transaction: string; escrow_id: number }) =>
  `review of ${purchase.transaction} ${purchase.escrow_id}`

type Purchase = Parameters<typeof keyOf>[0]

export function readDraft(purchase: Purchase, store: Store = localStorage): Draft | undefined {
  const text = store.getItem(keyOf(purchase))
  if (text === null) return undefined
  try {
    const { content, transaction } = JSON.parse(text) as Draft
    return typeof content === 'string' ? { content, transaction: transaction ?? null } : undefined
  } catch {
    return undefined
  }
}

export const saveDraft = (purchase: Purchase, draft: Draft, store: Store = localStorage): void =>
  store.setItem(keyOf(purchase), JSON.stringify(draft))

export const removeDraft = (purchase: Purchase, store: Store = localStorage): void =>
  store.removeItem(keyOf(purchase))
