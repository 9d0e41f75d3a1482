import { type Database, openDatabase } from '@referrer/database'
import type { Logger } from 'pino'
import type { CommonConfig } from './common-config.ts'

interface Purpose {
  /** As the server shows whose connections these are. */
  name: string
  max: number
  log: Logger
}

/** The database of a configuration: one's own, or the embedded one. */
export function openConfigured(
  { databaseUrl, dataDir }: Pick<CommonConfig, 'databaseUrl' | 'dataDir'>,
  { name, max, log }: Purpose,
): Promise<Database> {
  const options = { name, max, onProgress: (line: string) => log.info(line) }
  return openDatabase(
    databaseUrl ? { ...options, url: databaseUrl.reveal() } : { ...options, directory: dataDir },
  )
}
