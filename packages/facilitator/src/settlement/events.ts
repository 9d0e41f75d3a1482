import type { SenderEvent } from '@referrer/chain'
import type { SettlementStatus } from './types.ts'

/** What there is to count and to log. */
export type SettlementEvent = { chainId: number } & (
  | { type: 'sending'; size: number }
  | { type: 'ended'; status: Exclude<SettlementStatus, 'pending' | 'unknown'> | 'refused'; seconds: number }
  | { type: 'sender'; event: SenderEvent }
)

export type OnSettlement = (event: SettlementEvent) => void
