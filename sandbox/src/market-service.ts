import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Addresses } from '@referrer/contracts/deploy'
import { connect, startPostgres } from '@referrer/database'
import { AttestationKey } from '@referrer/protocol'
import { readConfig, type Service, startService } from '@referrer/service'
import { type Hex, hexToBytes } from 'viem'
import type { SandboxAccount } from './state.ts'

export interface ServiceOptions {
  /** Where the database keeps its files. */
  directory: string
  host: string
  port: number
  rpcUrl: string
  chainId: number
  contracts: Addresses
  accounts: SandboxAccount[]
  logLevel: string
}

const DATABASE = 'market'
/** Deep enough for whoever turns the chain back with evm_revert. */
const FINALITY_DEPTH = 10_000
const PATIENCE_MS = 120_000
/** Signs the sandbox's ref links. As public as the accounts' keys. */
const ATTESTATION_SEED: Hex = `0x${'5a'.repeat(32)}`

/** As 64 hex digits: whoever wants to check a ref link of the sandbox needs it. */
export async function attestationPubKey(): Promise<string> {
  return (await AttestationKey.signingKey(hexToBytes(ATTESTATION_SEED))).attestationPubKey
}

/** The service on a database as empty as the chain is new, which ends with it. */
export async function startMarketService(options: ServiceOptions): Promise<Service> {
  const server = await startPostgres({ directory: options.directory })
  let service: Service | undefined
  async function stop() {
    const drained = await service?.stop()
    await server.stop()
    await rm(options.directory, { recursive: true, force: true })
    return drained ?? { stuck: [] }
  }
  try {
    service = await startService(
      readConfig({
        DATABASE_URL: await emptyDatabase(server.url),
        HOST: options.host,
        PORT: String(options.port),
        LOG_LEVEL: options.logLevel,
        CHAINS: JSON.stringify([chainOf(options)]),
        ORACLE_PRIVATE_KEY: keyOf(options, 'oracle'),
        PUBLISHER_PRIVATE_KEY: keyOf(options, 'publisher'),
        ATTESTATION_KEYS: JSON.stringify({ [options.chainId]: [ATTESTATION_SEED] }),
        ADMIN_ADDRESSES: options.accounts.find(({ role }) => role === 'admin')?.address,
        // Whoever tries the sandbox has shops and consoles on this machine.
        ALLOW_PRIVATE_HOSTS: 'true',
      }),
    )
    await becomesReady(service.url)
    return { ...service, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function chainOf({ rpcUrl, chainId, contracts }: ServiceOptions) {
  const pace = { startBlock: 0, finalityDepth: FINALITY_DEPTH, confirmations: 1, pollIntervalMs: 200 }
  return { chainId, rpcUrls: [rpcUrl], contracts, ...pace }
}

function keyOf({ accounts }: ServiceOptions, role: string): string | undefined {
  return accounts.find((account) => account.role === role)?.privateKey
}

/** The chain begins anew with every start, so the records do too. */
async function emptyDatabase(serverUrl: string): Promise<string> {
  const sql = connect(serverUrl, { max: 1, name: 'sandbox' })
  try {
    await sql`DROP DATABASE IF EXISTS ${sql(DATABASE)} WITH (FORCE)`
    await sql`CREATE DATABASE ${sql(DATABASE)}`
  } finally {
    await sql.end()
  }
  const url = new URL(serverUrl)
  url.pathname = `/${DATABASE}`
  return url.href
}

async function becomesReady(url: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const response = await fetch(`${url}/readyz`)
    const said = await response.text()
    if (response.ok) return
    if (Date.now() > deadline) throw new Error(`the service does not become ready: ${said}`)
    await sleep(100)
  }
}
