// A database, some chains behind bad nodes, and what it takes to index them and to check the outcome.
import { createRpcPool, type Indexer } from '@referrer/chain'
import { type FaultProxy, seeded, startFaultProxy } from '@referrer/chain/testing'
import type { Sql } from '@referrer/database'
import type { Address } from 'viem'
import { createMarketIndexer } from '../src/app/indexing.ts'
import type { ForkingChain } from './forking-chain.ts'
import type { IndexerTask } from './indexer-process.ts'
import { fold, readEvents } from './replay.ts'
import { mirrorDifferences, recordDifferences } from './tables.ts'

export const FINALITY = 16

/** Two nodes of a chain, bad in their own ways. */
export async function startNodes(chain: ForkingChain, seed: number): Promise<FaultProxy[]> {
  const start = (own: number) => startFaultProxy({ target: chain.rpcUrl, random: seeded(seed + own) })
  return Promise.all([start(1), start(2)])
}

export function taskOf(
  databaseUrl: string,
  chains: { chain: Pick<ForkingChain, 'chainId' | 'market'>; urls: string[] }[],
): IndexerTask {
  return {
    databaseUrl,
    rpcTimeoutMs: 1_000,
    chains: chains.map(({ chain, urls }) => chainTask(chain, urls)),
  }
}

export function chainTask(
  { chainId, market }: Pick<ForkingChain, 'chainId' | 'market'>,
  urls: string[],
): IndexerTask['chains'][number] {
  const { CommissionEscrow, SplitRouter, ...single } = market.addresses
  const contracts = { ...single, CommissionEscrow: [CommissionEscrow], SplitRouter: [SplitRouter] }
  const pace = { finalityDepth: FINALITY, pollIntervalMs: 30 }
  return { urls, config: { chainId, contracts, ...pace } }
}

/** Whether the newest block that was indexed is the newest there is. */
export async function isCaughtUp(sql: Sql, chain: ForkingChain): Promise<boolean> {
  const [row] = await sql<{ hash: string }[]>`
    SELECT '0x' || encode(block_hash, 'hex') AS hash FROM indexer.checkpoints WHERE chain_id = ${chain.chainId}`
  return row?.hash === chain.head().hash
}

/** How the mirrored tables differ from a replay of the chain as it is now. */
export async function mirrorErrors(
  sql: Sql,
  { chainId, market }: Pick<ForkingChain, 'chainId' | 'market'>,
  successors: Address[] = [],
): Promise<string[]> {
  const events = await readEvents(market, 0n, await market.client.getBlockNumber(), successors)
  return mirrorDifferences(sql, chainId, fold(chainId, events))
}

/** The same for the service's own records, which hold once every block with an event is final. */
export async function recordErrors(
  sql: Sql,
  { chainId, market }: ForkingChain,
  cashbackOf: (agentId: bigint) => number = () => 0,
): Promise<string[]> {
  const events = await readEvents(market, 0n, await market.client.getBlockNumber())
  return recordDifferences(sql, chainId, fold(chainId, events), cashbackOf)
}

/** Until every block is final that there ever was, the dropped ones too. */
export async function mineUntilFinal(chain: ForkingChain): Promise<void> {
  const deepEnough = chain.highest() + BigInt(FINALITY)
  while (chain.head().number <= deepEnough) await chain.mine()
}

/** What is remembered of blocks that nobody takes back any more: nothing. */
export async function undoOfFinalBlocks(sql: Sql, chainId: number): Promise<readonly unknown[]> {
  return sql`
    SELECT u.relation::text, u.block_number FROM indexer.undo AS u JOIN indexer.checkpoints AS c USING (chain_id)
    WHERE u.chain_id = ${chainId} AND u.block_number <= c.final_number`
}

export interface RunningIndexer {
  status: Indexer['status']
  stop(): Promise<void>
}

/** Indexes a chain in this process. */
export function runIndexer(
  databaseUrl: string,
  { config, urls }: IndexerTask['chains'][number],
): RunningIndexer {
  const indexer = createMarketIndexer({
    chain: { ...config, startBlock: 0n },
    rpc: createRpcPool({ chainId: config.chainId, urls, timeoutMs: 1_000 }),
    databaseUrl,
    link: async () => {},
  })
  const stop = new AbortController()
  const done = indexer.run(stop.signal)
  return {
    status: indexer.status,
    stop() {
      stop.abort()
      return done
    },
  }
}
