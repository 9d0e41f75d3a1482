// The market's own indexer with its handlers, alone: what the service runs for each of its chains.
import { createRpcPool } from '@referrer/chain'
import { connect, migrate } from '@referrer/database'
import { migrations, readConfig } from '@referrer/service'
import { createMarketIndexer } from '../../../packages/service/src/workers/indexing.ts'

const config = readConfig(process.env)
const databaseUrl = config.databaseUrl?.reveal()
if (!databaseUrl) throw new Error('set DATABASE_URL')

const sql = connect(databaseUrl)
await migrate(sql, migrations)
await sql.end()

const stopping = new AbortController()
process.on('SIGTERM', () => stopping.abort())
const [chain] = config.chains
const rpc = createRpcPool({ chainId: chain.chainId, urls: chain.rpcUrls.map((url) => url.reveal()) })
await createMarketIndexer({
  chain,
  rpc,
  databaseUrl,
  onEvent: (event) => {
    if (event.type === 'failed') console.error(event.error)
  },
}).run(stopping.signal)
