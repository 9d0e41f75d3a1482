// A local chain with our contracts, and the secrets with which the programs of compose.yaml work on it.
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto'
import {
  deployMarket,
  type LocalChain,
  type Market,
  privateKeyOf,
  startLocalChain,
} from '@referrer/contracts/local'

export interface LocalMarket {
  chain: LocalChain
  market: Market
  /** By their names in compose.yaml. */
  secrets: Record<string, string>
  /** As in the file .env. */
  variables: Record<string, string>
}

export async function startLocalMarket(databases: {
  market: string
  facilitator: string
}): Promise<LocalMarket> {
  const chain = await startLocalChain({ port: 0 })
  const market = await deployMarket(chain.client)
  const { oracle, publisher, settler } = market.accounts
  const chainId = chain.chain.id
  const chains = [
    {
      chainId,
      rpcUrls: [chain.rpcUrl],
      startBlock: 0,
      contracts: market.addresses,
      confirmations: 1,
      pollIntervalMs: 100,
    },
  ]
  const seed = randomBytes(32)
  const variables = {
    MARKET_HOST: 'market.test',
    PAY_HOST: 'pay.test',
    ATTESTATION_PUBLIC_KEYS: JSON.stringify({ [chainId]: [publicKeyOf(seed)] }),
    ORACLE_ADDRESS: oracle.address,
    PUBLISHER_ADDRESS: publisher.address,
  }
  const secrets = {
    chains: JSON.stringify(chains),
    market_database_url: databases.market,
    facilitator_database_url: databases.facilitator,
    attestation_keys: JSON.stringify({ [chainId]: [`0x${seed.toString('hex')}`] }),
    oracle_private_key: privateKeyOf(oracle),
    publisher_private_key: privateKeyOf(publisher),
    relayer_private_keys: privateKeyOf(settler),
    webhook_keys: randomBytes(32).toString('hex'),
  }
  return { chain, market, secrets, variables }
}

/** What precedes an Ed25519 seed in PKCS #8. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

function publicKeyOf(seed: Buffer): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' })
  return createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
}
