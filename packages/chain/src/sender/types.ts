import type { Abi, Address, Hex, LocalAccount } from 'viem'
import type { Leadership } from '../leadership.ts'
import type { RpcPool } from '../rpc/index.ts'
import type { Fees } from './fees.ts'
import type { RecentBroadcasts } from './recent-broadcasts.ts'

/** `sent` holds until the outcome is final: mined, deep enough, on the chain that all nodes agree on. */
export type TransactionState = 'enqueued' | 'sent' | 'confirmed' | 'failed'

/** The requests and traces (W3C `traceparent`) that a transaction comes from, for logs and traces only. */
export interface Origin {
  requestIds: readonly string[]
  traceparents: readonly string[]
}

/** A call that must take effect once on a chain. */
export interface Intent {
  id: bigint
  to: Address
  data: Hex
  value: bigint
  origin: Origin
}

/** An enqueued intent. */
export interface Waiting extends Intent {
  /** The gas limit given by the caller who enqueued it. */
  knownGas: bigint | null
  /** The most gas it may take; null for no limit. */
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
  /** All transactions signed with this nonce, oldest first. */
  signed: Signed[]
}

export interface Mined {
  hash: Hex
  blockNumber: number
  blockHash: Hex
}

/** Events of an intent carry its origin, once it was read. */
export type SenderEvent = { signer: Address; origin?: Origin | undefined } & (
  | { type: 'active' }
  /** Signed, but only in memory; then stored in the database; then sent to the nodes. */
  | { type: 'signed' | 'stored' | 'broadcast'; intent: bigint; nonce: number; hash: Hex }
  /** `lacksFunds`: already reported once for the signer by `unfunded`. */
  | { type: 'waiting'; intent: bigint; reason: string; lacksFunds: boolean }
  /** The account cannot pay for its enqueued intents. Emitted once, until it can pay for all of them. */
  | { type: 'unfunded'; reason: string }
  | { type: 'funded' }
  | { type: 'mined'; intent: bigint; hash: Hex; blockNumber: number }
  | { type: 'reorganised'; intent: bigint }
  | { type: 'confirmed'; intent: bigint; hash: Hex }
  | { type: 'failed'; intent: bigint; reason: string }
  | { type: 'nonce-lost'; intent: bigint; nonce: number }
  | { type: 'gap'; nonce: number; filledBy: 'intent' | 'nothing' }
  | { type: 'trouble'; error: Error; retryInMs: number }
  /** After a failure a round succeeded, or this process is on standby while another one sends. */
  | { type: 'recovered' }
)

/** The account did not sign: its remote signer is away, refuses, or answered something else. */
export class SigningError extends Error {
  override readonly name = 'SigningError'
}

/** The options and state that the steps of one signer share. */
export interface SignerContext {
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
  recentBroadcasts: RecentBroadcasts
  /** Of the intents that are open in this process. */
  origins: Map<bigint, Origin>
  /** The nonce that the chain waits for and no transaction in flight has, and since when. */
  gap: { nonce: number; since: Date } | undefined
  /** Set while the account cannot pay for all enqueued intents, with the cost of the cheapest where it is known. */
  unfunded: { cheapest: bigint | undefined } | undefined
  /** The intent whose last simulation got no answer from the nodes. */
  lastUnanswered: bigint | undefined
  /** Why something was not signed, as long as it waits for its signature. */
  unsigned: SigningError | undefined
}

type WithoutSigner<T> = T extends unknown ? Omit<T, 'signer' | 'origin'> : never
export type EventOfSigner = WithoutSigner<SenderEvent>
