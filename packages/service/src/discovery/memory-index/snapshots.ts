// A catalogue that is kept in the database as bytes, so that a restart reads these instead of all products. All replicas share it; one of them
// writes it. Whatever does not fit or cannot be read is left, and the products are loaded.
import { createHash, randomUUID } from 'node:crypto'
import { endianness } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { copyIn, copyQueryOut, type Queryable, type Sql, type Transaction } from '@referrer/database'
import { Arrays, type Catalogue, FORMAT, partsOf } from '@referrer/search'
import { binaryRows, RowReader } from '../../machinery/db/binary-rows.ts'
import { changedSince, type Model, openProductsQuery, paced } from './records.ts'

/** Written at once, between questions. */
const PART_BYTES = 2 ** 18
/** Read by one statement. */
const PARTS_A_PAGE = 256
/** If a larger share has changed since, all products are loaded: changes are read and indexed one by one, which takes longer for each. */
const WORTH_READING = 1 / 4
/** If a larger share has changed since, a snapshot is written again, but not more often than this. */
const WORTH_KEEPING = 1 / 10
const LEAST_MINUTES = 10

export interface Snapshot {
  snapshotId: string
  parts: number
  /** What is not visible in this snapshot of the database has to be read again. */
  reached: string
}

/** What has to be the same where a snapshot is read. */
interface Origin {
  server: string
  format: string
  model: string
}

/** The bytes, in the order of this processor; the reading of texts, which depends on Unicode, too; and the statement that they came from. */
const OWN_FORMAT = createHash('sha256')
  .update(
    JSON.stringify([FORMAT, endianness(), process.versions.unicode, openProductsQuery(0, '', undefined, 0)]),
  )
  .digest('hex')

/**
 * Transaction ids say nothing on another server; a table of listings that was emptied or restored has another file; a migration may change what
 * is read without marking it as changed. Undefined on a standby, which cannot read unlogged tables.
 */
async function originOf(sql: Queryable, chainId: number, model: Model): Promise<Origin | undefined> {
  const [row] = await sql<{ server: string }[]>`
    SELECT concat_ws(' ', s.system_identifier, c.timeline_id, d.oid, pg_relation_filenode('market.listings'),
      (SELECT count(*) FROM migrations.applied)) AS server
    FROM pg_control_system() AS s, pg_control_checkpoint() AS c, pg_database AS d
    WHERE d.datname = current_database() AND NOT pg_is_in_recovery()`
  const { embedderId, dims, cells } = model
  const vectors = JSON.stringify([embedderId, dims, cells.get(chainId)?.chosenAt])
  return row && { server: row.server, format: OWN_FORMAT, model: vectors }
}

/** The snapshot that this server has, if any. */
async function headOf(sql: Queryable, chainId: number, { server, format, model }: Origin) {
  const [head] = await sql<(Snapshot & { products: number; isFit: boolean; isNew: boolean })[]>`
    SELECT snapshot_id::text AS "snapshotId", parts, reached::text AS reached, products,
      (format, model) = (${format}, ${model}) AS "isFit",
      written_at > clock_timestamp() - make_interval(mins => ${LEAST_MINUTES}) AS "isNew"
    FROM market.index_snapshots WHERE chain_id = ${chainId} AND server = ${server}`
  return head
}

/** Whether at least so many products of the chain have changed since. */
async function haveChanged(sql: Queryable, chainId: number, since: string, count: number): Promise<boolean> {
  const [row] = await sql<[{ count: number }]>`
    SELECT count(*)::integer AS count FROM (
      SELECT FROM market.listings WHERE ${changedSince(sql, since)} AND chain_id = ${chainId} LIMIT ${count}) AS changed`
  return row.count >= count
}

/** A snapshot that fits and is worth reading. */
export async function findSnapshot(
  sql: Queryable,
  chainId: number,
  model: Model,
): Promise<Snapshot | undefined> {
  const origin = await originOf(sql, chainId, model)
  const head = origin && (await headOf(sql, chainId, origin))
  if (!head?.isFit) return undefined
  const many = Math.ceil(WORTH_READING * head.products)
  return (await haveChanged(sql, chainId, head.reached, many)) ? undefined : head
}

/** Reads a snapshot into an empty catalogue that has its cells. */
export async function readSnapshot(sql: Queryable, snapshot: Snapshot, catalogue: Catalogue): Promise<void> {
  const parts = readParts(sql, snapshot)
  try {
    await catalogue.restore(new Arrays(parts))
  } finally {
    // The connection answers again only when the rows that it has sent are read.
    await parts.return()
  }
}

