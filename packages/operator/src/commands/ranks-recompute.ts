import { parseArgs } from 'node:util'
import { createRpcPool } from '@referrer/chain'
import { readConfig, recomputeRanks } from '@referrer/service'
import type { Command } from '../command.ts'
import { withRecords } from '../records.ts'

export const ranksRecompute: Command = {
  name: 'ranks recompute',
  summary: 'computes all ranks anew from the records',
  help: () => `Computes all ranks anew, of reviewers, products and merchants, from the votes, findings, reviews and purchases in the records.

Usage: referrer ranks recompute

The service may run meanwhile: everybody sees the ranks of before until those of a whole chain are there. What happens in the
meantime is followed afterwards, and changes of products wait. What the oracle found and decided stays, and so do the weights that votes and
opinions were given.

Environment: that of the service (referrer serve --help).
`,
  async run(args, { env, print }) {
    parseArgs({ args })
    const config = readConfig(env)
    await withRecords(config, async ({ sql }) => {
      for (const chain of config.chains) {
        const { chainId } = chain
        const rpc = createRpcPool({ chainId, urls: chain.rpcUrls.map((url) => url.reveal()), fetch })
        const tell = (line: string) => print(`chain ${chainId}: ${line}\n`)
        const terms = { now: new Date(), fullCommission: config.fullCommission }
        await recomputeRanks(sql, { config: chain, rpc, attestation: undefined }, terms, tell)
      }
    })
    return 0
  },
}
