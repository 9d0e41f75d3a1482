import { readFileSync } from 'node:fs'
import { isDatabaseUrl } from '@referrer/database'
import { type Hex, isHex, size } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import { type ChainConfig, Chains } from './chains-config.ts'
import { Secret } from './secret.ts'

export interface Config {
  /** One's own server; without it an embedded one keeps its data in `dataDir`. */
  databaseUrl: Secret | undefined
  dataDir: string
  host: string
  port: number
  logLevel: (typeof LOG_LEVELS)[number]
  /** The first is the default chain. */
  chains: [ChainConfig, ...ChainConfig[]]
  maxLagSeconds: number
  maxLagBlocks: number | undefined
  shutdownTimeoutMs: number
  oraclePrivateKey: Secret<Hex> | undefined
  publisherPrivateKey: Secret<Hex> | undefined
}

/** Every bad variable has its own line; none tells a value. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.problems = problems
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .refine((number) => number >= min && number <= max)

const postgresUrl = z
  .string()
  .refine(isDatabaseUrl)
  .transform((text) => new Secret(text))

const privateKey = z
  .custom<Hex>((text) => isHex(text) && size(text) === 32 && isKeyOfAccount(text))
  .transform((key) => new Secret(key))

/** The table behind reading, error messages and `--help`. */
const Environment = z.object({
  DATABASE_URL: postgresUrl.optional().meta({
    about: 'PostgreSQL 15 or newer to use instead of the embedded server',
    expected:
      'a URL like postgres://user:password@host:5432/database, special characters of the password percent-encoded',
  }),
  DATA_DIR: z.string().prefault('.referrer/postgres').meta({
    about: 'where the embedded server keeps its data',
    expected: 'a directory',
  }),
  HOST: z
    .string()
    .regex(/^[\w.:-]+$/)
    .prefault('127.0.0.1')
    .meta({ about: 'address to listen on', expected: 'a host name or an IP address' }),
  PORT: whole(0, 65_535).prefault('8080').meta({
    about: 'port to listen on, 0 for any free one',
    expected: 'a whole number from 0 to 65535',
  }),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .prefault('info')
    .meta({
      about: `least level to log: ${LOG_LEVELS.join(', ')}`,
      expected: `one of ${LOG_LEVELS.join(', ')}`,
    }),
  CHAINS: z.string().optional().meta({
    about: 'the chains as a JSON array, the default chain first',
    expected: 'a JSON array of chains',
  }),
  CHAINS_FILE: z.string().optional().meta({
    about: 'a file with the same JSON, instead of CHAINS',
    expected: 'the path of a file',
  }),
  MAX_LAG_SECONDS: whole(1, Number.MAX_SAFE_INTEGER).prefault('30').meta({
    about: 'seconds that the records of a chain may lag behind it before the service is not ready',
    expected: 'a whole number from 1 up',
  }),
  MAX_LAG_BLOCKS: whole(1, Number.MAX_SAFE_INTEGER).optional().meta({
    about: 'the same in blocks; not looked at when left out',
    expected: 'a whole number from 1 up',
  }),
  SHUTDOWN_TIMEOUT_MS: whole(0, 3_600_000).prefault('25000').meta({
    about: 'how long running work may take to finish when the service stops',
    expected: 'a whole number from 0 to 3600000',
  }),
  ORACLE_PRIVATE_KEY: privateKey.optional().meta({
    about: 'key that signs what the oracle records on-chain',
    expected: 'a private key: 0x and 64 hex digits',
  }),
  PUBLISHER_PRIVATE_KEY: privateKey.optional().meta({
    about: 'key that signs what the service publishes for others',
    expected: 'a private key: 0x and 64 hex digits',
  }),
})

/** Reads the environment; throws one `ConfigError` that names everything wrong with it. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  // An empty variable is how a shell or a compose file says that it is not set.
  const set = Object.fromEntries(
    Object.keys(Environment.shape).map((name) => [name, env[name]?.trim() || undefined]),
  )
  const result = Environment.safeParse(set)
  const problems: string[] = []
  for (const [name, schema] of Object.entries<z.ZodType>(Environment.shape)) {
    if (result.error?.issues.some(({ path }) => path[0] === name)) {
      problems.push(`${name}: expected ${schema.meta()?.expected}`)
    }
  }
  const [first, ...others] = readChains(set.CHAINS, set.CHAINS_FILE, problems)
  if (!result.success || first === undefined) throw new ConfigError(problems)
  const values = result.data
  return {
    databaseUrl: values.DATABASE_URL,
    dataDir: values.DATA_DIR,
    host: values.HOST,
    port: values.PORT,
    logLevel: values.LOG_LEVEL,
    chains: [first, ...others],
    maxLagSeconds: values.MAX_LAG_SECONDS,
    maxLagBlocks: values.MAX_LAG_BLOCKS,
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT_MS,
    oraclePrivateKey: values.ORACLE_PRIVATE_KEY,
    publisherPrivateKey: values.PUBLISHER_PRIVATE_KEY,
  }
}

function readChains(text: string | undefined, file: string | undefined, problems: string[]): ChainConfig[] {
  const source = text === undefined ? 'CHAINS_FILE' : 'CHAINS'
  if (text !== undefined && file !== undefined) {
    problems.push('CHAINS_FILE: set either this or CHAINS, not both')
    return []
  }
  if (file !== undefined) {
    try {
      text = readFileSync(file, 'utf8')
    } catch (error) {
      problems.push(`CHAINS_FILE: ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
      return []
    }
  }
  if (text === undefined) {
    problems.push(
      'CHAINS: no chain is configured; set CHAINS to a JSON array of chains, or CHAINS_FILE to a file with one',
    )
    return []
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // The parser's own message would quote the text, keys in RPC URLs included.
    problems.push(`${source}: not valid JSON`)
    return []
  }
  const result = Chains.safeParse(json)
  if (result.success) return result.data
  for (const { path, message } of result.error.issues) problems.push(`${source}${at(path)}: ${message}`)
  return []
}

/** `[0].contracts.USDC` */
function at(path: readonly PropertyKey[]): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('')
}

/** Every variable with what it is for and its default. */
export function describeVariables(): string {
  const names = Object.keys(Environment.shape)
  const width = Math.max(...names.map((name) => name.length))
  return Object.entries<z.ZodType>(Environment.shape)
    .map(([name, schema]) => {
      const fallback = schema instanceof z.ZodPrefault ? ` (default ${schema.def.defaultValue})` : ''
      return `  ${name.padEnd(width)}  ${schema.meta()?.about}${fallback}`
    })
    .join('\n')
}

function isKeyOfAccount(key: Hex): boolean {
  try {
    return privateKeyToAccount(key).type === 'local'
  } catch {
    return false
  }
}