async function* readParts(sql: Queryable, { snapshotId, parts }: Snapshot): AsyncGenerator<Uint8Array, void> {
  for (let from = 0; from < parts; from += PARTS_A_PAGE) {
    const rows = new RowReader()
    let next = from
    const query = `
      SELECT part::bigint, checksum, bytes FROM market.index_snapshot_parts
      WHERE snapshot_id = '${snapshotId}' AND part >= ${from} AND part < ${from + PARTS_A_PAGE} ORDER BY part`
    for await (const chunk of paced(copyQueryOut(sql as Transaction, query))) {
      const read: Uint8Array[] = []
      rows.take(chunk, (row) => {
        const bytes = row.bytes(2)
        if (row.bigint(0) !== BigInt(next)) throw new Error(`part ${next} of ${parts} is missing`)
        if (row.bigint(1) !== BigInt(crc32(bytes))) throw new Error(`part ${next} of ${parts} is damaged`)
        read.push(bytes)
        next += 1
      })
      yield* read
    }
    if (next !== Math.min(parts, from + PARTS_A_PAGE)) throw new Error(`part ${next} of ${parts} is missing`)
  }
}

/** So that nobody tries to read it again. */
export async function dropSnapshot(sql: Queryable, { snapshotId }: Snapshot): Promise<void> {
  await sql`DELETE FROM market.index_snapshots WHERE snapshot_id = ${snapshotId}`
  await sql`DELETE FROM market.index_snapshot_parts WHERE snapshot_id = ${snapshotId}`
}

export interface Kept {
  chainId: number
  model: Model
  catalogue: Catalogue
  /** Everything visible in it is in the catalogue. */
  reached: string
}

/**
 * Writes a snapshot if none is there that is as good, and nobody else writes one. The catalogue must not change meanwhile; it can answer.
 * Returns whether it was written.
 */
export async function keepSnapshot(sql: Sql, kept: Kept, signal: AbortSignal): Promise<boolean> {
  const { chainId, model } = kept
  const origin = await originOf(sql, chainId, model)
  if (!origin || !(await isDue(sql, kept, origin))) return false
  return sql.begin(async (tx) => {
    const [mine] = await tx<[{ held: boolean }]>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${`index snapshot/${chainId}`}, 0)) AS held`
    // Another replica may have written one in between.
    if (!mine.held || !(await isDue(tx, kept, origin))) return false
    await write(tx, kept, origin, signal)
    return true
  })
}

/** A new one stays, even if it fits another replica only: two versions or models would write by turns. */
async function isDue(sql: Queryable, { chainId }: Kept, origin: Origin): Promise<boolean> {
  const head = await headOf(sql, chainId, origin)
  if (!head) return true
  if (head.isNew) return false
  return !head.isFit || haveChanged(sql, chainId, head.reached, Math.ceil(WORTH_KEEPING * head.products))
}

async function write(
  tx: Transaction,
  { chainId, catalogue, reached }: Kept,
  { server, format, model }: Origin,
  signal: AbortSignal,
): Promise<void> {
  await tx`
    WITH former AS (DELETE FROM market.index_snapshots WHERE chain_id = ${chainId} RETURNING snapshot_id)
    DELETE FROM market.index_snapshot_parts WHERE snapshot_id IN (SELECT snapshot_id FROM former)`
  const snapshotId = randomUUID()
  let parts = 0
  async function* rows() {
    for (const bytes of partsOf(catalogue.written(), PART_BYTES)) {
      signal.throwIfAborted()
      const numbers = Buffer.alloc(12)
      numbers.writeInt32BE(parts)
      numbers.writeBigInt64BE(BigInt(crc32(bytes)), 4)
      yield [uuid, numbers.subarray(0, 4), numbers.subarray(4), bytes]
      parts += 1
      await turn()
    }
  }
  const uuid = Buffer.from(snapshotId.replaceAll('-', ''), 'hex')
  const columns = ['snapshot_id', 'part', 'checksum', 'bytes']
  await copyIn(tx, { table: 'market.index_snapshot_parts', columns }, binaryRows(rows()), 'binary')
  await tx`
    INSERT INTO market.index_snapshots (chain_id, snapshot_id, server, format, model, reached, products, parts)
    VALUES (${chainId}, ${snapshotId}, ${server}, ${format}, ${model}, ${reached}::text::pg_snapshot, ${catalogue.size}, ${parts})`
}
