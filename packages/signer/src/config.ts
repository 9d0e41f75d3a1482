import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { marketUrlOf } from '@referrer/client/chain'
import { parseWebUrl } from '@referrer/net'
import { type Address, getAddress, isAddress, type LocalAccount } from 'viem'
import { type KeyStore, openKeyStore } from './key-store.ts'
import { createKeys, type Keys, readKey } from './keys.ts'
import { Refused } from './refused.ts'

export interface Config {
  keys: Keys
  store: KeyStore
  BASE_RPC_URL?: string
  CHAIN_ID?: number
  REVIEW_REGISTRY_ADDRESS?: Address
  COMMISSION_ESCROW_ADDRESS?: Address
  /** Ends in /mcp. */
  REFERRER_AGENT_MCP_URL?: string
  ADDRESS_REGISTRY?: Address
  FACILITATOR_URL?: string
  ATTESTATION_PUB_KEYS?: string[]
  SIGNER_STATE_DIR: string
  ALLOW_PRIVATE_HOSTS: boolean
  /** USDC base units; undefined for no limit. */
  MAX_PER_PURCHASE: bigint | undefined
  /** For all wallets together, per UTC day. */
  MAX_PER_DAY: bigint | undefined
  ALLOW_UNREADABLE_CAPS: boolean
}

type Env = Readonly<Record<string, string | undefined>>
type Optional = Exclude<
  keyof Config,
  | 'keys'
  | 'store'
  | 'SIGNER_STATE_DIR'
  | 'ALLOW_PRIVATE_HOSTS'
  | 'MAX_PER_PURCHASE'
  | 'MAX_PER_DAY'
  | 'ALLOW_UNREADABLE_CAPS'
>

const KEY = 'private key of secp256k1: 0x and 64 hex digits'
const DEFAULT_MAX_PER_PURCHASE = 5_000_000n
const DEFAULT_MAX_PER_DAY = 20_000_000n

export const VARIABLES = {
  AGENT_KEYS: 'keys of agents: agentId:key, separated by commas',
  AGENT_PRIVATE_KEY: 'the key for agents that AGENT_KEYS does not name, and for purchases without an agent',
  SIGNER_PASSWORD: 'opens the keys that setup has made, in keys/ of SIGNER_STATE_DIR',
  SIGNER_PASSWORD_FILE: 'a file with that password, in its place',
  SIGNER_LIGHT_KEYS:
    "true encrypts new keys with the parameters of geth's --lightkdf, 4 MiB and a tenth of the work: for a sandbox, or a machine with little memory (default false)",
  BASE_RPC_URL: 'a node of the chain',
  REFERRER_AGENT_MCP_URL:
    'the marketplace, or its tools at /mcp; the rest is read from there and checked on the chain',
  REFERRER_URL: 'the same by a shorter name',
  ADDRESS_REGISTRY:
    'the address registry that the marketplace must use (default: the one that it used the first time)',
  CHAIN_ID:
    'the chain that is paid and published on (8453 is Base, 84532 Base Sepolia; default: that of the node)',
  REVIEW_REGISTRY_ADDRESS: 'the review registry of the marketplace (default: as the chain names it)',
  COMMISSION_ESCROW_ADDRESS: 'the commission escrow of the marketplace (default: as the chain names it)',
  MAX_PER_PURCHASE: `the most that one purchase may cost, in USDC base units, or unlimited (default ${DEFAULT_MAX_PER_PURCHASE}, which is 5 USDC)`,
  MAX_PER_DAY: `the most that all wallets of this signer together may pay in a UTC day, in USDC base units, or unlimited (default ${DEFAULT_MAX_PER_DAY}, which is 20 USDC)`,
  ALLOW_UNREADABLE_CAPS:
    "true pays also where the owner's spending caps cannot be read from the marketplace (default false)",
  SIGNER_STATE_DIR: 'where keys are kept and purchases are written down (default ~/.referrer-signer)',
  ALLOW_PRIVATE_HOSTS: 'true lets shops be on this machine, for a sandbox (default false)',
  FACILITATOR_URL: 'where payments are settled (default: what the marketplace says)',
  ATTESTATION_PUB_KEYS: 'the keys that ref links must be signed with (default: what the marketplace says)',
} as const

