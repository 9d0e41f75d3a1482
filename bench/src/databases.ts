import { connect, type PostgresServer, type Sql } from '@referrer/database'

/** A new database on a server, or with `isKept` the one of this name. Returns its URL. */
export async function createDatabase(
  server: Pick<PostgresServer, 'url'>,
  name: string,
  isKept = false,
): Promise<string> {
  const admin = connect(server.url, { max: 1, name: 'bench' })
  try {
    const { count } = await admin`SELECT FROM pg_database WHERE datname = ${name}`
    if (!isKept || count === 0) await admin.unsafe(`CREATE DATABASE ${name}`)
    // The pages that others dirtied are written now, and not while this database is measured.
    await admin.unsafe('CHECKPOINT')
  } finally {
    await admin.end()
  }
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}

/** A pool without the statement time-out of the service: a statement that fills a million rows takes minutes on a busy machine. */
export function connectPatiently(databaseUrl: string, max: number): Sql {
  const url = new URL(databaseUrl)
  url.searchParams.set('statement_timeout', '0')
  return connect(url.href, { max, name: 'bench' })
}
