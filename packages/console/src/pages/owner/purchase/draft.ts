// The texts of a review between the chain and the market. Whoever loses the one that is published cannot show it any more, so the browser
// keeps each text that a wallet was asked to publish until the market has it.
import type { Hash } from 'viem'

export interface Draft {
  /** The exact characters that are hashed. */
  content: string
  /** The transaction that publishes it and whose end is not known. */
  transaction: Hash | null
}

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Not by the number of the escrow: a sandbox that began anew has escrows of the same numbers. */
const keyOf = (purchase: { transaction: string; escrow_id: number }) =>
  `reviews of ${purchase.transaction} ${purchase.escrow_id}`

type Purchase = Parameters<typeof keyOf>[0]

/** The newest last. */
export function readDrafts(purchase: Purchase, store: Store = localStorage): Draft[] {
  try {
    const kept: unknown = JSON.parse(store.getItem(keyOf(purchase)) ?? '[]')
    if (!Array.isArray(kept)) return []
    return kept
      .filter((one) => typeof one?.content === 'string')
      .map(({ content, transaction }) => ({ content, transaction: transaction ?? null }))
  } catch {
    return []
  }
}

/** The one to go on with: a transaction that may still be mined comes first. */
export const openDraft = (drafts: readonly Draft[]): Draft | undefined =>
  drafts.findLast(({ transaction }) => transaction !== null) ?? drafts.at(-1)

const write = (purchase: Purchase, drafts: Draft[], store: Store): void =>
  drafts.length > 0
    ? store.setItem(keyOf(purchase), JSON.stringify(drafts))
    : store.removeItem(keyOf(purchase))

const others = (purchase: Purchase, content: string, store: Store): Draft[] =>
  readDrafts(purchase, store).filter((one) => one.content !== content)

/** Beside the texts that are there: another tab may have asked its wallet for them. */
export const saveDraft = (purchase: Purchase, draft: Draft, store: Store = localStorage): void =>
  write(purchase, [...others(purchase, draft.content, store), draft], store)

/** A text that was certainly not sent. */
export const forgetDraft = (purchase: Purchase, content: string, store: Store = localStorage): void =>
  write(purchase, others(purchase, content, store), store)

export const removeDrafts = (purchase: Purchase, store: Store = localStorage): void =>
  store.removeItem(keyOf(purchase))
