// Which database a command is about: the service's or the facilitator's.
import { type Database, type MigrationSet, openDatabase } from '@referrer/database'
import { variables as facilitatorVariables, migrations as ofFacilitator } from '@referrer/facilitator'
import { ConfigError, type Env, readEnvironment, type Secret } from '@referrer/process'
import { migrations as ofService, variables as serviceVariables } from '@referrer/service'
import { facilitatorEnvironment } from '../../programs.ts'
import { readRoles } from '../../roles.ts'

export interface Target {
  owner: 'service' | 'facilitator'
  /** The sets that a database of this owner has. */
  sets: MigrationSet[]
  databaseUrl: Secret | undefined
  dataDir: string
}

/** All that are known here, in order: the two programs may share a database. */
export const ALL_SETS = [...new Set([...ofService, ...ofFacilitator])]

export function readTarget(env: Env, option: string | undefined): Target {
  const roles = readRoles(option, env)
  const isFacilitator = roles.includes('facilitator')
  if (isFacilitator && roles.length > 1) {
    const source = option === undefined ? 'ROLES' : '--roles'
    throw new ConfigError([
      `${source}: names the service and the facilitator, which have a database each; add --roles api for the one, then --roles facilitator for the other`,
    ])
  }
  const { DATABASE_URL, DATA_DIR } = isFacilitator ? facilitatorVariables : serviceVariables
  const own = isFacilitator ? facilitatorEnvironment(env, false).env : env
  const { values, problems } = readEnvironment({ DATABASE_URL, DATA_DIR }, own)
  if (!values) throw new ConfigError(problems)
  return {
    owner: isFacilitator ? 'facilitator' : 'service',
    sets: isFacilitator ? ofFacilitator : ofService,
    databaseUrl: values.DATABASE_URL,
    dataDir: values.DATA_DIR,
  }
}

export function openTarget({ databaseUrl, dataDir }: Target, name: string): Promise<Database> {
  const options = { name, max: 2 }
  return openDatabase(
    databaseUrl ? { ...options, url: databaseUrl.reveal() } : { ...options, directory: dataDir },
  )
}
