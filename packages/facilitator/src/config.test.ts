import { ConfigError, describeVariables } from '@referrer/process'
import { describe, expect, test } from 'vitest'
import { readConfig, variables } from './config.ts'

const address = (digit: number) => `0x${String(digit).repeat(40)}`
const chain = (chainId: number) => ({
  chainId,
  rpcUrls: ['https://node.example/key'],
  contracts: {
    AddressRegistry: address(1),
    IdentityRegistry: address(2),
    MerchantRegistry: address(3),
    ReviewRegistry: address(4),
    CommissionEscrow: address(5),
    SplitRouter: [address(6), address(7)],
    USDC: address(8),
  },
  startBlock: 0,
})
const KEY = `0x${'11'.repeat(32)}`
const OTHER_KEY = `0x${'22'.repeat(32)}`
const PUBLIC = 'ab'.repeat(32)
const env = {
  CHAINS: JSON.stringify([chain(8453)]),
  RELAYER_PRIVATE_KEYS: KEY,
  ATTESTATION_PUBLIC_KEYS: JSON.stringify({ 8453: [PUBLIC] }),
}

/** What is wrong with an environment. */
function problemsOf(change: Record<string, string | undefined>): readonly string[] {
  try {
    readConfig({ ...env, ...change })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

test('keys and chains are enough', () => {
  const config = readConfig(env)
  expect(config).toMatchObject({
    databaseUrl: undefined,
    dataDir: '.referrer/facilitator',
    host: '127.0.0.1',
    port: 8081,
    attestationPublicKeys: new Map([[8453, [PUBLIC]]]),
    marketUrl: undefined,
    setupUrl: undefined,
    settlementAuth: 'optional',
    answerTimeoutMs: 45_000,
    gasPriceWei: 10_000_000n,
    ethPriceUsd: 3_000n,
    giveawayPerDay: 30_000_000n,
    maxBatch: 64,
    maxBatchesInFlight: 16,
    lingerMs: 15,
    watchIntervalMs: 100,
    rateLimit: { perSecond: 50, burst: 100 },
  })
  expect(config.relayers.map(({ privateKey }) => privateKey?.reveal())).toEqual([KEY])
})

test('the marketplace tells what is not told here', () => {
  const config = readConfig({
    CHAINS: env.CHAINS,
    RELAYER_PRIVATE_KEYS: `${KEY}, ${OTHER_KEY}`,
    MARKET_URL: 'https://market.example/',
  })
  expect(config.marketUrl).toBe('https://market.example')
  expect(config.setupUrl).toBe('https://market.example/.well-known/referrer-agent')
  expect(config.relayers).toHaveLength(2)
  expect(config.attestationPublicKeys.size).toBe(0)
  expect(readConfig({ ...env, SETUP_URL: 'https://docs.example/buy' }).setupUrl).toBe(
    'https://docs.example/buy',
  )
})

describe('is refused, with what to do:', () => {
  test.each<[string, Record<string, string | undefined>, string]>([
    [
      'no relayer',
      { RELAYER_PRIVATE_KEYS: undefined },
      'RELAYER_PRIVATE_KEYS: not set; expected private keys separated',
    ],
    [
      'a relayer that is no key',
      { RELAYER_PRIVATE_KEYS: `${KEY},0x12` },
      'RELAYER_PRIVATE_KEYS: expected private keys',
    ],
    [
      'the same relayer twice',
      { RELAYER_PRIVATE_KEYS: `${KEY},${KEY}` },
      'RELAYER_PRIVATE_KEYS: a key is listed twice',
    ],
    [
      'relayers that nothing signs for',
      {
        RELAYER_PRIVATE_KEYS: undefined,
        RELAYER_ADDRESSES: '0x1111111111111111111111111111111111111111',
      },
      'RELAYER_ADDRESSES: nothing signs for them; set WEB3SIGNER_URL or KEY_MODULE',
    ],
    [
      'no key of links',
      { ATTESTATION_PUBLIC_KEYS: undefined },
      'ATTESTATION_PUBLIC_KEYS: nothing tells whose ref links count on chain 8453; name its keys, or set MARKET_URL',
    ],
    [
      'keys of a chain that is not served',
      { ATTESTATION_PUBLIC_KEYS: JSON.stringify({ 8453: [PUBLIC], 1: [PUBLIC] }) },
      'ATTESTATION_PUBLIC_KEYS: chain 1 is not configured',
    ],
    [
      'keys that are none',
      { ATTESTATION_PUBLIC_KEYS: JSON.stringify({ 8453: ['0x12'] }) },
      'ATTESTATION_PUBLIC_KEYS: expected a JSON object',
    ],
    [
      'three keys',
      { ATTESTATION_PUBLIC_KEYS: JSON.stringify({ 8453: [PUBLIC, PUBLIC, PUBLIC] }) },
      'ATTESTATION_PUBLIC_KEYS: expected a JSON object',
    ],
    [
      'an answer that takes longer than a merchant waits',
      { ANSWER_TIMEOUT_MS: '58001' },
      'ANSWER_TIMEOUT_MS: expected a whole number from 1000 to 50000',
    ],
    ['a batch that fits no block', { MAX_BATCH: '129' }, 'MAX_BATCH: expected a whole number from 1 to 128'],
    [
      'a sum to give away that is below nothing',
      { GIVEAWAY_PER_DAY: '-1' },
      'GIVEAWAY_PER_DAY: expected a whole number from 0 to',
    ],
    [
      'an unknown way to sign',
      { SETTLEMENT_AUTH: 'maybe' },
      'SETTLEMENT_AUTH: expected optional or required',
    ],
  ])('%s', (_, change, problem) => {
    expect(problemsOf(change)).toEqual([expect.stringContaining(problem)])
  })
})

test('no problem tells a secret', () => {
  const said = problemsOf({ RELAYER_PRIVATE_KEYS: `${KEY},nonsense`, MARKET_URL: 'nonsense' }).join('\n')
  expect(said).not.toContain('11'.repeat(32))
  expect(said).not.toContain('nonsense')
})

test('every variable is described', () => {
  const text = describeVariables(variables)
  for (const name of Object.keys(variables)) expect(text).toContain(name)
})

test('wallets of known factories are deployed, of those that are named, or none', () => {
  const factoriesOf = (WALLET_FACTORIES?: string) => [
    ...readConfig({ ...env, ...(WALLET_FACTORIES !== undefined && { WALLET_FACTORIES }) }).walletFactories,
  ]
  expect(factoriesOf()).toContain('0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67')
  expect(factoriesOf(`${address(1)},${address(2)}`)).toEqual([address(1), address(2)])
  expect(factoriesOf('none')).toEqual([])
  expect(problemsOf({ WALLET_FACTORIES: 'all' })).toEqual([
    'WALLET_FACTORIES: expected addresses separated by commas, all lower case or with the right checksum, or none',
  ])
})
