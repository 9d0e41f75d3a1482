import { inspect } from 'node:util'
import { ConfigError } from '@referrer/process'
import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { chainsJson } from '../doors/http/testing.ts'
import { readConfig } from './config.ts'

const CHAINS = chainsJson(8453)
const SECRET = `0x${'ab'.repeat(32)}`

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

/** One chain with some fields replaced. */
const chain = (change: object) => JSON.stringify([{ ...JSON.parse(CHAINS)[0], ...change }])

describe('readConfig', () => {
  it('needs nothing but the chains', () => {
    const config = readConfig({ CHAINS, PORT: '', HOST: '  ' })
    expect(config).toMatchObject({
      databaseUrl: undefined,
      dataDir: '.referrer/postgres',
      host: '127.0.0.1',
      port: 8080,
      logLevel: 'info',
      maxLagSeconds: 30,
      maxLagBlocks: undefined,
      shutdownTimeoutMs: 25_000,
      oracle: undefined,
      publicUrl: 'http://127.0.0.1:8080',
      facilitatorUrl: undefined,
      faucetUrl: undefined,
      attestation: new Map(),
      adminAddresses: new Set(),
      consoleOrigins: [],
      trustedProxies: [],
      rateLimit: { perSecond: 50, burst: 100 },
      sessionSeconds: 3_600,
      adminSessionSeconds: 900,
      bytesPerDay: {
        proofsOfOwner: 8_388_608,
        intentsOfOwner: 8_388_608,
        unsignedProofsOfClient: 2_097_152,
        unsignedProofs: 67_108_864,
        limitsOfClient: 2_097_152,
      },
      unsignedProofDays: 7,
      receiptApprovals: { ofMerchant: 20, ofAgent: 5, all: 1_000 },
      answerTimeoutMs: 30_000,
      allowPrivateHosts: false,
      fetchDeny: [],
      reviewSchemas: undefined,
      hasIntents: true,
      webhookKeys: [],
      messenger: undefined,
    })
    expect(config.chains).toMatchObject([
      { chainId: 8453, startBlock: 0n, finalityDepth: 64, confirmations: 5, pollIntervalMs: 500 },
    ])
  })

  it('names every bad variable and what it expects, all at once', () => {
    const env = {
      DATABASE_URL: 'mysql://root:hunter2@localhost/db',
      HOST: 'not a host',
      PORT: '65536',
      LOG_LEVEL: 'loud',
      MAX_LAG_SECONDS: '0',
      MAX_LAG_BLOCKS: '1.5',
      SHUTDOWN_TIMEOUT_MS: '-1',
      ORACLE_PRIVATE_KEY: '0xhunter2',
      // Not a number below the order of the curve.
      PUBLISHER_PRIVATE_KEY: `0x${'ff'.repeat(32)}`,
      PUBLIC_URL: 'https://market.example/?key=hunter2',
      FACILITATOR_URL: 'market.example',
      ATTESTATION_KEYS: '{"8453": ["0xhunter2"]}',
      ADMIN_ADDRESSES: '0x12',
      CONSOLE_ORIGINS: 'https://console.example/app',
      TRUSTED_PROXIES: '10.0.0.0/33',
      RATE_LIMIT_PER_SECOND: '0',
      RATE_LIMIT_BURST: 'many',
      SESSION_SECONDS: '59',
      ALLOW_PRIVATE_HOSTS: 'yes',
      INTENTS: 'yes',
      WEBHOOK_KEYS: 'hunter2',
      TELEGRAM_BOT_NAME: '@referrer_bot',
      TELEGRAM_API_ROOT: 'api.telegram.org',
      TELEGRAM_WEBHOOK_SECRET: 'hunter2',
      CHAT_WEBHOOK_URL: 'https://chat.example/?key=hunter2',
      CHAT_WEBHOOK_SECRET: 'hunter2 hunter2 hunter2',
      CONSOLE_URL: 'console',
      LINK_CODE_SECONDS: '59',
      CHAINS: '[{"rpcUrls": ["https://rpc.example/hunter2"',
    }
    expect(problemsOf(env)).toEqual([
      'DATABASE_URL: expected a URL like postgres://user:password@host:5432/database, special characters of the password percent-encoded',
      'HOST: expected a host name or an IP address',
      'PORT: expected a whole number from 0 to 65535',
      'LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent',
      'SHUTDOWN_TIMEOUT_MS: expected a whole number from 0 to 3600000',
      'TRUSTED_PROXIES: expected IP addresses or networks like 10.0.0.0/8 separated by commas',
      'RATE_LIMIT_PER_SECOND: expected a whole number from 1 to 1000000',
      'RATE_LIMIT_BURST: expected a whole number from 1 to 1000000',
      'ALLOW_PRIVATE_HOSTS: expected true or false',
      'MAX_LAG_SECONDS: expected a whole number from 1 up',
      'MAX_LAG_BLOCKS: expected a whole number from 1 up',
      'ORACLE_PRIVATE_KEY: expected a private key: 0x and 64 hex digits',
      'PUBLISHER_PRIVATE_KEY: expected a private key: 0x and 64 hex digits',
      'PUBLIC_URL: expected an http or https URL without query',
      'FACILITATOR_URL: expected an http or https URL without query',
      'ATTESTATION_KEYS: expected a JSON object of chain ids with one or two seeds each: 0x and 64 hex digits, the newest first',
      'ADMIN_ADDRESSES: expected addresses separated by commas, all lower case or with the right checksum',
      'CONSOLE_ORIGINS: expected origins like https://console.example separated by commas',
      'SESSION_SECONDS: expected a whole number from 60 to 86400',
      'INTENTS: expected on or off',
      'WEBHOOK_KEYS: expected one to three keys of 64 hex digits, separated by commas',
      'TELEGRAM_BOT_NAME: expected the name of a bot without the @: 5 to 32 letters, digits and underscores',
      'TELEGRAM_API_ROOT: expected an http or https URL without query',
      'TELEGRAM_WEBHOOK_SECRET: expected 16 to 256 letters, digits, _ and -',
      'CHAT_WEBHOOK_URL: expected an http or https URL without query',
      'CHAT_WEBHOOK_SECRET: expected 16 to 256 letters, digits, _ and -',
      'CONSOLE_URL: expected an http or https URL without query',
      'LINK_CODE_SECONDS: expected a whole number from 60 to 86400',
      'CHAINS: not valid JSON',
    ])
    expect(() => readConfig(env)).toThrow(/^The configuration cannot be used:\n {2}DATABASE_URL: expected/)
  })

  it('gives everybody accounts only where all chains have play money', () => {
    const CONSOLE_ACCOUNTS = JSON.stringify([{ name: 'buyer', private_key: SECRET }])
    const [account] = readConfig({ CHAINS: chainsJson(31337), CONSOLE_ACCOUNTS }).consoleAccounts
    expect(account).toMatchObject({ name: 'buyer' })
    expect(account?.privateKey.reveal()).toBe(SECRET)
    expect(inspect(account)).not.toContain(SECRET)
    expect(readConfig({ CHAINS, CONSOLE_ACCOUNTS: '' }).consoleAccounts).toEqual([])
    const refusal = ['CONSOLE_ACCOUNTS: everybody could use these accounts; only for chains 31337 and 1337']
    expect(problemsOf({ CHAINS, CONSOLE_ACCOUNTS })).toEqual(refusal)
    const mixed = JSON.stringify([...JSON.parse(chainsJson(31337)), ...JSON.parse(CHAINS)])
    expect(problemsOf({ CHAINS: mixed, CONSOLE_ACCOUNTS })).toEqual(refusal)
    const bad = JSON.stringify([{ name: 'buyer', private_key: '0xhunter2' }])
    expect(problemsOf({ CHAINS: chainsJson(31337), CONSOLE_ACCOUNTS: bad })).toEqual([
      'CONSOLE_ACCOUNTS: expected a JSON list of accounts: {"name": "buyer", "private_key": "0x<64 hex digits>"}',
    ])
  })

  it('reads lists and keys, and shows no key', () => {
    const admin = `0x${'AB'.repeat(20).toLowerCase()}`
    const config = readConfig({
      CHAINS,
      PUBLIC_URL: 'https://market.example/',
      ATTESTATION_KEYS: JSON.stringify({ 8453: [SECRET, `0x${'cd'.repeat(32)}`] }),
      ADMIN_ADDRESSES: `${admin}, ${admin}`,
      CONSOLE_ORIGINS: 'https://console.example,http://localhost:5173',
      TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    })
    expect(config).toMatchObject({
      publicUrl: 'https://market.example',
      adminAddresses: new Set([getAddress(admin)]),
      consoleOrigins: ['https://console.example', 'http://localhost:5173'],
      trustedProxies: ['10.0.0.0/8', '::1'],
    })
    expect(config.attestation.get(8453)?.seeds?.map((seed) => seed.reveal())).toEqual([
      SECRET,
      `0x${'cd'.repeat(32)}`,
    ])
    expect(inspect(config, { depth: 9 })).not.toContain('abababababababababababababababababababababababab')
  })

  it('links wallets to chats by a bot, or by a messenger of the operator', () => {
    const telegram = { TELEGRAM_BOT_TOKEN: `1:${SECRET}`, TELEGRAM_BOT_NAME: 'referrer_bot' }
    const webhook = {
      CHAT_WEBHOOK_URL: 'https://chat.example/in',
      CHAT_WEBHOOK_SECRET: SECRET,
      CHAT_WEBHOOK_LINK: 'https://chat.example/?start={code}',
    }
    const messenger = (env: Record<string, string>) => readConfig({ CHAINS, PORT: '8080', ...env }).messenger
    expect(messenger(telegram)).toMatchObject({
      codeSeconds: 600,
      consoleUrl: 'http://127.0.0.1:8080',
      telegram: { botName: 'referrer_bot', apiRoot: 'https://api.telegram.org', webhookSecret: undefined },
      webhook: undefined,
    })
    expect(messenger({ ...webhook, CONSOLE_URL: 'https://console.example/' })).toMatchObject({
      consoleUrl: 'https://console.example',
      telegram: undefined,
      webhook: { url: 'https://chat.example/in', link: 'https://chat.example/?start={code}' },
    })
    expect(inspect(messenger({ ...telegram, ...webhook }), { depth: 9 })).not.toContain(SECRET)
    expect(messenger({ LINK_CODE_SECONDS: '60', TELEGRAM_BOT_NAME: 'referrer_bot' })).toBeUndefined()
  })

  it('takes no half of a messenger', () => {
    expect(
      problemsOf({ CHAINS, TELEGRAM_BOT_TOKEN: '1:x', CHAT_WEBHOOK_URL: 'https://chat.example' }),
    ).toEqual([
      'TELEGRAM_BOT_NAME: not set, although TELEGRAM_BOT_TOKEN is',
      'CHAT_WEBHOOK_SECRET: not set, although CHAT_WEBHOOK_URL is',
      'CHAT_WEBHOOK_LINK: not set, although CHAT_WEBHOOK_URL is',
    ])
    expect(problemsOf({ CHAINS, CHAT_WEBHOOK_LINK: 'https://chat.example' })).toEqual([
      'CHAT_WEBHOOK_LINK: expected a URL with {code} in it',
    ])
  })

  it('takes replicas of a database of your own, and shows none of their passwords', () => {
    const urls = ['postgres://me:hunter2@a/market', 'postgres://me:hunter2@b:6000/market']
    const env = { CHAINS, DATABASE_URL: 'postgres://me@p/market', DATABASE_REPLICA_URLS: urls.join(',') }
    const { replicaUrls, maxReplicaLagSeconds } = readConfig(env)
    expect(replicaUrls.map((url) => url.reveal())).toEqual(urls)
    expect(inspect(replicaUrls)).not.toContain('hunter2')
    expect(maxReplicaLagSeconds).toBe(10)
    expect(problemsOf({ CHAINS, DATABASE_REPLICA_URLS: urls.join(',') })).toEqual([
      'DATABASE_REPLICA_URLS: set, although DATABASE_URL is not; the embedded server has no replicas',
    ])
  })

  it('takes no key for a chain that is not there', () => {
    expect(problemsOf({ CHAINS, ATTESTATION_KEYS: JSON.stringify({ 8454: [SECRET] }) })).toEqual([
      'ATTESTATION_KEYS: chain 8454 is not configured',
    ])
  })
})

