import { forgetChain } from '@referrer/chain'
import { migrate } from '@referrer/database'
import { type Config, ConfigError } from './config.ts'
import { migrations } from './db/migrations.ts'
import { createLog } from './log.ts'
import { openConfigured } from './service.ts'

/** Safe while the service runs: whoever indexes the chain begins again. Says what happened. */
export async function reindex(config: Config, chain: string): Promise<string> {
  const known = config.chains.find(({ chainId }) => String(chainId) === chain)
  if (!known) {
    const ids = config.chains.map(({ chainId }) => chainId).join(', ')
    throw new ConfigError([`--reindex: expected one of the configured chains (${ids})`])
  }
  const database = await openConfigured(config, createLog(config.logLevel))
  try {
    await migrate(database.sql, migrations)
    await forgetChain(database.sql, known.chainId)
  } finally {
    await database.close()
  }
  return `chain ${chain} will be read anew from block ${known.startBlock}`
}
