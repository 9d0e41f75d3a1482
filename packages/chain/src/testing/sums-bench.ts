import type { Transaction } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Address, type Hex, hexToBigInt, keccak256, numberToHex, toHex } from 'viem'
import { chainMigrations } from '../index.ts'
import { createIndexer, type IndexerEvent, type IndexerOptions } from '../indexer/index.ts'
import type { Log } from '../indexer/types.ts'
import { createRpcPool } from '../rpc/index.ts'
import { eventually } from './eventually.ts'
import { ScriptedChain, type ScriptedLog } from './scripted-chain.ts'
import { type ScriptedNode, startScriptedNode } from './scripted-node.ts'

export const FINALITY = 5
const contract: Address = '0x00000000000000000000000000000000000000c1'
const event = keccak256(toHex('Added(uint256,uint256)'))

/** A database with one mirrored table, of sums. */
export async function sumsDatabase(): Promise<TestDatabase> {
  const database = await freshDatabase([chainMigrations])
  await database.sql.unsafe(`
    CREATE TABLE sums (chain_id bigint, id bigint, sum numeric(78), PRIMARY KEY (chain_id, id));
    SELECT indexer.mirror('sums');`)
  return database
}

/** Adds to a sum; 0 removes it. */
export const add = (id: number, value: number): ScriptedLog => ({
  address: contract,
  topics: [event, numberToHex(id, { size: 32 })],
  data: numberToHex(value, { size: 32 }),
})

const read = ({ topics, data }: { topics: Hex[]; data: Hex }) => ({
  id: hexToBigInt(topics[1] ?? '0x0'),
  value: hexToBigInt(data),
})

/** Every addition triples what was there, so that one that is applied twice, or out of order, shows. */
const WEIGHT = 3n

export const applySums =
  (chainId: number) =>
  async (tx: Transaction, logs: Log[]): Promise<void> => {
    for (const { id, value } of logs.map(read)) {
      if (value === 0n) await tx`DELETE FROM sums WHERE chain_id = ${chainId} AND id = ${id}`
      else
        await tx`
          INSERT INTO sums AS s VALUES (${chainId}, ${id}, ${value})
          ON CONFLICT (chain_id, id) DO UPDATE SET sum = s.sum * ${WEIGHT} + excluded.sum`
    }
  }

/** What `applySums` makes of a chain from its beginning. */
export function replay({ blocks }: ScriptedChain, startBlock = 0): [bigint, bigint][] {
  const sums = new Map<bigint, bigint>()
  for (const { id, value } of blocks.slice(startBlock).flatMap(({ logs }) => logs.map(read))) {
    if (value === 0n) sums.delete(id)
    else sums.set(id, (sums.get(id) ?? 0n) * WEIGHT + value)
  }
  return [...sums].sort(([a], [b]) => Number(a - b))
}

export const until = (condition: () => boolean) => eventually(condition).toBe(true)

let chains = 40_000

/** A chain, a node that serves it, and indexers that sum up what happens on it. */
export class SumsBench {
  /** What the node tells of; may be replaced by a fork. */
  chain: ScriptedChain
  readonly chainId: number
  readonly node: ScriptedNode
  readonly #database: TestDatabase
  readonly #stops: (() => Promise<void>)[] = []

  private constructor(database: TestDatabase, chain: ScriptedChain, node: ScriptedNode) {
    this.#database = database
    this.chain = chain
    this.chainId = chain.chainId
    this.node = node
    node.answer = (call) => this.chain.answer(call)
  }

  static async start(database: TestDatabase): Promise<SumsBench> {
    chains += 1
    const chain = new ScriptedChain(chains)
    return new SumsBench(database, chain, await startScriptedNode((call) => chain.answer(call)))
  }

  index(options: Partial<IndexerOptions> = {}) {
    const { chainId } = this
    const events: IndexerEvent[] = []
    const stopping = new AbortController()
    const indexer = createIndexer({
      chainId,
      rpc: createRpcPool({ chainId, urls: [this.node.url] }),
      databaseUrl: this.#database.url,
      filter: { addresses: [contract], events: [event] },
      startBlock: 0n,
      finalityDepth: FINALITY,
      pollIntervalMs: 5,
      apply: applySums(chainId),
      onEvent: (one) => events.push(one),
      ...options,
    })
    const done = indexer.run(stopping.signal)
    const stop = () => {
      stopping.abort()
      return done
    }
    this.#stops.push(stop)
    const of = <Type extends IndexerEvent['type']>(type: Type) =>
      events.filter((some): some is Extract<IndexerEvent, { type: Type }> => some.type === type)
    return { status: indexer.status, of, stop }
  }

  grow(count: number): void {
    for (let at = 0; at < count; at += 1) {
      const number = this.chain.blocks.length
      this.chain.mine(add(number % 4, number), add(number % 3, number % 5))
    }
  }

  async sums(): Promise<[bigint, bigint][]> {
    const rows = await this.#database.sql<{ id: bigint; sum: bigint }[]>`
      SELECT id, sum FROM sums WHERE chain_id = ${this.chainId} ORDER BY id`
    return rows.map(({ id, sum }) => [id, sum])
  }

  /** The newest block that was applied. */
  async indexed(): Promise<Hex | undefined> {
    const [row] = await this.#database.sql<{ block_hash: Buffer }[]>`
      SELECT block_hash FROM indexer.checkpoints WHERE chain_id = ${this.chainId}`
    return row && toHex(row.block_hash)
  }

  async caughtUp(): Promise<void> {
    await eventually(() => this.indexed()).toBe(this.chain.head.hash)
  }

  async close(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()))
    await this.node.close()
  }
}
