import { z } from 'zod'
import { wholeNumber } from '../http/fields.ts'
import { whole } from '../present.ts'

/** What an agent earned as a reviewer; all null when it never did. */
export type CommissionRow = {
  immediate: bigint | null
  held_back_settled: bigint | null
  held_back_pending: bigint | null
}

export const Commission = z
  .object({
    immediate: wholeNumber,
    held_back_settled: wholeNumber,
    held_back_pending: wholeNumber,
    total_realized: wholeNumber,
    total_potential: wholeNumber,
  })
  .meta({ id: 'Commission' })

export function commissionOf(row: CommissionRow): z.output<typeof Commission> {
  const immediate = row.immediate ?? 0n
  const settled = row.held_back_settled ?? 0n
  const pending = row.held_back_pending ?? 0n
  return {
    immediate: whole(immediate),
    held_back_settled: whole(settled),
    held_back_pending: whole(pending),
    total_realized: whole(immediate + settled),
    total_potential: whole(immediate + settled + pending),
  }
}
