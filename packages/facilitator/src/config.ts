import {
  type CommonConfig,
  commonVariables,
  type Env,
  findKeyProblems,
  type KeysConfig,
  keysConfigOf,
  keyVariables,
  type OwnAccount,
  optional,
  ownAccounts,
  Read,
  readConfiguration,
  type Values,
  withDefault,
} from '@referrer/process'
import type { Address } from 'viem'
import { z } from 'zod'

export interface Config extends CommonConfig {
  /** The accounts that send, on every chain. */
  relayers: readonly OwnAccount[]
  keys: KeysConfig
  /** Whose ref links count, by chain: the newest key first. Chains that are not here are asked of the marketplace. */
  attestationPublicKeys: ReadonlyMap<number, readonly string[]>
  marketUrl: string | undefined
  /** A URL in every refusal: where to learn how buying works. */
  setupUrl: string | undefined
  /** Whether merchants must sign what they send, or may. */
  settlementAuth: 'optional' | 'required'
  /** Prices that gas is counted with. */
  gasPriceWei: bigint
  ethPriceUsd: bigint
  /** What may be given away in gas on a chain and UTC day, in base units. */
  giveawayPerDay: bigint
  /** Factories whose wallets are deployed for their first payment; with checksums. */
  walletFactories: ReadonlySet<Address>
  /** To answer a request. What is not done by then goes on, and is answered as pending. */
  answerTimeoutMs: number
  /** How many purchases one transaction settles at most. */
  maxBatch: number
  /** How many transactions of one relayer may wait to be mined. */
  maxBatchesInFlight: number
  /** How long a purchase waits for others to share a transaction with. */
  lingerMs: number
  /** How often the chain is polled while a transaction is not mined. */
  watchIntervalMs: number
}

/** Of the marketplace: where it tells its keys, and how buying works. */
export const MANIFEST_PATH = '/.well-known/referrer-agent'

const AttestationKeys = z
  .record(
    z.string().regex(/^\d{1,15}$/),
    z
      .array(z.string().regex(/^[0-9a-f]{64}$/))
      .min(1)
      .max(2),
  )
  .transform((keys) => new Map(Object.entries(keys).map(([chainId, each]) => [Number(chainId), each])))

/** The same on all chains: each is deployed by a factory that makes its address depend on its code alone. */
const KNOWN_FACTORIES: readonly Address[] = [
  // Safe 1.3.0, in two deployments, 1.4.1 and 1.5.0
  '0xa6B71E26C5e0845f74c812102Ca7114b6a896AB2',
  '0xC22834581EbC8527d974F8a1c97E1bEA4EF910BC',
  '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
  '0x14F2982D601c9458F93bd70B218933A6f8165e7b',
  // Coinbase Smart Wallet 1 and 1.1
  '0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a',
  '0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842',
  // Kernel 3: the factory of factories, and 3.1
  '0xd703aaE79538628d27099B8c4f621bE4CCd142d5',
  '0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419',
]
const NO_FACTORIES = 'none'

const walletFactories: typeof Read.addresses = {
  expected: `${Read.addresses.expected}, or ${NO_FACTORIES}`,
  read: (text) => (text === NO_FACTORIES ? [] : Read.addresses.read(text)),
}

