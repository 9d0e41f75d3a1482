import { z } from 'zod'
import { whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'

/** The commission of an agent as a reviewer; all null when it has none. */
export type CommissionRow = {
  immediate: bigint | null
  held_back_settled: bigint | null
  held_back_pending: bigint | null
}

export const Commission = z
  .object({
    immediate: baseUnits('Paid with the sale'),
    held_back_settled: baseUnits('Held back and paid later'),
    held_back_pending: baseUnits('Held back still'),
    total_realized: baseUnits('Paid'),
    total_potential: baseUnits('Paid or held back still'),
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
