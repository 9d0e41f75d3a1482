// A process that indexes until it is killed or its parent ends. Prints each event as a line of JSON.
import { createRpcPool } from '@referrer/chain'
import { createMarketIndexer, type IndexedChain } from '../src/app/indexing.ts'

/** The task, passed in the variable INDEX. */
export interface IndexerTask {
  databaseUrl: string
  rpcTimeoutMs: number
  chains: { urls: string[]; config: Omit<IndexedChain, 'startBlock'> }[]
}

const { databaseUrl, rpcTimeoutMs, chains }: IndexerTask = JSON.parse(process.env.INDEX ?? '')
process.stdin.on('end', () => process.exit()).resume()

for (const { urls, config } of chains) {
  const { chainId } = config
  const say = (event: object) =>
    process.stdout.write(
      `${JSON.stringify({ chainId, ...event }, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}\n`,
    )
  const indexer = createMarketIndexer({
    chain: { ...config, startBlock: 0n },
    rpc: createRpcPool({ chainId, urls, timeoutMs: rpcTimeoutMs }),
    databaseUrl,
    link: async () => {},
    onEvent: (event) => say(event.type === 'failed' ? { ...event, error: event.error.message } : event),
  })
  void indexer.run(new AbortController().signal)
}
