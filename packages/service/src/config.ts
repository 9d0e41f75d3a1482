import { readFileSync } from 'node:fs'
import { isDatabaseUrl } from '@referrer/database'
import ipaddr from 'ipaddr.js'
import { type Address, getAddress, type Hex, isAddress, isHex, size } from 'viem'
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
  /** Where callers reach the service; ref links begin with it. */
  publicUrl: string
  facilitatorUrl: string | undefined
  /** Ed25519 seeds of each chain: the first signs, the second is the one before it. */
  attestationSeeds: ReadonlyMap<number, readonly Secret<Hex>[]>
  adminAddresses: ReadonlySet<Address>
  /** Origins of pages that may call signed routes. */
  consoleOrigins: readonly string[]
  trustedProxies: readonly string[]
  rateLimit: { perSecond: number; burst: number }
  sessionSeconds: number
  /** To answer a request. A database that is silent must not hold callers for ever. */
  answerTimeoutMs: number
  /** Whether merchants' endpoints may be on this machine or in its network: on a developer's machine only. */
  allowPrivateHosts: boolean
  /** A directory of JSON files with schemas of reviews, one for each category. */
  reviewSchemas: string | undefined
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

const list = <T>(item: z.ZodType<T, string>) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(item))

const address = z
  .string()
  .refine((text) => isAddress(text))
  .transform((text): Address => getAddress(text))

const baseUrl = z
  .string()
  .refine(isBaseUrl)
  .transform((text) => text.replace(/\/+$/, ''))

const origin = z.string().refine((text) => isBaseUrl(text) && new URL(text).origin === text)

const network = z
  .string()
  .refine((text) => (text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text)))

const seed = z.custom<Hex>((text) => isHex(text) && size(text) === 32).transform((hex) => new Secret(hex))

const attestationKeys = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      context.addIssue({ code: 'custom' })
      return z.NEVER
    }
  })
  .pipe(z.record(z.string().regex(/^\d{1,15}$/), z.array(seed).min(1).max(2)))
  .transform((keys) => new Map(Object.entries(keys).map(([chainId, seeds]) => [Number(chainId), seeds])))

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
  PUBLIC_URL: baseUrl.optional().meta({
    about: 'where callers reach the service; ref links begin with it (default http://HOST:PORT)',
    expected: 'an http or https URL without query',
  }),
  FACILITATOR_URL: baseUrl.optional().meta({
    about: 'where payments are settled, for the manifest',
    expected: 'an http or https URL without query',
  }),
  ATTESTATION_KEYS: attestationKeys.optional().meta({
    about:
      'Ed25519 seeds that sign ref links, by chain: {"8453": ["0x<newest>", "0x<the one before>"]}; a chain without has no links',
    expected: 'a JSON object of chain ids with one or two seeds each: 0x and 64 hex digits, the newest first',
  }),
  ADMIN_ADDRESSES: list(address).optional().meta({
    about: 'accounts whose sessions may use /admin, separated by commas',
    expected: 'addresses separated by commas, all lower case or with the right checksum',
  }),
  CONSOLE_ORIGINS: list(origin).optional().meta({
    about: 'origins of web pages that may call signed routes, separated by commas',
    expected: 'origins like https://console.example separated by commas',
  }),
  TRUSTED_PROXIES: list(network).optional().meta({
    about: 'proxies whose X-Forwarded-For is believed, separated by commas; without any, nobody',
    expected: 'IP addresses or networks like 10.0.0.0/8 separated by commas',
  }),
  RATE_LIMIT_PER_SECOND: whole(1, 1_000_000).prefault('50').meta({
    about: 'requests a second that one client may send',
    expected: 'a whole number from 1 to 1000000',
  }),
  RATE_LIMIT_BURST: whole(1, 1_000_000).prefault('100').meta({
    about: 'requests that one client may send at once',
    expected: 'a whole number from 1 to 1000000',
  }),
  ANSWER_TIMEOUT_MS: whole(100, 600_000).prefault('30000').meta({
    about: 'how long a request may take to be answered',
    expected: 'a whole number from 100 to 600000',
  }),
  SESSION_SECONDS: whole(60, 86_400).prefault('3600').meta({
    about: 'how long a session lasts',
    expected: 'a whole number from 60 to 86400',
  }),
  ALLOW_PRIVATE_HOSTS: z.enum(['true', 'false']).prefault('false').meta({
    about: "whether merchants' endpoints may be on this machine or in its network; for development only",
    expected: 'true or false',
  }),
  REVIEW_SCHEMAS: z.string().optional().meta({
    about: 'a directory with schemas of reviews of further categories, one JSON file each',
    expected: 'a directory',
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
  const chains = readChains(set.CHAINS, set.CHAINS_FILE, problems)
  const [first, ...others] = chains
  for (const chainId of result.data?.ATTESTATION_KEYS?.keys() ?? []) {
    if (chains.every((chain) => chain.chainId !== chainId))
      problems.push(`ATTESTATION_KEYS: chain ${chainId} is not configured`)
  }
  if (!result.success || first === undefined || problems.length > 0) throw new ConfigError(problems)
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
    publicUrl: values.PUBLIC_URL ?? `http://${values.HOST}:${values.PORT}`,
    facilitatorUrl: values.FACILITATOR_URL,
    attestationSeeds: values.ATTESTATION_KEYS ?? new Map(),
    adminAddresses: new Set(values.ADMIN_ADDRESSES),
    consoleOrigins: values.CONSOLE_ORIGINS ?? [],
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    rateLimit: { perSecond: values.RATE_LIMIT_PER_SECOND, burst: values.RATE_LIMIT_BURST },
    sessionSeconds: values.SESSION_SECONDS,
    answerTimeoutMs: values.ANSWER_TIMEOUT_MS,
    allowPrivateHosts: values.ALLOW_PRIVATE_HOSTS === 'true',
    reviewSchemas: values.REVIEW_SCHEMAS,
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

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && username + password === '' && search === '' && hash === ''
}

function isKeyOfAccount(key: Hex): boolean {
  try {
    return privateKeyToAccount(key).type === 'local'
  } catch {
    return false
  }
}
