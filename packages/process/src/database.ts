import { type Database, openDatabase } from '@referrer/database'
import type { Logger } from 'pino'
import type { CommonConfig } from './common-config.ts'

interface Purpose {
  /** The `application_name` of the connections. */
  name: string
  max: number
  log: Logger
}

/** Opens the configured database: the operator's own server, or the embedded one. */
export function openConfigured(
  { databaseUrl, dataDir }: Pick<CommonConfig, 'databaseUrl' | 'dataDir'>,
  { name, max, log }: Purpose,
): Promise<Database> {
  const options = { name, max, onProgress: (line: string) => log.info(line) }
  return openDatabase(
    databaseUrl ? { ...options, url: databaseUrl.reveal() } : { ...options, directory: dataDir },
  )
}
