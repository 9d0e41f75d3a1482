import { parseArgs } from 'node:util'
import { outdateWords, readConfig, rebuildListings } from '@referrer/service'
import type { Command } from '../command.ts'
import { withRecords } from '../records.ts'

export const discoveryRebuild: Command = {
  name: 'discovery rebuild',
  summary: 'makes all listings of discovery anew from the records',
  help: () => `Makes anew, from the records, what discovery shows of all products: which are open, their reviews, and what these say.

Usage: referrer discovery rebuild [--learn]

  --learn   have the service learn new word vectors from the market afterwards (EMBEDDER=learned), within ten minutes

The service may run meanwhile; whoever searches sees the listings of before until the new ones are there. Vectors and prices stay: they are
looked at again, and made anew where they are of another text or endpoint.

Environment: that of the service (referrer serve --help).
`,
  async run(args, { env, print }) {
    const { values } = parseArgs({ args, options: { learn: { type: 'boolean', default: false } } })
    const config = readConfig(env)
    await withRecords(config, async ({ sql }) => {
      for (const { chainId } of config.chains) {
        const tell = (line: string) => print(`chain ${chainId}: ${line}\n`)
        const count = await rebuildListings(sql, chainId, new Date(), (sofar) => {
          if (sofar % 10_000 === 0) tell(`${sofar} products so far`)
        })
        tell(`${count} products`)
      }
      if (values.learn) await outdateWords(sql)
    })
    return 0
  },
}
