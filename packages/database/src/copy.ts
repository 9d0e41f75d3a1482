// COPY as streams, on the connection of a transaction.
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Query } from './session.ts'
import type { Transaction } from './sql.ts'

export interface Columns {
  /** `schema.table`, quoted where it must be. */
  table: string
  /** Likewise; generated ones are left out. */
  columns: string[]
}

const listed = ({ table, columns }: Columns) => `${table} (${columns.join(', ')})`

/** The rows of a table as text, a line each, as Postgres sends them: the stream holds the server back. */
export const copyOut = (tx: Transaction, from: Columns): AsyncGenerator<Buffer> =>
  outOf(tx, `copy ${listed(from)} to stdout`)

/** The rows of a query in the binary format of COPY. The query takes no parameters. */
export const copyQueryOut = (tx: Transaction, query: string): AsyncGenerator<Buffer> =>
  outOf(tx, `copy (${query}) to stdout (format binary)`)

async function* outOf(tx: Transaction, statement: string): AsyncGenerator<Buffer> {
  const stream: Readable = await tx.unsafe(statement).readable()
  try {
    yield* stream as AsyncIterable<Buffer>
  } finally {
    // The driver pauses its socket when rows come too fast, and resumes it when more are read: never, when these were the last.
    if (stream.errored?.name === 'AbortError' && !hasAllRows(stream)) await discardRest(stream)
    else stream._read(0)
  }
}

/** Whether the last row has come, read or not: then there is no end to wait for. */
const hasAllRows = (stream: Readable) =>
  (stream as Readable & { _readableState: { ended: boolean } })._readableState.ended

/** A connection answers again only when all rows of its copy have come. The driver destroys the stream of a connection that is lost. */
function discardRest(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.push = (row: unknown) => {
      if (row === null) setImmediate(resolve)
      return true
    }
    stream.destroy = () => {
      resolve()
      return stream
    }
    stream._read(0)
  })
}

/** Rows as text, a line each, or in the binary format of COPY. Resolves when the server has taken all of them. */
export async function copyIn(
  tx: Transaction,
  into: Columns,
  rows: AsyncIterable<Buffer> | Iterable<Buffer>,
  format: 'text' | 'binary' = 'text',
): Promise<void> {
  const copying = tx.unsafe(`copy ${listed(into)} from stdin (format ${format})`)
  const stream: Writable = await copying.writable()
  const query = copying as unknown as Query
  const { reject } = query
  // The driver does not tell the stream of an error that comes after its last byte, and would leave us waiting.
  query.reject = (error) => {
    stream.destroy(error as Error)
    reject.call(query, error)
  }
  await pipeline(rows, stream)
}
