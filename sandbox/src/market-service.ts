import type { Addresses } from '@referrer/contracts/deploy'
import { connect, startPostgres } from '@referrer/database'
import { readConfig, type Service, startService } from '@referrer/service'
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

/** The service on a database as empty as the chain is new. */
export async function startMarketService(options: ServiceOptions): Promise<Service> {
  const server = await startPostgres({ directory: options.directory })
  try {
    const service = await startService(
      readConfig({
        DATABASE_URL: await emptyDatabase(server.url),
        HOST: options.host,
        PORT: String(options.port),
        LOG_LEVEL: options.logLevel,
        CHAINS: JSON.stringify([chainOf(options)]),
        ORACLE_PRIVATE_KEY: keyOf(options, 'oracle'),
        PUBLISHER_PRIVATE_KEY: keyOf(options, 'publisher'),
      }),
    )
    await becomesReady(service.url)
    return {
      ...service,
      async stop() {
        const drained = await service.stop()
        await server.stop()
        return drained
      },
    }
  } catch (error) {
    await server.stop()
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
  for (;;) {
    const { ok } = await fetch(`${url}/readyz`)
    if (ok) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
