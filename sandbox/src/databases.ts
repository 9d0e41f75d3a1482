import { rm } from 'node:fs/promises'
import { connect, startPostgres } from '@referrer/database'

export interface Databases {
  /** The address of an empty database of this name. */
  create(name: string): Promise<string>
  /** Stops the server and removes its files. */
  stop(): Promise<void>
}

/** A Postgres of the sandbox's own. The chain begins anew with every start, so the records do too. */
export async function startDatabases(directory: string): Promise<Databases> {
  const server = await startPostgres({ directory })
  return {
    async create(name) {
      const sql = connect(server.url, { max: 1, name: 'sandbox' })
      try {
        await sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`
        await sql`CREATE DATABASE ${sql(name)}`
      } finally {
        await sql.end()
      }
      const url = new URL(server.url)
      url.pathname = `/${name}`
      return url.href
    },
    async stop() {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
