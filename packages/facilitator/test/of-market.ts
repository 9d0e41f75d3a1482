// A facilitator for a market whose service runs already.
import { type LocalChain, type Market, privateKeyOf } from '@referrer/contracts/local'
import { freshDatabase } from '@referrer/database/testing'
import { readConfig } from '../src/config.ts'
import { migrations, startFacilitator } from '../src/facilitator.ts'

export interface FacilitatorOfMarket {
  url: string
  close(): Promise<void>
}

export async function startFacilitatorOf(
  { chain, market }: { chain: LocalChain; market: Market },
  marketUrl: string,
): Promise<FacilitatorOfMarket> {
  const database = await freshDatabase(migrations)
  const facilitator = await startFacilitator(
    readConfig({
      DATABASE_URL: database.url,
      PORT: '0',
      LOG_LEVEL: 'silent',
      LIMITS: 'memory',
      // Tests ask again and again until something has happened.
      RATE_LIMIT_PER_SECOND: '100000',
      RATE_LIMIT_BURST: '100000',
      ALLOW_PRIVATE_HOSTS: 'true',
      WATCH_INTERVAL_MS: '20',
      RELAYER_PRIVATE_KEYS: privateKeyOf(market.accounts.settler),
      MARKET_URL: marketUrl,
      CHAINS: JSON.stringify([
        {
          chainId: chain.chain.id,
          rpcUrls: [chain.rpcUrl],
          contracts: market.addresses,
          startBlock: 0,
          confirmations: 1,
          pollIntervalMs: 50,
        },
      ]),
    }),
  )
  return {
    url: facilitator.url,
    async close() {
      await facilitator.stop()
      await database.drop()
    },
  }
}
