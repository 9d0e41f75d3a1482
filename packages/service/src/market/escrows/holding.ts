import type { Queryable } from '@referrer/database'
import type { EscrowRow } from './store.ts'

/** `cashback_released_at` may have any type: only null counts. */
type Held = Pick<EscrowRow, 'held_back' | 'cashback'> & { cashback_released_at: unknown }

/** Whether an escrow holds money that a settlement would pay out. An escrow without money needs no settlement: it ends with its window. */
export const holdsMoney = ({ held_back, cashback, cashback_released_at }: Held): boolean =>
  held_back > 0n || (cashback > 0n && cashback_released_at === null)

/**
 * The same as SQL, for unsettled rows of `chain.escrows`. It must be spelled exactly as in the partial index, so that the index is used.
 */
export const holdingMoney = (sql: Queryable) =>
  sql`(held_back > 0 OR (cashback > 0 AND cashback_released_at IS NULL))`
