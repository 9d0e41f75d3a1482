import { parseArgs } from 'node:util'
import { accept as acceptAll, pendingAcceptances, readAddressBook } from '@referrer/contracts/deploy'
import { optional, Read } from '@referrer/process'
import { privateKeyToAccount } from 'viem/accounts'
import { type Command, CommandFailed } from '../../command.ts'
import { FLAGS, openTarget, orFail } from './target.ts'

const VARIABLES = {
  ADMIN_PRIVATE_KEY: optional(Read.privateKey, 'the key that accepts'),
}

export const accept: Command = {
  name: 'accept',
  summary: 'takes over as admin what a deployment handed to you',
  help: () => `Takes over, as admin and as owner of the address registry, what a deployment handed to you.

Usage: referrer accept <file> [--book <file>] [--dry-run]

  <file>         the file that the deployment was made from
  --book <file>  its address book (default: contracts/deployments/<chain id>.json)
  --dry-run      print what waits; send nothing

Environment:
  RPC_URL            the chain's JSON-RPC endpoint
  ADMIN_PRIVATE_KEY  the key that accepts; left out: everything is printed with its calldata, for a multisig or a timelock
`,
  async run(args, { env, print }) {
    const { values: flags, positionals } = parseArgs({ args, allowPositionals: true, options: FLAGS })
    const [file, ...more] = positionals
    if (more.length > 0) throw new CommandFailed(`accept takes one file, not also ${more.join(' ')}`)
    const { client, config, book: path, values } = await openTarget(file, flags, VARIABLES, env)
    await orFail(async () => {
      const book = readAddressBook(path, config.chainId)
      if (!book) throw new CommandFailed(`there is no address book at ${path}: deploy first`)
      const key = flags['dry-run'] ? undefined : values.ADMIN_PRIVATE_KEY
      const account = key && privateKeyToAccount(key.reveal())
      const pending = await pendingAcceptances(client, book.contracts)
      const rest = await acceptAll(client, account, pending, ({ title }) => print(`✓ ${title}\n`))
      if (pending.length === 0) print('nothing to accept\n')
      for (const { title, by, to, data, after } of rest) {
        const from = after > 0 ? `, after ${new Date(after * 1_000).toISOString()}` : ''
        print(`! ${title}: to be sent by ${by}${from}\n    to ${to} data ${data}\n`)
      }
    })
    return 0
  },
}
