import {
  awaitMigrations,
  type Database,
  type MigrationSet,
  migrate,
  openDatabase,
  type QueryObserver,
  type Sql,
} from '@referrer/database'
import type { Logger } from 'pino'
import type { CommonConfig } from './common-config.ts'

interface Purpose {
  /** The `application_name` of the connections. */
  name: string
  max: number
  log: Logger
  observe?: QueryObserver | undefined
}

/** Opens the configured database: the operator's own server, or the embedded one. */
export function openConfigured(
  { databaseUrl, dataDir }: Pick<CommonConfig, 'databaseUrl' | 'dataDir'>,
  { name, max, log, observe }: Purpose,
): Promise<Database> {
  const options = { name, max, observe, onProgress: (line: string) => log.info(line) }
  return openDatabase(
    databaseUrl ? { ...options, url: databaseUrl.reveal() } : { ...options, directory: dataDir },
  )
}

/** Brings the database up to date, or waits until `referrer migrate` has. */
export async function bringUpToDate(
  { migrates }: Pick<CommonConfig, 'migrates'>,
  sql: Sql,
  sets: MigrationSet[],
  { log, signal }: { log: Logger; signal?: AbortSignal | undefined },
): Promise<void> {
  const onWait = (pending: readonly string[]) =>
    log.warn(
      { pending },
      'waiting for the database to be migrated: run `referrer migrate`, or set MIGRATE=on',
    )
  const { newer } = migrates ? await migrate(sql, sets) : await awaitMigrations(sql, sets, { signal, onWait })
  if (newer.length > 0) {
    log.warn({ newer }, 'a newer version has migrated the database; this version goes on working with it')
  }
}
