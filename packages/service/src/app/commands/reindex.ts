// What an operator does by hand. All of it is safe while the service runs. Each says what happened.
import { forgetChain } from '@referrer/chain'
import { migrate, type Sql } from '@referrer/database'
import { ConfigError, createLog } from '@referrer/process'
import type { Config } from '../../kit/config.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { revive } from '../../machinery/workers/queue.ts'
import { openRecords } from '../service.ts'

/** Whoever indexes the chain begins again. */
export async function reindex(config: Config, chain: string): Promise<string> {
  const known = config.chains.find(({ chainId }) => String(chainId) === chain)
  if (!known) {
    const ids = config.chains.map(({ chainId }) => chainId).join(', ')
    throw new ConfigError([`--reindex: expected one of the configured chains (${ids})`])
  }
  await withDatabase(config, (sql) => forgetChain(sql, known.chainId))
  return `chain ${chain} will be read anew from block ${known.startBlock}`
}

/** Gives a job that was given up another chance. */
export async function reviveJob(config: Config, id: string): Promise<string> {
  if (!/^\d{1,18}$/.test(id)) throw new ConfigError(['--revive: expected the id of a dead job'])
  await withDatabase(config, (sql) =>
    revive(sql, BigInt(id)).catch((error: Error) => {
      throw new ConfigError([`--revive: ${error.message}`])
    }),
  )
  return `job ${id} is back in its queue`
}

async function withDatabase(config: Config, work: (sql: Sql) => Promise<void>): Promise<void> {
  const database = await openRecords(config, createLog(config.logLevel))
  try {
    await migrate(database.sql, migrations)
    await work(database.sql)
  } finally {
    await database.close()
  }
}
