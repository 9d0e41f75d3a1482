// The configurations of the programs that run in one process, read from one environment.
import {
  type Config as FacilitatorConfig,
  variables as facilitatorVariables,
  readConfig as readFacilitatorConfig,
} from '@referrer/facilitator'
import { ConfigError, type Env } from '@referrer/process'
import { readConfig, type Config as ServiceConfig } from '@referrer/service'
import { isOfService, type Role } from './roles.ts'

export interface Programs {
  service: ServiceConfig | undefined
  facilitator: FacilitatorConfig | undefined
}

const PREFIX = 'FACILITATOR_'

/** Variables that mean something else to each program: beside a service, the facilitator has only those with the prefix. */
const OWN = new Set([
  'DATABASE_URL',
  'DATABASE_REPLICA_URLS',
  'DATA_DIR',
  'PORT',
  'METRICS_PORT',
  'ANSWER_TIMEOUT_MS',
])

/** Throws one `ConfigError` with all problems of all programs. */
export function readPrograms(env: Env, roles: readonly Role[]): Programs {
  const problems = new Set<string>()
  const read = <C>(config: () => C, rename = (problem: string) => problem): C | undefined => {
    try {
      return config()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      for (const problem of error.problems) problems.add(rename(problem))
      return undefined
    }
  }
  const hasService = roles.some(isOfService)
  const hasFacilitator = roles.includes('facilitator')
  const service = hasService ? read(() => readConfig({ ...env, ROLES: roles.join(',') })) : undefined
  const { env: own, prefixed } = facilitatorEnvironment(env, hasService)
  const rename = (problem: string) => (prefixed.has(nameIn(problem)) ? PREFIX + problem : problem)
  const facilitator = hasFacilitator ? read(() => readFacilitatorConfig(own), rename) : undefined
  if (hasService && hasFacilitator) for (const problem of sharedDatabase(env, own)) problems.add(problem)
  if (problems.size > 0) throw new ConfigError([...problems])
  return { service, facilitator }
}

const nameIn = (problem: string) => /^\w*/.exec(problem)?.[0] ?? ''

/** The environment of the facilitator: what has the prefix wins, without it. Also the names that it must be told with the prefix. */
export function facilitatorEnvironment(
  env: Env,
  isBesideService: boolean,
): { env: Env; prefixed: ReadonlySet<string> } {
  const own: Record<string, string | undefined> = { ...env }
  const prefixed = new Set<string>()
  for (const name of Object.keys(facilitatorVariables)) {
    const forms = [name, `${name}_FILE`]
    const isGiven = forms.some((form) => env[PREFIX + form]?.trim())
    if (!isGiven && !(isBesideService && OWN.has(name))) continue
    for (const form of forms) {
      own[form] = env[PREFIX + form]
      prefixed.add(form)
    }
  }
  return { env: own, prefixed }
}

/** Both keep an outbox of transactions in the same tables, so one database cannot serve both. */
function sharedDatabase(env: Env, own: Env): string[] {
  const [market, settlements] = [env, own].map(
    (one) => one.DATABASE_URL?.trim() || one.DATABASE_URL_FILE?.trim(),
  )
  if (!market) return []
  if (!settlements)
    return [
      'FACILITATOR_DATABASE_URL: not set, although DATABASE_URL is; the facilitator needs a database of its own',
    ]
  return market === settlements
    ? ['FACILITATOR_DATABASE_URL: the same as DATABASE_URL; the facilitator needs a database of its own']
    : []
}
