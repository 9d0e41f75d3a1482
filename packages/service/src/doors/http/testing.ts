import { Writable } from 'node:stream'
import type { Sql } from '@referrer/database'
import { createLog, memoryLimits, NO_TRACING, Secret } from '@referrer/process'
import { Recovery } from '@referrer/protocol'
import { readConfig } from '../../app/config.ts'
import type { Config } from '../../kit/config.ts'
import type { ChainHealth, Context } from '../../kit/context.ts'

const recovery = await Recovery.load()
const ADDRESS = `0x${'11'.repeat(20)}`

/** JSON for CHAINS. */
export function chainsJson(...chainIds: number[]): string {
  const names = [
    'AddressRegistry',
    'IdentityRegistry',
    'MerchantRegistry',
    'ReviewRegistry',
    'CommissionEscrow',
    'SplitRouter',
    'USDC',
  ]
  return JSON.stringify(
    chainIds.map((chainId) => ({
      chainId,
      rpcUrls: ['http://127.0.0.1:1/'],
      contracts: Object.fromEntries(names.map((name) => [name, ADDRESS])),
      startBlock: 0,
    })),
  )
}

export function testConfig(env: Record<string, string> = {}): Config {
  return readConfig({ PORT: '0', LOG_LEVEL: 'trace', CHAINS: chainsJson(31337), ...env })
}

export const followed: ChainHealth = {
  chainId: 31337,
  head: 120n,
  indexed: 120n,
  lagSeconds: 0.4,
  headAgeSeconds: 2,
  isActive: true,
  error: null,
}

/** A context without chains; `logged` collects its log lines. */
export function testContext(
  sql: Sql,
  overrides: Partial<Context> = {},
): { context: Context; logged: string[] } {
  const logged: string[] = []
  const destination = new Writable({
    write(line, _encoding, done) {
      logged.push(String(line))
      done()
    },
  })
  const config = overrides.config ?? testConfig()
  const clock = overrides.clock ?? Date.now
  const context: Context = {
    config,
    sql,
    databaseUrl: new Secret('postgres://nobody@nowhere/nothing'),
    chains: new Map(),
    channels: new Map(),
    clock,
    limits: memoryLimits(clock),
    log: createLog(config.logLevel, destination),
    tracing: NO_TRACING,
    fetch,
    lookup: async () => [],
    recovery,
    chainHealth: async () => [followed],
    senderHealth: async () => [],
    workerHealth: () => [],
    ...overrides,
  }
  return { context, logged }
}
