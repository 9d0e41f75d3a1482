import type { Queryable } from '@referrer/database'
import type { EscrowRow } from './store.ts'

/** The moment, however it is told. */
type Held = Pick<EscrowRow, 'held_back' | 'cashback'> & { cashback_released_at: unknown }

/** Whether anything is left that a settlement would pay to somebody. What holds nothing is over with its window, without a transaction. */
export const holdsMoney = ({ held_back, cashback, cashback_released_at }: Held): boolean =>
  held_back > 0n || (cashback > 0n && cashback_released_at === null)

/** The same, of rows of `chain.escrows` that are not settled; spelled as the index has it. */
export const holdingMoney = (sql: Queryable) =>
  sql`(held_back > 0 OR (cashback > 0 AND cashback_released_at IS NULL))`
