import { connect } from '@referrer/database'
import { startReplicatedPostgres } from '@referrer/database/testing'
import type { DatabasePair } from './faults.ts'

export interface Pair extends DatabasePair {
  /** Returns a URL that names both servers. */
  createDatabase(name: string): Promise<string>
  stop(): Promise<void>
}

/** A primary that acknowledges a commit when its standby has it, too. */
export async function startPair(): Promise<Pair> {
  const servers = await startReplicatedPostgres({ settings: { max_connections: '300' } })
  return {
    async createDatabase(name) {
      const admin = connect(servers.url, { max: 1, name: 'bench' })
      await admin.unsafe(`CREATE DATABASE ${name}`).finally(() => admin.end())
      return servers.urlOf(name)
    },
    async failOver() {
      await servers.primary().kill()
      await servers.promote()
      // What is left of the former primary may have commits that nobody was told of: it is copied anew.
      await servers.reseed()
    },
    stop: () => servers.remove(),
  }
}
