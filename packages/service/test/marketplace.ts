// A database, chains behind faulty nodes, and helpers to index them and to check the results.
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

/** Two nodes of a chain, each with faults of its own. */
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

/** Whether the newest indexed block is the newest block of the chain. */
export async function isCaughtUp(sql: Sql, chain: ForkingChain): Promise<boolean> {
  const [row] = await sql<{ hash: string }[]>`
    SELECT '0x' || encode(block_hash, 'hex') AS hash FROM indexer.checkpoints WHERE chain_id = ${chain.chainId}`
  return row?.hash === chain.head().hash
}

/** The differences between the mirrored tables and a replay of the present chain. */
export async function mirrorErrors(
  sql: Sql,
  { chainId, market }: Pick<ForkingChain, 'chainId' | 'market'>,
  successors: Address[] = [],
): Promise<string[]> {
  const events = await readEvents(market, 0n, await market.client.getBlockNumber(), successors)
  return mirrorDifferences(sql, chainId, fold(chainId, events))
}

/** The same for the service's own records, which must agree once every block with an event is final. */
export async function recordErrors(
  sql: Sql,
  { chainId, market }: ForkingChain,
  cashbackOf: (agentId: bigint) => number = () => 0,
): Promise<string[]> {
  const events = await readEvents(market, 0n, await market.client.getBlockNumber())
  return recordDifferences(sql, chainId, fold(chainId, events), cashbackOf)
}

/** Mines until every block that ever existed is final, also dropped ones. */
export async function mineUntilFinal(chain: ForkingChain): Promise<void> {
  const deepEnough = chain.highest() + BigInt(FINALITY)
  while (chain.head().number <= deepEnough) await chain.mine()
}

/** Undo records of final blocks; there should be none. */
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
