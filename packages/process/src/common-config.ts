// The configuration that the service and the facilitator share.
import { type ChainConfig, readChains } from './chains-config.ts'
import {
  ConfigError,
  type Env,
  optional,
  readEnvironment,
  type Table,
  type Values,
  withDefault,
} from './environment.ts'
import { LOG_LEVELS, type LogLevel } from './log.ts'
import { flag, host, list, network, oneOf, postgresUrl, text, whole } from './readers.ts'
import type { Secret } from './secret.ts'

export interface CommonConfig {
  /** URL of the operator's Postgres server; without it an embedded server keeps its data in `dataDir`. */
  databaseUrl: Secret | undefined
  dataDir: string
  host: string
  port: number
  logLevel: LogLevel
  /** The first is the default chain. */
  chains: [ChainConfig, ...ChainConfig[]]
  shutdownTimeoutMs: number
  trustedProxies: readonly string[]
  rateLimit: { perSecond: number; burst: number }
  /** Whether merchants' endpoints may have loopback addresses; for sandboxes only. Other private addresses stay refused. */
  allowPrivateHosts: boolean
}

const networks = list(network, 'IP addresses or networks like 10.0.0.0/8 separated by commas')

export const commonVariables = (defaults: { dataDir: string; port: number }) => ({
  DATABASE_URL: optional(postgresUrl, 'PostgreSQL 15 or newer to use instead of the embedded server'),
  DATA_DIR: withDefault(text('a directory'), 'where the embedded server keeps its data', defaults.dataDir),
  HOST: withDefault(host, 'address to listen on', '127.0.0.1'),
  PORT: withDefault(whole(0, 65_535), 'port to listen on, 0 for any free one', String(defaults.port)),
  LOG_LEVEL: withDefault(oneOf(...LOG_LEVELS), `least level to log: ${LOG_LEVELS.join(', ')}`, 'info'),
  CHAINS: optional(text('a JSON array of chains'), 'the chains as a JSON array, the default chain first'),
  CHAINS_FILE: optional(text('the path of a file'), 'a file with the same JSON, instead of CHAINS'),
  SHUTDOWN_TIMEOUT_MS: withDefault(
    whole(0, 3_600_000),
    'how long running work may take to finish when the program stops',
    '25000',
  ),
  TRUSTED_PROXIES: optional(
    networks,
    'proxies whose X-Forwarded-For is believed, separated by commas; without any, nobody',
  ),
  RATE_LIMIT_PER_SECOND: withDefault(whole(1, 1_000_000), 'requests a second that one client may send', '50'),
  RATE_LIMIT_BURST: withDefault(whole(1, 1_000_000), 'requests that one client may send at once', '100'),
  ALLOW_PRIVATE_HOSTS: withDefault(
    flag,
    "whether merchants' endpoints may be on this machine (loopback only); for sandboxes",
    'false',
  ),
})

type CommonVariables = ReturnType<typeof commonVariables>

/**
 * Reads a table of variables that includes the common ones. Throws one `ConfigError` that lists all problems. `check` validates rules
 * that span several values.
 */
export function readConfiguration<T extends Table & CommonVariables>(
  table: T,
  env: Env,
  check: (values: Values<T>, common: CommonConfig) => string[] = () => [],
): { values: Values<T>; common: CommonConfig } {
  const { values, problems } = readEnvironment(table, env)
  const chains = readChains(env, problems)
  if (!values || !chains) throw new ConfigError(problems)
  const common = commonOf(values as Values<CommonVariables>, chains)
  problems.push(...check(values, common))
  if (problems.length > 0) throw new ConfigError(problems)
  return { values, common }
}

const commonOf = (values: Values<CommonVariables>, chains: CommonConfig['chains']): CommonConfig => ({
  databaseUrl: values.DATABASE_URL,
  dataDir: values.DATA_DIR,
  host: values.HOST,
  port: values.PORT,
  logLevel: values.LOG_LEVEL,
  chains,
  shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
  trustedProxies: values.TRUSTED_PROXIES ?? [],
  rateLimit: { perSecond: values.RATE_LIMIT_PER_SECOND, burst: values.RATE_LIMIT_BURST },
  allowPrivateHosts: values.ALLOW_PRIVATE_HOSTS,
})
