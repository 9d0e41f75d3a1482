import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../connect.ts'
import { startPostgres } from '../embedded.ts'
import type { Contents } from './read-file.ts'
import { type RestoreOptions, restore } from './restore.ts'

/** What is lost with it is only a copy. */
const CARELESS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }

/** Restores a backup into an embedded server that is there for this alone, and removes it. */
export async function verifyBackup(
  path: string,
  options: Omit<RestoreOptions, 'replace'>,
): Promise<Contents> {
  const directory = await mkdtemp(join(tmpdir(), 'referrer-verify-'))
  try {
    const server = await startPostgres({ directory, settings: CARELESS })
    const sql = connect(server.url, { max: 2, name: 'referrer backup' })
    try {
      return await restore(sql, path, options)
    } finally {
      await sql.end({ timeout: 1 })
      await server.stop()
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
