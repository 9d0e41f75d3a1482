import type { Abi, Address, Hex, LocalAccount } from 'viem'
import type { Leadership } from '../leadership.ts'
import type { RpcPool } from '../rpc/index.ts'
import type { Fees } from './fees.ts'
import type { Handed } from './sight.ts'

/** `sent` holds until the outcome is final: mined, deep enough, on the chain that all nodes agree on. */
export type TransactionState = 'enqueued' | 'sent' | 'confirmed' | 'failed'

/** Something that is to happen once on a chain. */
export interface Intent {
  id: bigint
  to: Address
  data: Hex
  value: bigint
}

/** An intent that waits for its turn. */
export interface Waiting extends Intent {
  /** From whoever enqueued it. */
  knownGas: bigint | null
  /** What it may take; null: whatever it does. */
  maxGas: bigint | null
  reason: string | null
  reverts: number
  afterNonce: number | null
}

export interface Signed extends Fees {
  hash: Hex
  raw: Hex
  signedAt: Date
}

/** An intent that has a nonce and whose outcome is not final. */
export interface Flight extends Intent {
  nonce: number
  gas: bigint
  fillsGap: boolean
  reason: string | null
  mined: Mined | null
  /** All that were signed with this nonce, oldest first. */
  signed: Signed[]
}

export interface Mined {
  hash: Hex
  blockNumber: number
  blockHash: Hex
}

export type SenderEvent = { signer: Address } & (
  | { type: 'active' }
  /** Signed and known to nobody yet; then in the database; then given to the nodes. */
  | { type: 'signed' | 'stored' | 'broadcast'; intent: bigint; nonce: number; hash: Hex }
  /** `lacksFunds`: told of the signer already, for all that waits. */
  | { type: 'waiting'; intent: bigint; reason: string; lacksFunds: boolean }
  /** The account cannot pay for what is in the line; told once, until it can pay for all of it. */
  | { type: 'unfunded'; reason: string }
  | { type: 'funded' }
  | { type: 'mined'; intent: bigint; hash: Hex; blockNumber: number }
  | { type: 'reorganised'; intent: bigint }
  | { type: 'confirmed'; intent: bigint; hash: Hex }
  | { type: 'failed'; intent: bigint; reason: string }
  | { type: 'nonce-lost'; intent: bigint; nonce: number }
  | { type: 'gap'; nonce: number; filledBy: 'intent' | 'nothing' }
  | { type: 'trouble'; error: Error; retryInMs: number }
  /** After trouble all went well, or this process waits while another one sends. */
  | { type: 'recovered' }
)

/** What the steps of one signer share. */
export interface Desk {
  chainId: number
  account: LocalAccount
  rpc: RpcPool
  leadership: Leadership
  confirmations: number
  stuckAfterMs: number
  retryAfterMs: number
  maxInFlight: number
  maxFeePerGas: bigint
  errors: Abi
  now: () => Date
  signal: AbortSignal
  emit(event: EventOfSigner): void
  handed: Handed
  /** Since when the chain has waited for a nonce that nothing in flight has. */
  gap: { nonce: number; since: Date } | undefined
  /** While the account cannot pay for all that is in the line: what the cheapest of it costs, where that is known. */
  unfunded: { cheapest: bigint | undefined } | undefined
  /** The intent whose simulation the nodes last left unanswered. */
  stumbledAt: bigint | undefined
}

type WithoutSigner<T> = T extends unknown ? Omit<T, 'signer'> : never
export type EventOfSigner = WithoutSigner<SenderEvent>
