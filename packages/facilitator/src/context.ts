import type { NodeCheck, RpcPool } from '@referrer/chain'
import type { Sql } from '@referrer/database'
import type { Lookup } from '@referrer/net'
import { type Limits, oncePer, type Secret, type Tracing } from '@referrer/process'
import type { AttestationKey, Recovery, X402 } from '@referrer/protocol'
import type { Logger } from 'pino'
import type { Address, LocalAccount } from 'viem'
import type { Config } from './config.ts'

/** One chain that payments are settled on. */
export interface Chain {
  chainId: number
  network: X402.Network.Network
  rpc: RpcPool
  contracts: {
    SplitRouter: Address
    CommissionEscrow: Address
    MerchantRegistry: Address
    IdentityRegistry: Address
    USDC: Address
  }
  /** The EIP-712 domain of USDC, as its contract tells it. */
  token: { name: string; version: string }
  /** The keys that sign valid ref links. */
  ring: AttestationKey.KeyRing
  /** The accounts that send; each holds the settler's role. */
  relayers: readonly [LocalAccount, ...LocalAccount[]]
  /** Accounts that are being replaced: they send what they have begun, and get nothing new. */
  retiring: readonly LocalAccount[]
  /** What keeps the remote signer of the accounts from signing; undefined: nothing, or there is none. */
  signerTrouble(): Promise<string | undefined>
  /** Which of them can send, now. */
  relayerPool: RelayerPool
  /** Depth in blocks from which a transaction is final, ours or somebody else's. */
  confirmations: number
  maxFeePerGas: bigint
  /** Whether its nodes serve this chain, with these contracts, and go on. */
  checkNodes: NodeCheck
  /** The least that is settled, in base units. */
  leastAmount: bigint
  /** The platform's share of a commission. */
  feeBps: number
}

/** The relayers of a chain. */
export interface RelayerPool {
  /** Those that can settle, as far as is known; if none can, those that have the role; if none has, all. */
  available(): [Address, ...Address[]]
  /** It could not send: for a while only the others are available. */
  suspend(relayer: Address): void
  /** Reads the roles every few seconds, until the signal. */
  run(signal: AbortSignal): Promise<void>
}

/** Whatever touches the outside world comes from here, so that tests can set it. */
export interface Context {
  config: Config
  sql: Sql
  /** For the sender, which needs connections of its own. */
  databaseUrl: Secret
  chains: ReadonlyMap<number, Chain>
  /** Milliseconds since 1970. */
  clock: () => number
  log: Logger
  /** Rate limits of clients, which replicas share. */
  limits: Limits
  tracing: Tracing
  /** For the nodes and the marketplace. Addresses that strangers name are fetched by `guardedFetch`. */
  fetch: typeof fetch
  lookup: Lookup
  recovery: Recovery.Recovery
}

/** Something that is made once for a context and lives as long as it does. */
export const once = oncePer<Context>()
