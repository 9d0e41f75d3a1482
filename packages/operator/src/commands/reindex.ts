import { parseArgs } from 'node:util'
import { forgetChain } from '@referrer/chain'
import { ConfigError } from '@referrer/process'
import { readConfig } from '@referrer/service'
import type { Command } from '../command.ts'
import { withRecords } from '../records.ts'

export const reindex: Command = {
  name: 'reindex',
  summary: 'forgets what was read from a chain, so that it is read anew',
  help: () => `Forgets what was read from a chain, so that it is read anew. What only the service knows stays.

Usage: referrer reindex <chain id>

The service may run meanwhile: its indexer then begins anew.

Environment: that of the service (referrer serve --help).
`,
  async run(args, { env, print }) {
    const { positionals } = parseArgs({ args, allowPositionals: true })
    const config = readConfig(env)
    const chain = config.chains.find(({ chainId }) => positionals.join(' ') === String(chainId))
    if (!chain) {
      const ids = config.chains.map(({ chainId }) => chainId).join(', ')
      throw new ConfigError([`reindex: expected one of the configured chains (${ids})`])
    }
    await withRecords(config, ({ sql }) => forgetChain(sql, chain.chainId))
    print(`chain ${chain.chainId} will be read anew from block ${chain.startBlock}\n`)
    return 0
  },
}
