import { stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { backUp, verifyBackup } from '@referrer/database'
import { type Command, CommandFailed, type Surroundings } from '../../command.ts'
import { createProgress, createSteps, megabytes, summary } from './progress.ts'
import { ALL_SETS, openTarget, readTarget } from './target.ts'

const HELP = `Writes all records of a database to one file, while the programs that use it go on. The file gets its name once it is complete and has been
restored into a server of its own for a try.

Usage: referrer backup <file> [--roles <roles>] [--no-verify]
       referrer backup --verify <file>

  --roles <roles>  whose database: api, indexer and workers have the service's, facilitator has its own (default: ROLES)
  --no-verify      do not restore it for a try
  --verify         only restore a backup for a try; needs no database

Environment: DATABASE_URL or DATA_DIR, as for serve; for the facilitator FACILITATOR_DATABASE_URL or FACILITATOR_DATA_DIR, if set. TMPDIR is where
the server for the try keeps its data: about three times the size of the rows.
`

export const backup: Command = {
  name: 'backup',
  summary: 'writes all records of a database to a file, and restores it for a try',
  help: () => HELP,
  async run(args, surroundings) {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      allowNegative: true,
      options: { roles: { type: 'string' }, verify: { type: 'boolean' } },
    })
    const [file, ...more] = positionals
    if (file === undefined || more.length > 0) throw new CommandFailed('backup: name one file; see --help')
    if (values.verify === true) await verify(file, surroundings)
    else await write(file, { roles: values.roles, isVerified: values.verify !== false }, surroundings)
    return 0
  },
}

async function write(
  file: string,
  { roles, isVerified }: { roles: string | undefined; isVerified: boolean },
  { env, print }: Surroundings,
): Promise<void> {
  const target = readTarget(env, roles)
  const database = await openTarget(target, 'referrer backup')
  try {
    const contents = await backUp(database.sql, file, {
      sets: ALL_SETS,
      onProgress: createProgress(print, 'writing'),
      async check(draft) {
        if (isVerified) await tryOut(draft, print)
      },
    })
    const { size } = await stat(file)
    print(`${file}: the ${target.owner}'s database, ${summary(contents)}, ${megabytes(size)} packed\n`)
    print(
      isVerified
        ? 'it was restored for a try, and every table was the same\n'
        : 'it was not restored for a try\n',
    )
  } finally {
    await database.close()
  }
}

async function verify(file: string, { print }: Surroundings): Promise<void> {
  const contents = await tryOut(file, print)
  print(`${file}: taken at ${contents.header.takenAt}, ${summary(contents)}\n`)
  print('it was restored for a try, and every table was the same\n')
}

const tryOut = (file: string, print: (text: string) => void) =>
  verifyBackup(file, { sets: ALL_SETS, ...createSteps((text) => print(`trying it: ${text}`)) })
