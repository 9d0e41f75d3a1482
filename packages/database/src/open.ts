import { type Address, placeOf, readAddress } from './address.ts'
import { connect } from './connect.ts'
import { startPostgres } from './embedded.ts'
import { codeOf, DatabaseError, messageOf } from './errors.ts'
import type { QueryObserver } from './front.ts'
import type { Sql } from './sql.ts'

export interface OpenOptions {
  /** A server of one's own; wins over `directory`. */
  url?: string
  /** Where the embedded server lives. */
  directory?: string
  /** Shown in pg_stat_activity. */
  name?: string
  /** Most connections at once. */
  max?: number
  observe?: QueryObserver | undefined
  onProgress?: (line: string) => void
}

export interface Database {
  sql: Sql
  url: string
  /** Closes the connections and leaves the embedded server. */
  close(): Promise<void>
}

const OLDEST = 15

/** The database that the settings name, reachable and new enough, or one line that says what to do. */
export async function openDatabase({
  url,
  directory,
  name,
  max,
  observe,
  onProgress,
}: OpenOptions): Promise<Database> {
  const options = { observe, ...(name === undefined ? {} : { name }), ...(max === undefined ? {} : { max }) }
  if (url !== undefined) {
    const sql = connect(url, options)
    try {
      await requireVersion(sql)
    } catch (error) {
      await sql.end({ timeout: 0 })
      throw explain(error, readAddress(url))
    }
    return { sql, url, close: () => sql.end({ timeout: 5 }) }
  }
  if (directory === undefined) {
    throw new DatabaseError(
      'There is no database: set DATABASE_URL, or choose a directory for the embedded one.',
    )
  }
  const server = await startPostgres({ directory, ...(onProgress ? { onProgress } : {}) })
  const sql = connect(server.url, options)
  return {
    sql,
    url: server.url,
    async close() {
      await sql.end({ timeout: 5 })
      await server.stop()
    },
  }
}

async function requireVersion(sql: Sql): Promise<void> {
  const [row] = await sql<{ server_version_num: string; server_version: string }[]>`
    select current_setting('server_version_num') as server_version_num, current_setting('server_version') as server_version`
  if (Number(row?.server_version_num) >= OLDEST * 10_000) return
  throw new DatabaseError(
    `The database runs PostgreSQL ${row?.server_version}: upgrade it to ${OLDEST} or newer, or point DATABASE_URL to another one.`,
  )
}

function explain(error: unknown, { url, hosts }: Address): DatabaseError {
  if (error instanceof DatabaseError) return error
  const place = hosts.map(placeOf).join(', ')
  const user = decodeURIComponent(url.username)
  const database = decodeURIComponent(url.pathname.slice(1)) || user
  const say = (line: string) => new DatabaseError(line, { cause: error })
  switch (codeOf(error)) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return say(
        `The database host ${place} is not known here: correct it in DATABASE_URL, or check the network.`,
      )
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'ENOENT':
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'CONNECT_TIMEOUT':
    case 'CONNECTION_CLOSED':
      return say(`No Postgres answers at ${place}: start it, or correct the host and port in DATABASE_URL.`)
    case '28P01':
    case '28000':
      return say(`Postgres at ${place} refuses user "${user}": correct user and password in DATABASE_URL.`)
    case '3D000':
      return say(
        `Postgres at ${place} has no database "${database}": create it, or correct its name in DATABASE_URL.`,
      )
    case '53300':
      return say(
        `Postgres at ${place} has no connection left: raise max_connections, or stop other programs.`,
      )
    default:
      return say(
        `The database at ${place} cannot be used (${messageOf(error)}): correct that, or DATABASE_URL.`,
      )
  }
}
