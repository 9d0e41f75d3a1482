import { fileURLToPath } from 'node:url'
import { privateKeyOf } from '@referrer/contracts/local'
import { listening, type Process } from '../processes.ts'
import type { Trace } from './audit.ts'
import type { Shop } from './market.ts'

export type Server = { url: string; process: Process }
export type Place = {
  shop: Shop
  rpcUrl: string
  /** A new database of the one Postgres. */
  createDatabase: () => Promise<string>
}
export type Contender = {
  /** Its name in the keys of results. */
  name: string
  title: string
  trace: Trace
  start(place: Place, logFile: string): Promise<Server>
}

export const stock = official('stock', [])
export const withNonceManager = official('nonceManager', ['--nonce-manager'])
export const ours = withKeys('ours', '1 key', 1)
export const oursWithFour = withKeys('ours_four_keys', '4 keys', 4)
export const CONTENDERS = [stock, withNonceManager, ours, oursWithFour]

function official(name: string, flags: string[]): Contender {
  return {
    name,
    title: `official, ${name}`,
    trace: 'transfer',
    start({ shop, rpcUrl }, logFile) {
      const args = [programOf('official.ts'), '--rpc', rpcUrl, ...flags]
      const env = { RELAYER_PRIVATE_KEY: keysOf(shop, 1) }
      return listening(name, { args, env }, logFile)
    },
  }
}

function withKeys(name: string, title: string, keys: number): Contender {
  return {
    name,
    title: `ours, ${title}`,
    trace: 'escrow',
    async start({ shop, rpcUrl, createDatabase }, logFile) {
      const { client, addresses } = shop.market
      const chainId = client.chain.id
      const chain = { chainId, rpcUrls: [rpcUrl], contracts: addresses, startBlock: 0 }
      const env = {
        DATABASE_URL: await createDatabase(),
        PORT: '0',
        CHAINS: JSON.stringify([chain]),
        RELAYER_PRIVATE_KEYS: keysOf(shop, keys),
        ATTESTATION_PUBLIC_KEYS: JSON.stringify({ [chainId]: [shop.attestationPubKey] }),
        RATE_LIMIT_PER_SECOND: '1000000',
        RATE_LIMIT_BURST: '1000000',
        // All payments come from a few new wallets.
        GIVEAWAY_PER_DAY: '1000000000000',
      }
      return listening(name, { args: [programOf('ours.ts')], env }, logFile)
    },
  }
}

const keysOf = ({ relayers }: Shop, count: number) => relayers.slice(0, count).map(privateKeyOf).join(',')

const programOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))
