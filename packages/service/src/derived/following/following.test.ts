import type { Transaction } from '@referrer/database'
import { freshDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Chain } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { runAlone, until } from '../../machinery/workers/testing.ts'
import { createFollowing, type Follower, followOnce, type Mark } from './following.ts'

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
  await database.sql`TRUNCATE market.marks, seen`
})
afterAll(() => database.drop())

const context = () => ({ sql: database.sql, clock: Date.now })

const markAgents = (ids: number[], chainId = CHAIN_ID) => database.sql`
  INSERT INTO market.marks (chain_id, what, subject) SELECT ${chainId}, 'agent', unnest(${ids}::bigint[])`

const agentsOf = (marks: readonly Mark[]) =>
  marks.flatMap((mark) => (mark.what === 'agent' ? [mark.agentId] : []))

/** Writes down what it was shown. */
const note = async (tx: Transaction, marks: readonly Mark[]) => {
  await tx`INSERT INTO seen SELECT unnest(${agentsOf(marks)}::bigint[])`
}
const noting: Follower = { follow: ({ tx, marks }) => note(tx, marks) }

const seen = async () =>
  (await database.sql<{ agent_id: bigint }[]>`SELECT agent_id FROM seen ORDER BY agent_id`).map(
    ({ agent_id }) => Number(agent_id),
  )
const left = async () => (await database.sql`SELECT FROM market.marks`).count

function follow(follower: Follower): void {
  running.push(runAlone(createFollowing(context(), chain, [follower])))
}

it('shows each mark of its chain once, and marks of the same thing as one', async () => {
  await markAgents([1, 2, 2, 3])
  await markAgents([9], CHAIN_ID + 1)
  follow(noting)
  await until(async () => (await left()) === 1, 'the marks to be taken')
  expect(await seen()).toEqual([1, 2, 3])
})

it('takes more marks than fit into a batch', async () => {
  await markAgents(Array.from({ length: 1_203 }, (_, at) => at))
  follow(noting)
  await until(async () => (await left()) === 0, 'the marks to be taken')
  expect(await seen()).toHaveLength(1_203)
})

it('keeps the marks, and nothing of what was done, when a batch fails in the middle', async () => {
  await markAgents([1, 2])
  const failing: Follower = { follow: () => Promise.reject(new Error('the oracle is ill')) }
  await expect(followOnce(context(), chain, [noting, failing])).rejects.toThrow('the oracle is ill')
  expect(await seen()).toEqual([])
  expect(await left()).toBe(2)
  expect(await followOnce(context(), chain, [noting])).toBe(true)
  expect(await seen()).toEqual([1, 2])
})

it('lets one replica follow at a time', async () => {
  await markAgents([1])
  let others: boolean | undefined
  const slow: Follower = {
    async follow({ tx, marks }) {
      others = await followOnce(context(), chain, [noting])
      await note(tx, marks)
    },
  }
  expect(await followOnce(context(), chain, [slow])).toBe(true)
  expect(others).toBe(false)
  expect(await seen()).toEqual([1])
})

it('leaves what is marked during a batch to the next one', async () => {
  await markAgents([1])
  const marking: Follower = {
    async follow({ tx, marks }) {
      await note(tx, marks)
      if (agentsOf(marks).includes(1n)) await markAgents([2])
    },
  }
  follow(marking)
  await until(async () => (await seen()).length === 2, 'the second mark')
  expect(await seen()).toEqual([1, 2])
})

it('refreshes what is old although there is always something marked', async () => {
  const calls: string[] = []
  const busy: Follower = {
    async follow() {
      await markAgents([1])
      calls.push('follow')
    },
    async refresh() {
      calls.push('refresh')
      return calls.length < 20
    },
  }
  await markAgents([1])
  follow(busy)
  await until(() => calls.filter((call) => call === 'refresh').length > 5, 'refreshes')
  expect(calls.filter((call) => call === 'follow').length).toBeGreaterThan(3)
})

it('takes marks before it refreshes what is old, in a single batch', async () => {
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
  await markAgents([1])
  const results = []
  for (let at = 0; at < 4; at += 1) results.push(await followOnce(context(), chain, [follower]))
  expect(calls).toEqual(['follow', 'refresh', 'refresh', 'refresh'])
  expect(results).toEqual([true, true, true, false])
})
