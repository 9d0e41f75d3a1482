import { homedir } from 'node:os'
import { parseWebUrl } from '@referrer/net'
import { type Address, getAddress, isAddress } from 'viem'
import { AgentKey, createKeys, type Keys } from './keys.ts'
import { Refused } from './refused.ts'

export interface Config {
  keys: Keys
  BASE_RPC_URL?: string
  CHAIN_ID?: number
  REVIEW_REGISTRY_ADDRESS?: Address
  COMMISSION_ESCROW_ADDRESS?: Address
  REFERRER_AGENT_MCP_URL?: string
  FACILITATOR_URL?: string
  ATTESTATION_PUB_KEYS?: string[]
  SIGNER_STATE_DIR: string
  ALLOW_PRIVATE_HOSTS: boolean
}

type Env = Readonly<Record<string, string | undefined>>
type Optional = Exclude<keyof Config, 'keys' | 'SIGNER_STATE_DIR' | 'ALLOW_PRIVATE_HOSTS'>

export const VARIABLES = {
  AGENT_KEYS: 'keys of agents: agentId:key, separated by commas',
  AGENT_PRIVATE_KEY: 'the key for agents that AGENT_KEYS does not name, and for purchases without an agent',
  BASE_RPC_URL: 'a node of the chain',
  CHAIN_ID: 'the chain that is paid and published on (8453 is Base, 84532 Base Sepolia)',
  REVIEW_REGISTRY_ADDRESS: 'the review registry of the marketplace',
  COMMISSION_ESCROW_ADDRESS:
    'the commission escrow of the marketplace; all other contracts are found through it',
  REFERRER_AGENT_MCP_URL: 'the tools of the marketplace, ending in /mcp',
  SIGNER_STATE_DIR: 'where purchases are written down (default ~/.referrer-signer)',
  ALLOW_PRIVATE_HOSTS: 'true lets shops be on this machine, for a sandbox (default false)',
  FACILITATOR_URL: 'where payments are settled (default: what the marketplace says)',
  ATTESTATION_PUB_KEYS: 'the keys that ref links must be signed with (default: what the marketplace says)',
} as const

/** Every bad variable has its own line; none tells a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

export function readConfig(env: Env): Config {
  const problems: string[] = []

  function read<T>(name: keyof typeof VARIABLES, expected: string, parse: (text: string) => T | undefined) {
    // An empty one is how a shell says that it is not set.
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

  const byAgent = read('AGENT_KEYS', 'agentId:key, separated by commas, each agent once', readKeys)
  const fallback = read('AGENT_PRIVATE_KEY', 'a private key', (text) => new AgentKey(text))
  const settings = {
    BASE_RPC_URL: url('BASE_RPC_URL'),
    CHAIN_ID: read('CHAIN_ID', 'a whole number from 1 up', (text) =>
      /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined,
    ),
    REVIEW_REGISTRY_ADDRESS: address('REVIEW_REGISTRY_ADDRESS'),
    COMMISSION_ESCROW_ADDRESS: address('COMMISSION_ESCROW_ADDRESS'),
    REFERRER_AGENT_MCP_URL: url('REFERRER_AGENT_MCP_URL'),
    FACILITATOR_URL: url('FACILITATOR_URL'),
    ATTESTATION_PUB_KEYS: read(
      'ATTESTATION_PUB_KEYS',
      '64 lower-case hex digits each, separated by commas',
      readPins,
    ),
  }
  const config = {
    keys: createKeys(byAgent ?? new Map(), fallback),
    ...(Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Pick<
      Config,
      Optional
    >),
    // Hosts start programs without a shell, which would know what the tilde is.
    SIGNER_STATE_DIR: (env.SIGNER_STATE_DIR?.trim() || '~/.referrer-signer').replace(/^~(?=\/)/, homedir()),
    ALLOW_PRIVATE_HOSTS:
      read('ALLOW_PRIVATE_HOSTS', 'true or false', (text) => ({ true: true, false: false })[text]) ?? false,
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** The settings that a tool cannot do without. */
export function need<K extends Optional>(config: Config, ...names: K[]): Required<Pick<Config, K>> {
  const missing = names.filter((name) => config[name] === undefined)
  if (missing.length === 0) return config as unknown as Required<Pick<Config, K>>
  throw new Refused(`the signer lacks ${missing.join(' and ')}: set it in the environment of the signer`)
}

function readKeys(text: string): Map<string, AgentKey> | undefined {
  const keys = new Map<string, AgentKey>()
  for (const entry of text.split(',')) {
    const [, agentId, key] = /^\s*(0|[1-9]\d{0,77}):\s*(\S+)\s*$/.exec(entry) ?? []
    if (agentId === undefined || key === undefined || keys.has(agentId)) return undefined
    keys.set(agentId, new AgentKey(key))
  }
  return keys
}

function readPins(text: string): string[] | undefined {
  const pins = text.split(',').map((pin) => pin.trim())
  return pins.every((pin) => /^[0-9a-f]{64}$/.test(pin)) ? pins : undefined
}
