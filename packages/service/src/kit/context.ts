import type { RpcPool } from '@referrer/chain'
import type { Sql } from '@referrer/database'
import type { Lookup } from '@referrer/net'
import { type ChainConfig, type Limits, oncePer, type Secret, type Tracing } from '@referrer/process'
import type { Recovery } from '@referrer/protocol'
import type { Logger } from 'pino'
import type { Replicas } from '../machinery/replicas/replicas.ts'
import type { WorkerHealth } from '../machinery/workers/frame.ts'
import type { Attestation } from './attestation.ts'
import type { Channel } from './channel.ts'
import type { Config } from './config.ts'

/** How far the index of one chain is. */
export interface ChainHealth {
  chainId: number
  /** Number of the chain's newest block. */
  head: bigint | null
  /** Number of the newest indexed block. */
  indexed: bigint | null
  lagSeconds: number | null
  /** Age of the chain's newest block. It grows when the chain or all its nodes are stalled. */
  headAgeSeconds: number | null
  /** Whether this replica is the leader that indexes the chain. */
  isActive: boolean
  error: string | null
}

/** Count of the service's own transactions in one state on one chain. */
export interface SenderHealth {
  chainId: number
  state: string
  count: number
  /** Age of the oldest of these transactions. */
  oldestSeconds: number
}

export interface Chain {
  config: ChainConfig
  rpc: RpcPool
  /** Keys for ref links; without them the reviews of this chain have no ref link. */
  attestation: Attestation | undefined
  /** How long an answer waits for what it can do without; left out: a second for a node, and up to three for others. */
  optionalReadMs?: number | undefined
}

/** All access to the outside world goes through this object, so that tests can replace it. */
export interface Context {
  config: Config
  /** The primary; where the context is that of a read, it may be a replica. */
  sql: Sql
  /** Replicas for reads, where the deployment has some. */
  replicas?: Replicas | undefined
  /** For code that needs a connection of its own, outside the pool. */
  databaseUrl: Secret
  chains: ReadonlyMap<number, Chain>
  /** The messengers, by name; empty when the deployment has no chats. */
  channels: ReadonlyMap<string, Channel>
  /** Milliseconds since 1970. */
  clock: () => number
  log: Logger
  /** Rate limits of clients, which replicas share. */
  limits: Limits
  tracing: Tracing
  /** Fetches URLs that the operator configured. URLs from users are fetched with `guardedFetch`, which refuses private addresses. */
  fetch: typeof fetch
  lookup: Lookup
  /** Recovers the signer of a signature. */
  recovery: Recovery.Recovery
  chainHealth(): Promise<ChainHealth[]>
  senderHealth(): Promise<SenderHealth[]>
  workerHealth(): WorkerHealth[]
}

/**
 * Creates a value once for each context, on first use. A context that reads from a replica has values of its own: a batch of reads that
 * shares a statement must be one that may be read there.
 */
export const once = oncePer<Context>()

const origins = new WeakMap<Context, Context>()

/** Creates a value once for a context and all that read from its replicas: for threads, models, limits and what is not in the database. */
export function oncePerProcess<T>(make: (context: Context) => T): (context: Context) => T {
  const made = once(make)
  return (context) => made(origins.get(context) ?? context)
}

/** The same context, reading from another server. */
export function readingFrom(context: Context, sql: Sql): Context {
  const reader = { ...context, sql }
  origins.set(reader, context)
  return reader
}
