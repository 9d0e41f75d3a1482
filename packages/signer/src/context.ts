import { createTurns, type Fetched, guardedFetch, publicLookup, systemLookup } from '@referrer/net'
import { Attribution } from '@referrer/protocol'
import type { Hex } from 'viem'
import type { Config } from './config.ts'

export interface Timeouts {
  /** For the shop to name its price. */
  probe: number
  /** For the shop to take the payment and serve. */
  pay: number
  /** For a payment to be seen on the chain, once somebody says that it is there. */
  settled: number
  /** For a transaction to be mined. */
  mined: number
  /** For the marketplace to hear of a purchase, so that its votes can be cast. */
  indexed: number
  /** For another signer that uses the same wallet. */
  lock: number
  /** For one answer of the marketplace or the facilitator. */
  answer: number
}

export interface GetOptions {
  headers?: Record<string, string>
  /** Posted; without it the URL is got. */
  body?: string
  timeoutMs: number
  maxBytes: number
  /** The operator has named this host: it may be anywhere. */
  isOurs?: boolean
}

export interface Context {
  config: Config
  timeouts: Timeouts
  /** Milliseconds. */
  now(): number
  randomSecret(): Hex
  /** Follows no redirect, and reaches public hosts only. */
  get(url: URL, options: GetOptions): Promise<Fetched>
  /** To stderr: stdout is the protocol's. */
  log(line: string): void
  /** One after another for each name. */
  inTurn<T>(name: string, work: () => Promise<T>): Promise<T>
}

export type Overrides = Partial<Pick<Context, 'now' | 'randomSecret' | 'get' | 'log'>> & {
  timeouts?: Partial<Timeouts>
}

const TIMEOUTS: Timeouts = {
  probe: 10_000,
  pay: 30_000,
  settled: 15_000,
  mined: 60_000,
  indexed: 15_000,
  lock: 45_000,
  answer: 10_000,
}

export function createContext(config: Config, overrides: Overrides = {}): Context {
  const theirs = {
    allowPrivateHosts: config.ALLOW_PRIVATE_HOSTS,
    lookup: config.ALLOW_PRIVATE_HOSTS ? systemLookup : publicLookup(),
  }
  const ours = { allowPrivateHosts: true, isOurs: true, lookup: systemLookup }
  const turns = new Map<string, ReturnType<typeof createTurns>>()
  return {
    config,
    now: Date.now,
    randomSecret: Attribution.randomSecret,
    get: (url, { isOurs, ...options }) => guardedFetch(isOurs ? ours : theirs, url, options),
    log: (line) => process.stderr.write(`${line}\n`),
    ...overrides,
    timeouts: { ...TIMEOUTS, ...overrides.timeouts },
    inTurn(name, work) {
      const turn = turns.get(name) ?? createTurns(1)
      turns.set(name, turn)
      return turn(work)
    },
  }
}
