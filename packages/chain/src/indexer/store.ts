import type { Queryable, Sql, Transaction } from '@referrer/database'
import { bytesToHex, type Hex } from 'viem'
import type { Block, Checkpoint } from './types.ts'

/** The checkpoint is not the one that was read: another process has moved it. */
export class CheckpointMovedError extends Error {
  override readonly name = 'CheckpointMovedError'

  constructor(chainId: number) {
    super(`chain ${chainId} was indexed by another process meanwhile; reading its checkpoint again`)
  }
}

type CheckpointRow = { block_number: bigint; block_hash: Buffer; block_time: Date; final_number: bigint }

const bytes = (hex: Hex) => Buffer.from(hex.slice(2), 'hex')
const time = (seconds: bigint) => new Date(Number(seconds) * 1_000)

export async function readCheckpoint(sql: Queryable, chainId: number): Promise<Checkpoint | undefined> {
  const [row] = await sql<CheckpointRow[]>`
    SELECT block_number, block_hash, block_time, final_number FROM indexer.checkpoints WHERE chain_id = ${chainId}`
  if (!row) return undefined
  return {
    number: row.block_number,
    hash: bytesToHex(row.block_hash),
    timestamp: BigInt(row.block_time.getTime()) / 1_000n,
    final: row.final_number,
  }
}

/** Compare-and-swap of the checkpoint: throws when another process has moved it. */
export async function moveCheckpoint(
  tx: Transaction,
  chainId: number,
  from: Checkpoint | undefined,
  to: Checkpoint,
  head: Block,
): Promise<void> {
  const row = {
    block_number: to.number,
    block_hash: bytes(to.hash),
    block_time: time(to.timestamp),
    final_number: to.final,
    head_number: head.number,
    head_time: time(head.timestamp),
  }
  const { count } = from
    ? await tx`
        UPDATE indexer.checkpoints SET ${tx(row)}, seen_at = now()
        WHERE chain_id = ${chainId} AND block_number = ${from.number} AND block_hash = ${bytes(from.hash)}`
    : await tx`INSERT INTO indexer.checkpoints ${tx({ chain_id: chainId, ...row })} ON CONFLICT DO NOTHING`
  if (count !== 1) throw new CheckpointMovedError(chainId)
}

/** Sets the block of the following writes; null for final blocks, which need no undo records. */
export async function enterBlock(tx: Transaction, number: bigint | null): Promise<void> {
  await tx`SELECT set_config('indexer.block', ${number === null ? 'final' : String(number)}, true)`
}

export async function rememberBlocks(
  tx: Transaction,
  chainId: number,
  blocks: Pick<Block, 'number' | 'hash'>[],
): Promise<void> {
  await tx`
    INSERT INTO indexer.blocks
    ${tx(blocks.map(({ number, hash }) => ({ chain_id: chainId, number, hash: bytes(hash) })))}`
}

/** The applied blocks that may still be rolled back, newest first. */
export async function recentBlocks(
  sql: Queryable,
  chainId: number,
  below: bigint,
  limit: number,
): Promise<{ number: bigint; hash: Hex }[]> {
  const rows = await sql<{ number: bigint; hash: Buffer }[]>`
    SELECT number, hash FROM indexer.blocks WHERE chain_id = ${chainId} AND number <= ${below}
    ORDER BY number DESC LIMIT ${limit}`
  return rows.map(({ number, hash }) => ({ number, hash: bytesToHex(hash) }))
}

/** Deletes the undo records of blocks that are final. */
export async function forgetHistory(tx: Transaction, chainId: number, final: bigint): Promise<void> {
  await tx`DELETE FROM indexer.undo WHERE chain_id = ${chainId} AND block_number <= ${final}`
  await tx`DELETE FROM indexer.blocks WHERE chain_id = ${chainId} AND number < ${final}`
}

/** Rolls back everything after `ancestor`; null rolls back everything. */
export async function rollBack(
  tx: Transaction,
  chainId: number,
  from: Checkpoint,
  ancestor: Checkpoint | null,
  head: Block,
): Promise<void> {
  if (ancestor) {
    await moveCheckpoint(tx, chainId, from, ancestor, head)
  } else {
    const { count } = await tx`
      DELETE FROM indexer.checkpoints
      WHERE chain_id = ${chainId} AND block_number = ${from.number} AND block_hash = ${bytes(from.hash)}`
    if (count !== 1) throw new CheckpointMovedError(chainId)
  }
  await tx`SELECT indexer.roll_back(${chainId}, ${ancestor ? ancestor.number : -1n})`
}

/** Records that the checkpoint is still valid, and the height of the chain. */
export async function noteHead(
  sql: Queryable,
  chainId: number,
  { number, hash }: Checkpoint,
  head: Block,
): Promise<void> {
  const { count } = await sql`
    UPDATE indexer.checkpoints SET head_number = ${head.number}, head_time = ${time(head.timestamp)}, seen_at = now()
    WHERE chain_id = ${chainId} AND block_number = ${number} AND block_hash = ${bytes(hash)}`
  if (count !== 1) throw new CheckpointMovedError(chainId)
}

/** Empties the mirrored tables of a chain, so that it is indexed anew. Safe while it is being indexed. */
export async function forgetChain(sql: Sql, chainId: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`
    // The indexer writes to this table first: the lock waits for a running write, and a later one finds no checkpoint.
    await tx`LOCK TABLE indexer.checkpoints IN SHARE ROW EXCLUSIVE MODE`
    await tx`SELECT indexer.forget(${chainId})`
  })
}

/** The newest final block that was applied one by one; undefined while there is none. */
export async function finalBlock(
  sql: Queryable,
  chainId: number,
): Promise<{ number: bigint; hash: Hex } | undefined> {
  const [row] = await sql<{ number: bigint; hash: Buffer }[]>`
    SELECT number, hash FROM indexer.blocks JOIN indexer.checkpoints USING (chain_id)
    WHERE chain_id = ${chainId} AND number <= final_number ORDER BY number DESC LIMIT 1`
  return row && { number: row.number, hash: bytesToHex(row.hash) }
}

export interface IndexerHealth {
  chainId: number
  head: bigint
  indexed: bigint
  /** How much older the newest indexed block is than the newest known one, plus the time since the chain was last read. */
  lagSeconds: number
  /** How old the newest known block is, by its own time. */
  headAgeSeconds: number
}

/** As any replica sees it, whichever one is active. */
export async function indexerHealth(sql: Queryable): Promise<IndexerHealth[]> {
  const rows = await sql<
    { chain_id: bigint; head_number: bigint; block_number: bigint; lag: number; head_age: number }[]
  >`
    SELECT chain_id, head_number, block_number,
      (greatest(0, extract(epoch FROM head_time - block_time))
        + extract(epoch FROM now() - seen_at))::float8 AS lag,
      extract(epoch FROM now() - head_time)::float8 AS head_age
    FROM indexer.checkpoints ORDER BY chain_id`
  return rows.map((row) => ({
    chainId: Number(row.chain_id),
    head: row.head_number,
    indexed: row.block_number,
    lagSeconds: row.lag,
    headAgeSeconds: row.head_age,
  }))
}
