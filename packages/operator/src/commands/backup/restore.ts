import { parseArgs } from 'node:util'
import { restore as restoreBackup } from '@referrer/database'
import { type Command, CommandFailed } from '../../command.ts'
import { createSteps, summary } from './progress.ts'
import { ALL_SETS, openTarget, readTarget } from './target.ts'

const HELP = `Restores a backup into an empty database, in one transaction: all of it or nothing. Stop the programs that use the database first.

Usage: referrer restore <file> [--roles <roles>] [--replace <database>]

  --roles <roles>       whose database: api, indexer and workers have the service's, facilitator has its own (default: ROLES)
  --replace <database>  its tables are replaced; to be sure, name the database

Environment: DATABASE_URL or DATA_DIR, as for serve; for the facilitator FACILITATOR_DATABASE_URL or FACILITATOR_DATA_DIR, if set.
`

export const restore: Command = {
  name: 'restore',
  summary: 'restores a backup into an empty database',
  help: () => HELP,
  async run(args, { env, print }) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { roles: { type: 'string' }, replace: { type: 'string' } },
    })
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw new CommandFailed('restore: name one file; see --help')
    const target = readTarget(env, values.roles)
    const database = await openTarget(target, 'referrer restore')
    try {
      const contents = await restoreBackup(database.sql, file, {
        sets: ALL_SETS,
        expected: target.sets,
        ...(values.replace === undefined ? {} : { replace: values.replace }),
        ...createSteps(print),
      })
      print(
        `restored the ${target.owner}'s database as of ${contents.header.takenAt}: ${summary(contents)}\n`,
      )
      return 0
    } finally {
      await database.close()
    }
  },
}
