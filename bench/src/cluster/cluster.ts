import { join } from 'node:path'
import { privateKeyOf } from '@referrer/contracts/local'
import type { Shop } from '../settle/market.ts'
import { ATTESTATION_SEED } from './market.ts'
import { freePorts, type Kind, type Member, startMember } from './members.ts'

export interface ClusterOptions {
  shop: Shop
  rpcUrl: string
  databases: { service: string; facilitator: string }
  directory: string
}

const COUNTS: Record<Kind, number> = { api: 3, workers: 2, facilitator: 2 }

/** Every process of one kind has the same environment, as replicas have. */
export async function startCluster({
  shop,
  rpcUrl,
  databases,
  directory,
}: ClusterOptions): Promise<Member[]> {
  const { market, attestationPubKey, relayers } = shop
  const chainId = market.client.chain.id
  const shared = {
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PER_SECOND: '1000000',
    RATE_LIMIT_BURST: '1000000',
    CHAINS: JSON.stringify([
      { chainId, rpcUrls: [rpcUrl], contracts: market.addresses, startBlock: 0, confirmations: 2 },
    ]),
  }
  const service = {
    ...shared,
    DATABASE_URL: databases.service,
    EMBEDDER: 'off',
    PUBLIC_URL: 'http://market',
    ATTESTATION_KEYS: JSON.stringify({ [chainId]: [ATTESTATION_SEED] }),
  }
  const environments: Record<Kind, Record<string, string>> = {
    api: service,
    workers: { ...service, ORACLE_PRIVATE_KEY: privateKeyOf(market.accounts.oracle) },
    facilitator: {
      ...shared,
      DATABASE_URL: databases.facilitator,
      RELAYER_PRIVATE_KEYS: relayers.map(privateKeyOf).join(','),
      ATTESTATION_PUBLIC_KEYS: JSON.stringify({ [chainId]: [attestationPubKey] }),
    },
  }
  const kinds = (Object.keys(COUNTS) as Kind[]).flatMap((kind) =>
    Array.from({ length: COUNTS[kind] }, (_, at) => ({ kind, name: `${kind} ${at + 1}` })),
  )
  const ports = await freePorts(kinds.length)
  return kinds.map(({ kind, name }, at) =>
    startMember({
      name,
      kind,
      port: ports[at] as number,
      env: environments[kind],
      logFile: join(directory, `${name.replace(' ', '-')}.log`),
    }),
  )
}
