import type { Transaction } from '@referrer/database'
import { freshDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Chain } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { runAlone, until } from '../../machinery/workers/testing.ts'
import { type Change, createFollowing, type Follower, followOnce } from './following.ts'

const CHAIN_ID = 7
const chain = { config: { chainId: CHAIN_ID, pollIntervalMs: 50 } } as Chain
let database: Awaited<ReturnType<typeof freshDatabase>>
const running: { stop(): Promise<void> }[] = []

beforeAll(async () => {
  database = await freshDatabase(migrations)
  await database.sql`CREATE TABLE seen (agent_id bigint)`
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.stop()))
  await database.sql`TRUNCATE market.pending_changes, seen`
})
afterAll(() => database.drop())

const context = () => ({ sql: database.sql, clock: Date.now })

const announceAgents = (ids: number[], chainId = CHAIN_ID) => database.sql`
  INSERT INTO market.pending_changes (chain_id, what, subject) SELECT ${chainId}, 'agent', unnest(${ids}::bigint[])`

const agentsOf = (changes: readonly Change[]) =>
  changes.flatMap((change) => (change.what === 'agent' ? [change.agentId] : []))

/** Stores the agents of the changes it was given. */
const note = async (tx: Transaction, changes: readonly Change[]) => {
  await tx`INSERT INTO seen SELECT unnest(${agentsOf(changes)}::bigint[])`
}
const noting: Follower = { follow: ({ tx, changes }) => note(tx, changes) }

const seen = async () =>
  (await database.sql<{ agent_id: bigint }[]>`SELECT agent_id FROM seen ORDER BY agent_id`).map(
    ({ agent_id }) => Number(agent_id),
  )
const left = async () => (await database.sql`SELECT FROM market.pending_changes`).count

function follow(follower: Follower): void {
  running.push(runAlone(createFollowing(context(), chain, [follower])))
}

it('shows each change of its chain once, and changes of the same thing as one', async () => {
  await announceAgents([1, 2, 2, 3])
  await announceAgents([9], CHAIN_ID + 1)
  follow(noting)
  await until(async () => (await left()) === 1, 'the changes to be taken')
  expect(await seen()).toEqual([1, 2, 3])
})

it('takes more changes than fit into a batch', async () => {
  await announceAgents(Array.from({ length: 1_203 }, (_, at) => at))
  follow(noting)
  await until(async () => (await left()) === 0, 'the changes to be taken')
  expect(await seen()).toHaveLength(1_203)
})

it('keeps the changes, and nothing of what was done, when a batch fails in the middle', async () => {
  await announceAgents([1, 2])
  const failing: Follower = { follow: () => Promise.reject(new Error('the oracle is ill')) }
  await expect(followOnce(context(), chain, [noting, failing])).rejects.toThrow('the oracle is ill')
  expect(await seen()).toEqual([])
  expect(await left()).toBe(2)
  expect(await followOnce(context(), chain, [noting])).toBe(true)
  expect(await seen()).toEqual([1, 2])
})

it('lets one replica follow at a time', async () => {
  await announceAgents([1])
  let others: boolean | undefined
  const slow: Follower = {
    async follow({ tx, changes }) {
      others = await followOnce(context(), chain, [noting])
      await note(tx, changes)
    },
  }
  expect(await followOnce(context(), chain, [slow])).toBe(true)
  expect(others).toBe(false)
  expect(await seen()).toEqual([1])
})

it('leaves what is announced during a batch to the next one', async () => {
  await announceAgents([1])
  const marking: Follower = {
    async follow({ tx, changes }) {
      await note(tx, changes)
      if (agentsOf(changes).includes(1n)) await announceAgents([2])
    },
  }
  follow(marking)
  await until(async () => (await seen()).length === 2, 'the second change')
  expect(await seen()).toEqual([1, 2])
})

it('refreshes what is old although there is always something announced', async () => {
  const calls: string[] = []
  const busy: Follower = {
    async follow() {
      await announceAgents([1])
      calls.push('follow')
    },
    async refresh() {
      calls.push('refresh')
      return calls.length < 20
    },
  }
  await announceAgents([1])
  follow(busy)
  await until(() => calls.filter((call) => call === 'refresh').length > 5, 'refreshes')
  expect(calls.filter((call) => call === 'follow').length).toBeGreaterThan(3)
})

it('takes changes before it refreshes what is old, in a single batch', async () => {
  const calls: string[] = []
  const follower: Follower = {
    async follow() {
      calls.push('follow')
    },
    async refresh() {
      calls.push('refresh')
      return calls.length < 4
    },
  }
  await announceAgents([1])
  const results = []
  for (let at = 0; at < 4; at += 1) results.push(await followOnce(context(), chain, [follower]))
  expect(calls).toEqual(['follow', 'refresh', 'refresh', 'refresh'])
  expect(results).toEqual([true, true, true, false])
})
