import { expect, it } from 'vitest'
import { chainsJson } from './chains.fixture.ts'
import { commonVariables, readConfiguration } from './common-config.ts'
import { ConfigError, optional } from './environment.ts'
import { whole } from './readers.ts'

const table = {
  ...commonVariables({ dataDir: '.data', port: 8081 }),
  OWN: optional(whole(1, 9), 'a number of its own'),
}
const CHAINS = chainsJson({})

function problemsOf(...[env, check]: [Record<string, string>, (() => string[])?]): readonly string[] {
  try {
    readConfiguration(table, env, check)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

it('reads what programs have in common and what is the own of one', () => {
  const { values, common } = readConfiguration(table, {
    CHAINS,
    OWN: '7',
    TRUSTED_PROXIES: '::1, 10.0.0.0/8',
    METRICS_PORT: '9464',
    BUILD_COMMIT: '0123abc',
  })
  expect(values.OWN).toBe(7)
  expect(common).toEqual({
    databaseUrl: undefined,
    dataDir: '.data',
    host: '127.0.0.1',
    port: 8081,
    metrics: { host: '127.0.0.1', port: 9464 },
    tracing: undefined,
    commit: '0123abc',
    logLevel: 'info',
    chains: [expect.objectContaining({ chainId: 8453 })],
    migrates: true,
    shutdownTimeoutMs: 25_000,
    trustedProxies: ['::1', '10.0.0.0/8'],
    rateLimit: { perSecond: 50, burst: 100 },
    limits: { store: 'postgres', timeoutMs: 100 },
    allowPrivateHosts: false,
    fetchDeny: [],
  })
})

it('reads where limits are counted', () => {
  const limitsOf = (env: Record<string, string>) => readConfiguration(table, { CHAINS, ...env }).common.limits
  expect(limitsOf({ LIMITS: 'memory', LIMITS_TIMEOUT_MS: '250' })).toEqual({
    store: 'memory',
    timeoutMs: 250,
  })
  expect(problemsOf({ CHAINS, LIMITS: 'etcd' })).toEqual(['LIMITS: expected postgres or memory'])
})

it('names everything wrong at once: variables, chains, and what the values together are not', () => {
  expect(problemsOf({ PORT: 'x', OWN: '0', CHAINS: '[' })).toEqual([
    'PORT: expected a whole number from 0 to 65535',
    'OWN: expected a whole number from 1 to 9',
    'CHAINS: not valid JSON',
  ])
  expect(problemsOf({ CHAINS, PORT: '9000', METRICS_PORT: '9000' }, () => ['OWN: does not fit'])).toEqual([
    'METRICS_PORT: the same as PORT; choose another',
    'OWN: does not fit',
  ])
  expect(problemsOf({ CHAINS }, () => ['OWN: does not fit'])).toEqual(['OWN: does not fit'])
})
