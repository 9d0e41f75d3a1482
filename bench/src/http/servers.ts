import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listening, type Process } from '../processes.ts'
import { CHAIN_ID } from './market.ts'

export type Server = { url: string; process: Process }

const ADDRESS = `0x${'11'.repeat(20)}`
const CONTRACTS = [
  'AddressRegistry',
  'IdentityRegistry',
  'MerchantRegistry',
  'ReviewRegistry',
  'CommissionEscrow',
  'SplitRouter',
  'USDC',
]
/** No node answers there: what is measured needs none. */
const CHAINS = [
  {
    chainId: CHAIN_ID,
    rpcUrls: ['http://127.0.0.1:1/'],
    contracts: Object.fromEntries(CONTRACTS.map((name) => [name, ADDRESS])),
    startBlock: 0,
  },
]

export type ServiceOptions = {
  name: string
  databaseUrl: string
  directory: string
  recovery?: string
  /** Further settings. */
  settings?: Record<string, string>
}

export function startServer(options: ServiceOptions): Promise<Server> {
  const { name, databaseUrl, directory, recovery, settings } = options
  const env = {
    // As deploy/Dockerfile has them.
    NODE_OPTIONS: '--max-semi-space-size=8',
    MALLOC_MMAP_THRESHOLD_: '65536',
    DATABASE_URL: databaseUrl,
    PORT: '0',
    CHAINS: JSON.stringify(CHAINS),
    PUBLIC_URL: 'https://market.example',
    RATE_LIMIT_PER_SECOND: '1000000',
    RATE_LIMIT_BURST: '1000000',
    ...settings,
  }
  const args = [programOf('service.ts'), ...(recovery ? [recovery] : [])]
  return listening(name, { args, env }, join(directory, `${name}.log`))
}

export function startBare(recordingFile: string, directory: string): Promise<Server> {
  return listening('bare', { args: [programOf('bare.ts'), recordingFile] }, join(directory, 'bare.log'))
}

const programOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))
