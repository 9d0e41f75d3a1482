import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, type StartOptions, startPostgres } from '@referrer/database'
import { interrupt } from './processes.ts'

export interface StageOptions {
  settings?: StartOptions['settings']
  /** A server that is there already, instead of one of its own. */
  url?: string | undefined
  /** Keep the directory, and print where it is. */
  keep?: boolean
}

/** Runs the work with a Postgres server of its own and a directory for logs, and removes both. Ctrl-C ends all that the work started. */
export async function withPostgres(
  name: string,
  work: (postgres: PostgresServer, directory: string) => Promise<void>,
  { settings, url, keep = false }: StageOptions = {},
): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt)
  warnIfBusy()
  const directory = mkdtempSync(join(tmpdir(), `bench-${name}-`))
  try {
    // Postgres does not run as root: the user that it runs as must reach its directory.
    chmodSync(directory, 0o711)
    const postgres =
      url === undefined
        ? await startPostgres({ directory: join(directory, 'postgres'), ...(settings && { settings }) })
        : { url, stop: async () => {} }
    try {
      await work(postgres, directory)
    } finally {
      await postgres.stop()
    }
  } finally {
    if (keep) console.log(`kept in ${directory}`)
    else rmSync(directory, { recursive: true, force: true })
  }
}

export function warnIfBusy(): void {
  const [load = 0] = loadavg()
  if (load > cpus().length / 2)
    progress(`this machine is busy (load ${load.toFixed(1)}): do not trust the figures`)
}

export function progress(line: string): void {
  console.log(`${(performance.now() / 1_000).toFixed(0).padStart(4)} s  ${line}`)
}

export function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
