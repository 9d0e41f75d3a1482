import type { Sql, Transaction } from '@referrer/database'
import type { Chain } from '@referrer/service'
import { followOnce, opinionsFollower, ranksFollower } from '@referrer/service/testing'
import type { Events, Kind } from './events.ts'
import { CHAIN_ID } from './fill.ts'
import { rankPlainly } from './plain.ts'

export const chain = { config: { chainId: CHAIN_ID } } as Chain
/** That of the service by default. */
export const FULL_COMMISSION = 10_000n
const FOLLOWERS = [opinionsFollower, ranksFollower({ fullCommission: FULL_COMMISSION })]

export interface Measured {
  p50Ms: number
  p99Ms: number
  meanMs: number
  /** For one batch; the plain way has no batches. */
  statements: number
}

const rank = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

function summary(times: readonly number[], statements: number): Measured {
  const sorted = times.toSorted((a, b) => a - b)
  const meanMs = times.reduce((sum, ms) => sum + ms, 0) / times.length
  return { p50Ms: rank(sorted, 0.5), p99Ms: rank(sorted, 0.99), meanMs, statements }
}

/** What it takes to follow so many events at once, without writing the events themselves. */
export async function measureFollowing(
  sql: Sql,
  events: Events,
  kind: Kind,
  size: number,
  rounds: number,
): Promise<Measured> {
  const times: number[] = []
  let statements = 0
  await drain(sql, events)
  for (let round = 0; round < rounds; round += 1) {
    await events.happen(kind, size)
    const counting = countStatements(sql)
    const begun = performance.now()
    await followOnce({ sql: counting.sql, clock: events.now }, chain, FOLLOWERS)
    times.push(performance.now() - begun)
    statements += counting.count()
    await drain(sql, events)
  }
  return summary(times, statements / rounds)
}

/** The same events, each followed by one query for its author. */
export async function measurePlain(sql: Sql, events: Events, kind: Kind, rounds: number): Promise<Measured> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const [author = 0] = await events.happen(kind, 1)
    const begun = performance.now()
    await rankPlainly(sql, author, new Date(events.now()))
    times.push(performance.now() - begun)
  }
  await drain(sql, events)
  return summary(times, 1)
}

export async function drain(sql: Sql, events: Events): Promise<void> {
  while (await followOnce({ sql, clock: events.now }, chain, FOLLOWERS)) {}
}

/** A query is sent when it is first awaited; a fragment of another query never is. */
function countStatements(sql: Sql): { sql: Sql; count: () => number } {
  const sent = new Set<unknown>()
  const counted = (tx: Transaction) =>
    new Proxy(tx, {
      apply(target, self, args) {
        const query = Reflect.apply(target, self, args)
        const { handle } = query ?? {}
        if (typeof handle !== 'function') return query
        query.handle = () => {
          sent.add(query)
          return handle.call(query)
        }
        return query
      },
    })
  const begin = (work: (tx: Transaction) => Promise<unknown>) => sql.begin((tx) => work(counted(tx)))
  const get = (target: Sql, name: string | symbol) => (name === 'begin' ? begin : Reflect.get(target, name))
  return { sql: new Proxy(sql, { get }), count: () => sent.size }
}
