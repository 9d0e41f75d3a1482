import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from '@referrer/database'

/** What is filled in fits into memory, and need not outlive the machine. */
const SETTINGS = {
  shared_buffers: '2GB',
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  maintenance_work_mem: '512MB',
}

/** A server of its own, and a directory for logs, for as long as the work takes. */
export async function withPostgres(
  prefix: string,
  work: (postgres: PostgresServer, directory: string) => Promise<void>,
): Promise<void> {
  const [load = 0] = loadavg()
  if (load > cpus().length / 2)
    progress(`this machine is busy (load ${load.toFixed(1)}): do not trust the figures`)
  const directory = mkdtempSync(join(tmpdir(), prefix))
  // Root's Postgres runs as another user.
  chmodSync(directory, 0o711)
  const postgres = await startPostgres({ directory: join(directory, 'postgres'), settings: SETTINGS })
  try {
    await work(postgres, directory)
  } finally {
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

export function progress(line: string): void {
  console.log(`${(performance.now() / 1_000).toFixed(0).padStart(4)} s  ${line}`)
}

export function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
