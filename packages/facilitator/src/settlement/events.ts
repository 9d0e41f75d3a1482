import type { SenderEvent } from '@referrer/chain'
import type { Outcome } from './states.ts'
import type { SettlementStatus } from './types.ts'

/** What there is to count and to log. */
export type SettlementEvent = { chainId: number } & (
  | { type: 'sending'; size: number; intent: bigint; requestIds: readonly string[] }
  | {
      type: 'ended'
      status: Exclude<SettlementStatus, 'pending' | 'unknown'> | 'refused'
      seconds: number
      requestId: string | undefined
    }
  /** Its block is too deep for a reorganisation. `seconds`: since the payment came first. */
  | { type: 'final'; status: Outcome; seconds: number }
  | { type: 'sender'; event: SenderEvent }
)

export type OnSettlement = (event: SettlementEvent) => void
