import { createTurns, type Fetched, guardedFetch, publicLookup, systemLookup } from '@referrer/net'
import { Attribution } from '@referrer/protocol'
import type { Hex } from 'viem'
import type { Config } from './config.ts'

export interface Timeouts {
  /** Until the shop answers with its price. */
  probe: number
  /** Until the shop has taken the payment and served the product. */
  pay: number
  /** Until a payment that the shop or the facilitator reports is found on the chain. */
  settled: number
  /** Until a transaction is mined. */
  mined: number
  /** Until the marketplace has indexed a purchase, so that its votes can be cast. */
  indexed: number
  /** Until another signer process releases the lock of the same wallet. */
  lock: number
  /** Until the marketplace or the facilitator answers one request. */
  answer: number
}

export interface GetOptions {
  headers?: Record<string, string>
  /** The body of a POST; without it the request is a GET. */
  body?: string
  timeoutMs: number
  maxBytes: number
  /** The operator configured this host, so it may be in a private network. */
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
  /** Writes to stderr: stdout carries the MCP protocol. */
  log(line: string): void
  /** Runs work of the same name one after another (a mutex for each name). */
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
