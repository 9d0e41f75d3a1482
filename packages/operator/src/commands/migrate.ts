import { parseArgs } from 'node:util'
import { type MigrationSet, migrate as migrateDatabase, planMigrations, type Sql } from '@referrer/database'
import { migrations as facilitatorMigrations, variables as facilitatorVariables } from '@referrer/facilitator'
import {
  ConfigError,
  createLog,
  describeVariables,
  type Env,
  openConfigured,
  readEnvironment,
} from '@referrer/process'
import { migrations as serviceMigrations, variables as serviceVariables } from '@referrer/service'
import type { Command } from '../command.ts'
import { facilitatorEnvironment } from '../programs.ts'
import { isOfService, type Role, readRoles } from '../roles.ts'

const needed = ({
  DATABASE_URL,
  DATA_DIR,
  LOG_LEVEL,
}: typeof serviceVariables | typeof facilitatorVariables) => ({
  DATABASE_URL,
  DATA_DIR,
  LOG_LEVEL,
})

const help =
  () => `Brings the databases of the given roles up to date, file by file. Needs no keys and no chains.

Usage: referrer migrate [--roles <roles>] [--dry-run]

  --roles <roles>  as of serve: facilitator stands for its database, the others for that of the service
  --dry-run        only prints what would be applied; with kind and purpose of each file

While files of the kind "expand" are applied, the version before goes on; before those of the kind "contract" it has to be stopped.

Environment:
${describeVariables(needed(serviceVariables))}

Beside other roles the facilitator's have the prefix FACILITATOR_.
`

interface Target {
  name: string
  sets: MigrationSet[]
  database: Parameters<typeof openConfigured>[0]
  logLevel: Parameters<typeof createLog>[0]
}

export const migrate: Command = {
  name: 'migrate',
  summary: 'brings the databases up to date; --dry-run shows what it would do',
  help,
  async run(args, { env, print }) {
    const { values } = parseArgs({
      args,
      options: { roles: { type: 'string' }, 'dry-run': { type: 'boolean' } },
    })
    const work = values['dry-run'] ? plan : apply
    for (const { name, sets, database, logLevel } of targetsOf(env, readRoles(values.roles, env))) {
      const log = createLog(logLevel)
      const { sql, close } = await openConfigured(database, { name: 'referrer migrate', max: 2, log })
      try {
        for (const line of await work(sql, sets)) print(`${name}: ${line}\n`)
      } finally {
        await close()
      }
    }
    return 0
  },
}

async function apply(sql: Sql, sets: MigrationSet[]): Promise<string[]> {
  const { applied, newer } = await migrateDatabase(sql, sets)
  return [...applied.map((file) => `applied ${file}`), ...ahead(newer), 'up to date']
}

async function plan(sql: Sql, sets: MigrationSet[]): Promise<string[]> {
  const { pending, newer } = await planMigrations(sql, sets)
  const lines = pending.map(
    ({ name, kind, about }) => `would apply ${name} (${kind}${about && `: ${about}`})`,
  )
  return lines.length > 0 ? lines : [...ahead(newer), 'up to date']
}

const ahead = (newer: string[]) =>
  newer.map((file) => `${file} is of a newer version, which this one works with`)

function targetsOf(env: Env, roles: Role[]): Target[] {
  const hasService = roles.some(isOfService)
  const problems: string[] = []
  const target = (
    name: string,
    own: Env,
    table: ReturnType<typeof needed>,
    sets: MigrationSet[],
  ): Target[] => {
    const { values, problems: found } = readEnvironment(table, own)
    problems.push(...found.map((problem) => `${name}: ${problem}`))
    if (!values) return []
    const database = { databaseUrl: values.DATABASE_URL, dataDir: values.DATA_DIR }
    return [{ name, sets, database, logLevel: values.LOG_LEVEL }]
  }
  const service = hasService ? target('service', env, needed(serviceVariables), serviceMigrations) : []
  const facilitator = roles.includes('facilitator')
    ? target(
        'facilitator',
        facilitatorEnvironment(env, hasService).env,
        needed(facilitatorVariables),
        facilitatorMigrations,
      )
    : []
  if (problems.length > 0) throw new ConfigError(problems)
  return [...service, ...facilitator]
}
