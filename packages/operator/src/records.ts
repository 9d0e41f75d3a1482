import { type Database, migrate } from '@referrer/database'
import { createLog } from '@referrer/process'
import { type Config, migrations, openRecords } from '@referrer/service'

/** Opens the records of the service for a command, brings them up to date, and closes them afterwards. */
export async function withRecords<T>(config: Config, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openRecords(config, createLog(config.logLevel))
  try {
    await migrate(database.sql, migrations)
    return await work(database)
  } finally {
    await database.close()
  }
}