export const variables = {
  ...commonVariables({ dataDir: '.referrer/facilitator', port: 8081 }),
  RELAYER_PRIVATE_KEYS: optional(
    Read.privateKeys,
    'keys that send the settlements, separated by commas; each needs gas and SETTLER_ROLE on the split router',
  ),
  RELAYER_ADDRESSES: optional(
    Read.addresses,
    'the same accounts by their addresses, where WEB3SIGNER_URL or KEY_MODULE has their keys',
  ),
  ...keyVariables,
  ATTESTATION_PUBLIC_KEYS: optional(
    Read.json(
      AttestationKeys,
      'a JSON object of chain ids with one or two keys each: 64 lower-case hex digits, the newest first',
    ),
    'Ed25519 keys whose ref links count, by chain: {"8453": ["<newest>", "<the one before>"]}; those of other chains are read from MARKET_URL',
  ),
  MARKET_URL: optional(
    Read.baseUrl,
    'where the marketplace is: it tells keys and the ranks that multiply commissions; without it the links decide',
  ),
  SETUP_URL: optional(
    Read.baseUrl,
    `told with every refusal: where to learn how buying works (default MARKET_URL${MANIFEST_PATH})`,
  ),
  SETTLEMENT_AUTH: withDefault(
    Read.oneOf('optional', 'required'),
    'whether merchants must sign what they send to /verify and /settle; a wrong signature is refused either way',
    'optional',
  ),
  ANSWER_TIMEOUT_MS: withDefault(
    Read.whole(1_000, 50_000),
    'how long a settlement may take; one that takes longer goes on and is answered as pending',
    '45000',
  ),
  GAS_PRICE_WEI: withDefault(
    Read.whole(1, Number.MAX_SAFE_INTEGER),
    'what gas is counted with, in wei; 10000000 is 0.01 gwei',
    '10000000',
  ),
  ETH_PRICE_USD: withDefault(
    Read.whole(1, 1_000_000_000),
    'what an ether is counted with, in whole dollars',
    '3000',
  ),
  GIVEAWAY_PER_DAY: withDefault(
    Read.whole(0, Number.MAX_SAFE_INTEGER),
    'what all gas beyond fees may cost you on a chain and UTC day, in base units of USDC: half for purchases below their gas, half for payments that fail; new wallets need some of it',
    '30000000',
  ),
  WALLET_FACTORIES: withDefault(
    walletFactories,
    `factories whose contract wallets are deployed for their first payment (ERC-6492), or ${NO_FACTORIES}; by default those of Safe, Coinbase Smart Wallet and Kernel`,
    KNOWN_FACTORIES.join(','),
  ),
  MAX_BATCH: withDefault(Read.whole(1, 128), 'purchases that share a transaction at most', '64'),
  MAX_BATCHES_IN_FLIGHT: withDefault(
    Read.whole(1, 16),
    'transactions of one relayer that may wait to be mined at the same time; nodes keep sixteen for sure',
    '16',
  ),
  LINGER_MS: withDefault(
    Read.whole(0, 5_000),
    'how long a purchase waits for others to share a transaction with',
    '15',
  ),
  WATCH_INTERVAL_MS: withDefault(
    Read.whole(10, 60_000),
    'how often the chain is asked about what was sent',
    '100',
  ),
}

/** Reads the environment; throws one `ConfigError` that names everything wrong with it. */
export function readConfig(env: Env): Config {
  const { values, common } = readConfiguration(variables, env, findConflicts)
  return {
    ...common,
    relayers: ownAccounts(values.RELAYER_PRIVATE_KEYS, values.RELAYER_ADDRESSES),
    keys: keysConfigOf(values),
    attestationPublicKeys: values.ATTESTATION_PUBLIC_KEYS ?? new Map(),
    marketUrl: values.MARKET_URL,
    setupUrl: values.SETUP_URL ?? (values.MARKET_URL && `${values.MARKET_URL}${MANIFEST_PATH}`),
    settlementAuth: values.SETTLEMENT_AUTH,
    answerTimeoutMs: values.ANSWER_TIMEOUT_MS,
    gasPriceWei: BigInt(values.GAS_PRICE_WEI),
    ethPriceUsd: BigInt(values.ETH_PRICE_USD),
    giveawayPerDay: BigInt(values.GIVEAWAY_PER_DAY),
    walletFactories: new Set(values.WALLET_FACTORIES),
    maxBatch: values.MAX_BATCH,
    maxBatchesInFlight: values.MAX_BATCHES_IN_FLIGHT,
    lingerMs: values.LINGER_MS,
    watchIntervalMs: values.WATCH_INTERVAL_MS,
  }
}

function findConflicts(values: Values<typeof variables>, { chains }: CommonConfig): string[] {
  const problems = findKeyProblems(values)
  const relayers = (values.RELAYER_PRIVATE_KEYS ?? []).map((key) => key.reveal().toLowerCase())
  if (new Set(relayers).size < relayers.length) {
    problems.push('RELAYER_PRIVATE_KEYS: a key is listed twice')
  }
  const own = ownAccounts(values.RELAYER_PRIVATE_KEYS, values.RELAYER_ADDRESSES)
  if (own.length === 0) {
    problems.push(
      `RELAYER_PRIVATE_KEYS: not set; expected ${Read.privateKeys.expected}, or RELAYER_ADDRESSES`,
    )
  }
  const isSigned = values.WEB3SIGNER_URL !== undefined || values.KEY_MODULE !== undefined
  if (!isSigned && own.some(({ privateKey }) => privateKey === undefined)) {
    problems.push('RELAYER_ADDRESSES: nothing signs for them; set WEB3SIGNER_URL or KEY_MODULE')
  }
  const keys = values.ATTESTATION_PUBLIC_KEYS ?? new Map<number, string[]>()
  for (const chainId of keys.keys()) {
    if (chains.every((chain) => chain.chainId !== chainId)) {
      problems.push(`ATTESTATION_PUBLIC_KEYS: chain ${chainId} is not configured`)
    }
  }
  for (const { chainId } of values.MARKET_URL ? [] : chains) {
    if (!keys.has(chainId)) {
      problems.push(
        `ATTESTATION_PUBLIC_KEYS: nothing tells whose ref links count on chain ${chainId}; name its keys, or set MARKET_URL`,
      )
    }
  }
  return problems
}
