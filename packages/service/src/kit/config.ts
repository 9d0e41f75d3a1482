// What the service is configured with; `app/config.ts` reads it.
import type { CommonConfig, Secret } from '@referrer/process'
import type { Address, Hex } from 'viem'

export interface Config extends CommonConfig {
  maxLagSeconds: number
  maxLagBlocks: number | undefined
  oraclePrivateKey: Secret<Hex> | undefined
  publisherPrivateKey: Secret<Hex> | undefined
  /** Where callers reach the service; ref links begin with it. */
  publicUrl: string
  facilitatorUrl: string | undefined
  /** Ed25519 seeds of each chain: the first signs, the second is the one before it. */
  attestationSeeds: ReadonlyMap<number, readonly Secret<Hex>[]>
  adminAddresses: ReadonlySet<Address>
  /** Origins of pages that may call signed routes. */
  consoleOrigins: readonly string[]
  /** Names beside that of `publicUrl` under which MCP clients may call. */
  mcpHosts: readonly string[]
  sessionSeconds: number
  /** Of those on `adminAddresses`. */
  adminSessionSeconds: number
  /** What may be kept for one owner or client on a day (UTC), and for all clients together. */
  bytesPerDay: {
    proofsOfOwner: number
    intentsOfOwner: number
    unsignedProofsOfClient: number
    unsignedProofs: number
    limitsOfClient: number
  }
  /** A proof that nobody signed is forgotten after so long. */
  unsignedProofDays: number
  /** To answer a request. A database that is silent must not hold callers for ever. */
  answerTimeoutMs: number
  /** A directory of JSON files with schemas of reviews, one for each category. */
  reviewSchemas: string | undefined
  /** The commission, in base units, from which on a purchase counts in full for ranks. */
  fullCommission: bigint
  /** Undefined: discovery goes by words alone. */
  embedder: EmbedderConfig | undefined
  /** Where discovery looks for products: in this process, or in Postgres with pgvector. */
  discoveryIndex: 'memory' | 'postgres'
  /** A catalogue of x402 resources; undefined: none is asked. */
  catalogueUrl: string | undefined
  /** Whether owners can queue purchases for their agents. */
  hasIntents: boolean
  /** Undefined: wallets cannot be linked to chats. */
  messenger: MessengerConfig | undefined
}

export interface MessengerConfig {
  /** As the messenger knows it, without the @. */
  botName: string
  /** How long a code that links a wallet to a chat is valid. */
  codeSeconds: number
}

/** The model that comes with the service, or one behind an endpoint like that of OpenAI. */
export type EmbedderConfig =
  | { kind: 'local' }
  | { kind: 'endpoint'; url: string; model: string; dims: number; key: Secret | undefined }
