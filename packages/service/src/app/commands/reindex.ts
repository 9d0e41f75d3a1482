import { forgetChain } from '@referrer/chain'
import { migrate } from '@referrer/database'
import { ConfigError, createLog } from '@referrer/process'
import type { Config } from '../../kit/config.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { openRecords } from '../service.ts'

/** Deletes what was read from a chain, also while the service runs: its indexer then begins anew. Returns what to tell the operator. */
export async function reindex(config: Config, chain: string): Promise<string> {
  const known = config.chains.find(({ chainId }) => String(chainId) === chain)
  if (!known) {
    const ids = config.chains.map(({ chainId }) => chainId).join(', ')
    throw new ConfigError([`--reindex: expected one of the configured chains (${ids})`])
  }
  const database = await openRecords(config, createLog(config.logLevel))
  try {
    await migrate(database.sql, migrations)
    await forgetChain(database.sql, known.chainId)
  } finally {
    await database.close()
  }
  return `chain ${chain} will be read anew from block ${known.startBlock}`
}
