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
import type { LimitsConfig } from './limits/index.ts'
import { LOG_LEVELS, type LogLevel } from './log.ts'
import type { MetricsAddress } from './metrics-port.ts'
import {
  baseUrl,
  commit,
  flag,
  host,
  list,
  network,
  oneOf,
  postgresUrl,
  secret,
  share,
  text,
  whole,
} from './readers.ts'
import type { Secret } from './secret.ts'
import type { TracingConfig } from './tracing/types.ts'

export interface CommonConfig {
  /** URL of the operator's Postgres server; without it an embedded server keeps its data in `dataDir`. */
  databaseUrl: Secret | undefined
  dataDir: string
  host: string
  port: number
  /** Where `/metrics` is served apart from everything else; without it, it is on `port`. */
  metrics: MetricsAddress | undefined
  /** Where traces are sent; without it there are none. */
  tracing: TracingConfig | undefined
  /** What this program was built from, for its metrics. */
  commit: string | undefined
  logLevel: LogLevel
  /** The first is the default chain. */
  chains: [ChainConfig, ...ChainConfig[]]
  /** Whether the start migrates the database; otherwise it waits until somebody else has. */
  migrates: boolean
  shutdownTimeoutMs: number
  trustedProxies: readonly string[]
  rateLimit: { perSecond: number; burst: number }
  limits: LimitsConfig
  /** Whether merchants' endpoints may have loopback addresses; for sandboxes only. Other private addresses stay refused. */
  allowPrivateHosts: boolean
  /** Networks that strangers' hosts may not be in, although they are public by their numbers. */
  fetchDeny: readonly string[]
}

const networks = list(network, 'IP addresses or networks like 10.0.0.0/8 separated by commas')

export const commonVariables = (defaults: { dataDir: string; port: number }) => ({
  DATABASE_URL: optional(postgresUrl, 'PostgreSQL 15 or newer to use instead of the embedded server'),
  DATA_DIR: withDefault(text('a directory'), 'where the embedded server keeps its data', defaults.dataDir),
  HOST: withDefault(host, 'address to listen on', '127.0.0.1'),
  PORT: withDefault(whole(0, 65_535), 'port to listen on, 0 for any free one', String(defaults.port)),
  METRICS_PORT: optional(
    whole(0, 65_535),
    'a port of its own for /metrics, /healthz and /readyz; then /metrics is not on PORT',
  ),
  METRICS_HOST: withDefault(host, 'address to listen on for METRICS_PORT', '127.0.0.1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    baseUrl,
    'base URL of an OTLP/HTTP receiver of traces, like http://127.0.0.1:4318; without it nothing is traced',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optional(
    secret,
    'headers for that receiver, like authorization=Bearer …, separated by commas',
  ),
  OTEL_SERVICE_NAME: optional(text('a name'), "the program's name in traces"),
  OTEL_TRACES_SAMPLER_ARG: withDefault(
    share,
    'share of the traces that are recorded, where the caller has not decided',
    '1',
  ),
  BUILD_COMMIT: optional(commit, 'the commit that this program was built from, shown in its metrics'),
  LOG_LEVEL: withDefault(oneOf(...LOG_LEVELS), `least level to log: ${LOG_LEVELS.join(', ')}`, 'info'),
  CHAINS: optional(text('a JSON array of chains'), 'the chains as a JSON array, the default chain first'),
  CHAINS_FILE: optional(text('the path of a file'), 'a file with the same JSON, instead of CHAINS'),
  DEPLOYMENTS: optional(
    text('paths of files separated by commas'),
    'address books that the deployment of the contracts wrote, separated by commas; each chain then needs RPC_URLS_<chain id> (nodes separated by commas) and may have CHAIN_<chain id> (a JSON object with further fields)',
  ),
  MIGRATE: withDefault(
    oneOf('on', 'off'),
    'off: the start waits until `referrer migrate` has brought the database up to date',
    'on',
  ),
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
  LIMITS: withDefault(
    oneOf('postgres', 'memory'),
    'where requests of clients are counted: postgres, for all replicas together; memory, in each process alone',
    'postgres',
  ),
  LIMITS_TIMEOUT_MS: withDefault(
    whole(10, 10_000),
    'how long a request waits for postgres to count it; after that each replica counts alone until it answers',
    '100',
  ),
  ALLOW_PRIVATE_HOSTS: withDefault(
    flag,
    "whether merchants' endpoints may be on this machine (loopback only); for sandboxes",
    'false',
  ),
  FETCH_DENY: optional(
    networks,
    'networks of ours with public addresses, separated by commas: nothing is fetched from there for strangers',
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
  if (common.port !== 0 && common.metrics?.port === common.port)
    problems.push('METRICS_PORT: the same as PORT; choose another')
  problems.push(...check(values, common))
  if (problems.length > 0) throw new ConfigError(problems)
  return { values, common }
}

const limitsOf = ({ LIMITS, LIMITS_TIMEOUT_MS }: Values<CommonVariables>): LimitsConfig => ({
  store: LIMITS,
  timeoutMs: LIMITS_TIMEOUT_MS,
})

const commonOf = (values: Values<CommonVariables>, chains: CommonConfig['chains']): CommonConfig => ({
  databaseUrl: values.DATABASE_URL,
  dataDir: values.DATA_DIR,
  host: values.HOST,
  port: values.PORT,
  metrics:
    values.METRICS_PORT === undefined ? undefined : { host: values.METRICS_HOST, port: values.METRICS_PORT },
  tracing:
    values.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
      ? undefined
      : {
          endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
          headers: values.OTEL_EXPORTER_OTLP_HEADERS,
          serviceName: values.OTEL_SERVICE_NAME,
          ratio: values.OTEL_TRACES_SAMPLER_ARG,
        },
  commit: values.BUILD_COMMIT,
  logLevel: values.LOG_LEVEL,
  chains,
  migrates: values.MIGRATE === 'on',
  shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
  trustedProxies: values.TRUSTED_PROXIES ?? [],
  rateLimit: { perSecond: values.RATE_LIMIT_PER_SECOND, burst: values.RATE_LIMIT_BURST },
  limits: limitsOf(values),
  allowPrivateHosts: values.ALLOW_PRIVATE_HOSTS,
  fetchDeny: values.FETCH_DENY ?? [],
})