/** The error names every invalid variable, but no values: they may be secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(problems: readonly string[]) {
    const [only, ...others] = problems
    const list = others.length === 0 ? ` ${only}` : problems.map((problem) => `\n  ${problem}`).join('')
    super(`The configuration cannot be used:${list}`)
  }
}

export function readConfig(env: Env): Config {
  const problems: string[] = []

  function read<T>(name: keyof typeof VARIABLES, expected: string, parse: (text: string) => T | undefined) {
    // An empty variable counts as not set.
    const text = env[name]?.trim()
    if (!text) return undefined
    const value = parse(text)
    if (value === undefined) problems.push(`${name}: expected ${expected}`)
    return value
  }

  const url = (name: keyof typeof VARIABLES) =>
    read(
      name,
      'an http or https URL without credentials',
      (text) => parseWebUrl(text) && text.replace(/\/+$/, ''),
    )
  const address = (name: keyof typeof VARIABLES) =>
    read(name, 'an address: 0x and 40 hex digits, all lower case or with the right checksum', (text) =>
      isAddress(text) ? getAddress(text) : undefined,
    )

  const flag = (name: keyof typeof VARIABLES) =>
    read(name, 'true or false', (text) => ({ true: true, false: false })[text]) ?? false
  /** Null for no limit. */
  const limit = (name: keyof typeof VARIABLES, otherwise: bigint) => {
    const amount = read(name, 'a whole number of USDC base units, or unlimited', (text) => {
      if (text === 'unlimited') return null
      return /^(?:0|[1-9]\d{0,29})$/.test(text) ? BigInt(text) : undefined
    })
    return amount === null ? undefined : (amount ?? otherwise)
  }

  const texts = read('AGENT_KEYS', 'agentId:key, separated by commas, each agent once', readKeys)
  const byAgent = new Map<string, LocalAccount>()
  for (const [agentId, text] of texts ?? []) {
    const account = readKey(text)
    if (account) byAgent.set(agentId, account)
    else problems.push(`AGENT_KEYS: the key of agent ${agentId} is no ${KEY}`)
  }
  const fallback = read('AGENT_PRIVATE_KEY', `a ${KEY}`, readKey)
  /** Where its tools are. */
  function marketOf(...urls: (string | undefined)[]): string | undefined {
    const [market, ...others] = new Set(urls.filter((one) => one !== undefined).map(marketUrlOf))
    if (others.length > 0) problems.push('REFERRER_AGENT_MCP_URL and REFERRER_URL: expected the same market')
    return market && `${market}/mcp`
  }
  const settings = {
    BASE_RPC_URL: url('BASE_RPC_URL'),
    CHAIN_ID: read('CHAIN_ID', 'a whole number from 1 up', (text) =>
      /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined,
    ),
    REVIEW_REGISTRY_ADDRESS: address('REVIEW_REGISTRY_ADDRESS'),
    COMMISSION_ESCROW_ADDRESS: address('COMMISSION_ESCROW_ADDRESS'),
    REFERRER_AGENT_MCP_URL: marketOf(url('REFERRER_AGENT_MCP_URL'), url('REFERRER_URL')),
    ADDRESS_REGISTRY: address('ADDRESS_REGISTRY'),
    FACILITATOR_URL: url('FACILITATOR_URL'),
    ATTESTATION_PUB_KEYS: read(
      'ATTESTATION_PUB_KEYS',
      '64 lower-case hex digits each, separated by commas',
      readPins,
    ),
  }
  const stateDir = pathOf(env.SIGNER_STATE_DIR?.trim() || '~/.referrer-signer')
  if (env.SIGNER_PASSWORD && env.SIGNER_PASSWORD_FILE) {
    problems.push('SIGNER_PASSWORD and SIGNER_PASSWORD_FILE: give one of them')
  }
  read('SIGNER_PASSWORD_FILE', 'a file with a password in its first line', () => passwordIn(env))
  const store = openKeyStore({
    stateDir,
    password: passwordIn(env),
    chainId: settings.CHAIN_ID,
    isLight: flag('SIGNER_LIGHT_KEYS'),
  })
  const config = {
    keys: createKeys(byAgent, fallback, store),
    store,
    ...(Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Pick<
      Config,
      Optional
    >),
    SIGNER_STATE_DIR: stateDir,
    ALLOW_PRIVATE_HOSTS: flag('ALLOW_PRIVATE_HOSTS'),
    MAX_PER_PURCHASE: limit('MAX_PER_PURCHASE', DEFAULT_MAX_PER_PURCHASE),
    MAX_PER_DAY: limit('MAX_PER_DAY', DEFAULT_MAX_PER_DAY),
    ALLOW_UNREADABLE_CAPS: flag('ALLOW_UNREADABLE_CAPS'),
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** The settings that a tool requires. */
export function need<K extends Optional>(config: Config, ...names: K[]): Required<Pick<Config, K>> {
  const missing = names.filter((name) => config[name] === undefined)
  if (missing.length === 0) return config as unknown as Required<Pick<Config, K>>
  throw new Refused(`the signer lacks ${missing.join(' and ')}: set it in the environment of the signer`)
}

/** The base URL of the marketplace, without the path of its MCP endpoint. */
export const marketUrl = (config: Config): string =>
  need(config, 'REFERRER_AGENT_MCP_URL').REFERRER_AGENT_MCP_URL.replace(/\/mcp$/, '')

/** The private keys as text, by agent id. */
function readKeys(text: string): Map<string, string> | undefined {
  const keys = new Map<string, string>()
  for (const entry of text.split(',')) {
    const [, agentId, key] = /^\s*(0|[1-9]\d{0,77}):\s*(\S+)\s*$/.exec(entry) ?? []
    if (agentId === undefined || key === undefined || keys.has(agentId)) return undefined
    keys.set(agentId, key)
  }
  return keys
}

/** Hosts start programs without a shell, so nothing else expands the tilde. */
const pathOf = (text: string) => text.replace(/^~(?=\/)/, homedir())

/** The password of the key store, or the first line of its file; undefined when there is none. */
export function passwordIn({
  SIGNER_PASSWORD: password,
  SIGNER_PASSWORD_FILE: path,
}: Env): string | undefined {
  if (password) return password
  if (!path?.trim()) return undefined
  try {
    return readFileSync(pathOf(path.trim()), 'utf8').split(/\r?\n/, 1)[0] || undefined
  } catch {
    return undefined
  }
}

function readPins(text: string): string[] | undefined {
  const pins = text.split(',').map((pin) => pin.trim())
  return pins.every((pin) => /^[0-9a-f]{64}$/.test(pin)) ? pins : undefined
}
