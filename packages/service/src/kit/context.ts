import type { RpcPool } from '@referrer/chain'
import type { Sql } from '@referrer/database'
import type { Lookup } from '@referrer/net'
import { type ChainConfig, oncePer, type Secret } from '@referrer/process'
import type { Recovery } from '@referrer/protocol'
import type { Logger } from 'pino'
import type { WorkerHealth } from '../machinery/workers/frame.ts'
import type { Attestation } from './attestation.ts'
import type { Config } from './config.ts'

/** How far the records of one chain are. */
export interface ChainHealth {
  chainId: number
  /** The chain's newest block, and the newest in the records. */
  head: bigint | null
  indexed: bigint | null
  lagSeconds: number | null
  /** How old the newest block is: of a chain that stands still, or whose nodes all do. */
  headAgeSeconds: number | null
  /** Whether this replica writes the records. */
  isActive: boolean
  error: string | null
}

/** The service's own transactions in one state on one chain. */
export interface SenderHealth {
  chainId: number
  state: string
  count: number
  /** Age of the oldest of them. */
  oldestSeconds: number
}

export interface Chain {
  config: ChainConfig
  rpc: RpcPool
  /** Signs ref links; none: reviews of this chain have no link. */
  attestation: Attestation | undefined
}

/** The one bag: whatever touches the world outside comes from here, so that tests can set it. */
export interface Context {
  config: Config
  sql: Sql
  /** For those who need a connection of their own. */
  databaseUrl: Secret
  chains: ReadonlyMap<number, Chain>
  /** Milliseconds since 1970. */
  clock: () => number
  log: Logger
  /** For nodes of the chains. Addresses that users give are fetched with a guard. */
  fetch: typeof fetch
  lookup: Lookup
  /** Tells who signed. */
  recovery: Recovery.Recovery
  chainHealth(): Promise<ChainHealth[]>
  senderHealth(): Promise<SenderHealth[]>
  workerHealth(): WorkerHealth[]
}

/** Something that is made once for a context and lives as long as it does. */
export const once = oncePer<Context>()
