// The configuration of the service; `app/config.ts` reads it from the environment.
import type { CommonConfig, KeysConfig, OwnAccount, Secret, VaultConfig } from '@referrer/process'
import type { Address, Hex } from 'viem'
import type { AttestationSource } from './attestation.ts'

/**
 * What a process of the service does. `api`: HTTP with the search index, MCP and webhooks. `indexer`: reads the chains. `workers`: sends
 * transactions, runs schedules, follows changes, embeds texts, sends notices, polls chats.
 */
export const ROLES = ['api', 'indexer', 'workers'] as const
export type Role = (typeof ROLES)[number]

export interface Config extends CommonConfig {
  /** Streaming replicas of the database, which serve reads. */
  replicaUrls: readonly Secret[]
  /** A replica that lags behind more is not used. */
  maxReplicaLagSeconds: number
  roles: ReadonlySet<Role>
  maxLagSeconds: number
  maxLagBlocks: number | undefined
  /** The account that records the oracle's decisions on-chain; without it this market has no oracle. */
  oracle: OwnAccount | undefined
  /** The account that publishes reviews for others. */
  publisher: OwnAccount | undefined
  keys: KeysConfig
  /** Base URL at which callers reach the service; ref links begin with it. */
  publicUrl: string
  facilitatorUrl: string | undefined
  faucetUrl: string | undefined
  /** Where the keys of ref links are, by chain id. */
  attestation: ReadonlyMap<number, AttestationSource>
  vault: VaultConfig | undefined
  adminAddresses: ReadonlySet<Address>
  /** Origins of web pages that may call authenticated routes (CORS). */
  consoleOrigins: readonly string[]
  /** Accounts of a sandbox that people sign in with; only on chains with play money. */
  consoleAccounts: readonly { name: string; privateKey: Secret<Hex> }[]
  /** Host names, besides that of `publicUrl`, that MCP requests may have in their Host header. */
  mcpHosts: readonly string[]
  sessionSeconds: number
  /** Lifetime of the sessions of `adminAddresses`. */
  adminSessionSeconds: number
  /** How many bytes may be stored on one day (UTC): for each owner, for each client, and for all clients together. */
  bytesPerDay: {
    proofsOfOwner: number
    intentsOfOwner: number
    unsignedProofsOfClient: number
    unsignedProofs: number
    limitsOfClient: number
  }
  /** A proof that was submitted without a signature is deleted after this many days. */
  unsignedProofDays: number
  /** How many proofs a machine may approve by their receipts on one day (UTC); beyond that admins decide. */
  receiptApprovals: { ofMerchant: number; ofAgent: number; all: number }
  /** Time limit for the answer to a request, so that a database that hangs does not hold callers for ever. */
  answerTimeoutMs: number
  /** Directory with the JSON schemas of reviews, one file for each category. */
  reviewSchemas: string | undefined
  /** Commission, in USDC base units, from which on a purchase has full weight in ranks. */
  fullCommission: bigint
  /** Embedding model of discovery; without one discovery searches by words only. */
  embedder: EmbedderConfig | undefined
  /** Where the search index of discovery is: in the memory of this process, or in Postgres with pgvector. */
  discoveryIndex: 'memory' | 'postgres'
  /** URL of a catalogue of x402 resources that discovery queries too, if any. */
  catalogueUrl: string | undefined
  /** Base URL of an IPFS gateway for registration files, if any. */
  ipfsGatewayUrl: string | undefined
  /** Whether owners can queue purchases (intents) for their agents. */
  hasIntents: boolean
  /**
   * Keys that the secrets of webhooks derive from; the first one makes new secrets, and all of them sign. Without one there are no webhooks.
   */
  webhookKeys: readonly Secret[]
  /** Chats of owners; without them wallets cannot be linked to chats. */
  messenger: MessengerConfig | undefined
}

/** At least one of the two channels is set. */
export interface MessengerConfig {
  /** How long a code that links a wallet to a chat is valid. */
  codeSeconds: number
  /** Base URL of the web console, where codes that were made in a chat are redeemed. */
  consoleUrl: string
  telegram: TelegramConfig | undefined
  webhook: WebhookConfig | undefined
}

export interface TelegramConfig {
  token: Secret
  /** User name of the bot, without the @. */
  botName: string
  /** Base URL of the Bot API. */
  apiRoot: string
  /** Set: Telegram calls us, with this secret. Otherwise one replica polls Telegram. */
  webhookSecret: Secret | undefined
}

/** A messenger of the operator's own that exchanges signed JSON with the service. */
export interface WebhookConfig {
  /** Where messages to people are posted. */
  url: string
  /** Key of the HMAC in both directions. */
  secret: Secret
  /** URL that opens a chat, with `{code}` in place of the code. */
  link: string
}

/**
 * Word vectors learned from the market's own texts, the embedding model that comes with the service, or one behind an
 * OpenAI-compatible endpoint.
 */
export type EmbedderConfig =
  | { kind: 'auto' }
  | { kind: 'learned' }
  | { kind: 'local' }
  | { kind: 'endpoint'; url: string; model: string; dims: number; key: Secret | undefined }
