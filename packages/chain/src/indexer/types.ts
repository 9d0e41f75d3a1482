import type { Address, Hex } from 'viem'

export interface Block {
  number: bigint
  hash: Hex
  parentHash: Hex
  /** Seconds since 1970, by the chain's own clock. */
  timestamp: bigint
  logsBloom: Hex
}

/** A log with the time of its block. */
export interface Log {
  address: Address
  topics: Hex[]
  data: Hex
  blockNumber: bigint
  blockHash: Hex
  timestamp: bigint
  transactionHash: Hex
  logIndex: number
}

export interface LogFilter {
  addresses: Address[]
  /** Which events: the first topic is one of these. */
  events: Hex[]
}

/** The newest block that was applied. */
export interface Checkpoint {
  number: bigint
  hash: Hex
  timestamp: bigint
  /** Blocks up to this one are final. */
  final: bigint
}