describe('keys that are elsewhere', () => {
  const ADDRESS = '0x1111111111111111111111111111111111111111'
  const PUBLIC = 'ab'.repeat(32)
  const publicKeys = JSON.stringify({ 8453: [PUBLIC] })

  it('leave an api process without any private key', () => {
    const named = { ORACLE_ADDRESS: ADDRESS, PUBLISHER_ADDRESS: ADDRESS, ATTESTATION_PUBLIC_KEYS: publicKeys }
    const { oracle, publisher, attestation } = readConfig({ CHAINS, ROLES: 'api,indexer', ...named })
    expect([oracle, publisher]).toEqual([
      { address: ADDRESS, privateKey: undefined },
      { address: ADDRESS, privateKey: undefined },
    ])
    expect(attestation.get(8453)).toEqual({ seeds: undefined, transitKey: undefined, publicKeys: [PUBLIC] })
  })

  it('are asked for where workers have to sign, all at once', () => {
    expect(
      problemsOf({
        CHAINS,
        ORACLE_ADDRESS: ADDRESS,
        PUBLISHER_ADDRESS: ADDRESS,
        PUBLISHER_PRIVATE_KEY: SECRET,
        ATTESTATION_PUBLIC_KEYS: publicKeys,
      }),
    ).toEqual([
      'PUBLISHER_ADDRESS: is not the account of PUBLISHER_PRIVATE_KEY; set one of the two',
      'ORACLE_ADDRESS: workers send for it, and nothing signs; set ORACLE_PRIVATE_KEY, WEB3SIGNER_URL or KEY_MODULE',
      'ATTESTATION_PUBLIC_KEYS: workers sign the links of chain 8453; set ATTESTATION_KEYS or ATTESTATION_TRANSIT_KEYS',
    ])
    expect(
      problemsOf({
        CHAINS,
        ATTESTATION_KEYS: JSON.stringify({ 8453: [SECRET] }),
        ATTESTATION_TRANSIT_KEYS: JSON.stringify({ 8453: 'links', 1: 'links' }),
      }),
    ).toEqual([
      'ATTESTATION_TRANSIT_KEYS: chain 1 is not configured',
      'ATTESTATION_KEYS: chain 8453 is in ATTESTATION_TRANSIT_KEYS, too; keep one',
      'VAULT_ADDR: not set, although ATTESTATION_TRANSIT_KEYS is',
      'VAULT_TOKEN: neither it nor VAULT_TOKEN_FILE is set, although ATTESTATION_TRANSIT_KEYS is',
    ])
  })
})

describe('a secret', () => {
  const config = readConfig({
    CHAINS: chain({ rpcUrls: ['https://user:hunter2@rpc.example/hunter2'] }),
    DATABASE_URL: 'postgres://user:hunter2@db.example/market',
    ORACLE_PRIVATE_KEY: SECRET,
    PUBLISHER_PRIVATE_KEY: SECRET,
  })

  it('does not show however the configuration is printed', () => {
    const { chains, ...rest } = config
    const plain = { ...rest, rpcUrls: chains[0].rpcUrls }
    const printed = [
      inspect(config, { depth: 9, showHidden: true }),
      JSON.stringify(plain, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
      String(config.oracle?.privateKey),
      `${config.databaseUrl}`,
      Object.values(plain).join(),
      inspect(structuredClone(Object.entries(config.oracle?.privateKey ?? {}))),
    ].join('\n')
    expect(printed).not.toContain('abab')
    expect(printed).not.toContain('hunter2')
    expect(printed).toContain('[secret]')
  })

  it('is told to those who ask for it', () => {
    expect(config.oracle?.privateKey?.reveal()).toBe(SECRET)
    expect(config.chains[0].rpcUrls[0]?.reveal()).toBe('https://user:hunter2@rpc.example/hunter2')
  })
})
