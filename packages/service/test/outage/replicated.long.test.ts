import { registerIdentity } from '@referrer/contracts/local'
import { connect } from '@referrer/database'
import { type ReplicatedPostgres, startReplicatedPostgres } from '@referrer/database/testing'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openReplicas } from '../../src/machinery/replicas/replicas.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { type Caller, callerOf } from '../http/caller.ts'
import type { ServiceProcess } from './service-process.ts'
import { expectHonest, startWorld, type World } from './world.ts'

/** Longer time-outs, because a busy machine is slow. */
vi.setConfig({ testTimeout: 180_000 })

// A primary, its synchronous standby and a replica for reads, under two services. Each test begins with what the one before it has left.

let postgres: ReplicatedPostgres
let replicaUrl: string
let world: World
let second: ServiceProcess
/** The two services. */
let here: Caller
let there: Caller
let owner: LocalAccount

beforeAll(async () => {
  postgres = await startReplicatedPostgres({ replicas: 1 })
  replicaUrl = postgres.replicas[0]?.url ?? ''
  world = await startWorld(31_362, {
    DATABASE_URL: postgres.url,
    DATABASE_REPLICA_URLS: replicaUrl,
    // A replica that a test has paused for a while is still used.
    MAX_REPLICA_LAG_SECONDS: '600',
    TRUSTED_PROXIES: '127.0.0.1',
  })
  second = await world.startAnother()
  ;[here, there] = [world.call, callerOf(second.url)]
  owner = world.market.accounts.reviewer
  // The first identity has the id 0, which no agent has.
  await registerIdentity(world.market, owner)
})
afterAll(async () => {
  await second?.stop()
  await world?.close()
  await postgres?.remove()
})

async function onReplica(statement: string): Promise<void> {
  const sql = connect(replicaUrl, { max: 1 })
  await sql.unsafe(statement)
  await sql.end()
}

const from = (client: string) => ({ headers: { 'x-forwarded-for': client } })
const WRITER = from('203.0.113.1')
const ELSEWHERE = from('203.0.113.2')
const STRANGER = from('203.0.113.3')

/** A new agent of the owner, registered with the first service. */
async function register(): Promise<string> {
  const agentId = await registerIdentity(world.market, owner)
  const body = { agent_id: Number(agentId) }
  const { status } = await here('POST', '/v1/agent/register', { as: owner, body, ...WRITER })
  expect(status).toBe(201)
  return `/v1/agent/${agentId}`
}

const statusOf = async (call: Caller, path: string, ask: object) => (await call('GET', path, ask)).status
/** Waits until a stranger reads from the replica, which is left for a moment when a busy machine lets it answer late. */
const missesFromReplica = (call: Caller, path: string) =>
  until(async () => (await statusOf(call, path, STRANGER)) === 404, 'a stranger to be served by the replica')
const replicaCheck = async (call: Caller) => (await call('GET', '/readyz')).body.checks['replica 1'].detail

describe('with a replica', () => {
  test('that lags, the writer reads his write in every process, by his address or his account, and a stranger the state before', async () => {
    for (const call of [here, there])
      await until(async () => (await replicaCheck(call)).endsWith('s behind'), 'the replica in use')
    await onReplica('SELECT pg_wal_replay_pause()')
    const agent = await register()
    for (const call of [here, there]) {
      await missesFromReplica(call, agent)
      expect(await statusOf(call, agent, WRITER)).toBe(200)
      expect(await statusOf(call, `${agent}/earnings`, { as: owner, ...ELSEWHERE })).toBe(200)
    }
    await onReplica('SELECT pg_wal_replay_resume()')
    await until(async () => (await statusOf(there, agent, STRANGER)) === 200, 'the agent on the replica')
  })

  test('that lags too long, it is not used until it has caught up, and readiness tells how far it is', async () => {
    await onReplica('SELECT pg_wal_replay_pause()')
    const strict = openReplicas({
      primaryUrl: postgres.url,
      urls: [replicaUrl],
      maxLagSeconds: 1,
      onTrouble: (error) => {
        throw error
      },
    })
    onTestFinished(() => strict.close())
    const isChosen = async () => (await strict.choose(['somebody'])) !== undefined
    // The log must go on: a replica that has all of it does not lag, however long ago that was written.
    await register()
    await until(async () => !(await isChosen()), 'the replica to be left')
    const behind = async () => Number(/^([\d.]+) s behind/.exec(await replicaCheck(here))?.[1])
    await until(async () => (await behind()) > 1, 'the lag of the replica')
    await onReplica('SELECT pg_wal_replay_resume()')
    await until(isChosen, 'the replica in use again')
  })

  test('that dies, everybody is served by the primary, before and after its death is noticed', async () => {
    await onReplica('SELECT pg_wal_replay_pause()')
    const agent = await register()
    await missesFromReplica(there, agent)
    await postgres.replicas[0]?.kill()
    expect(await statusOf(there, agent, STRANGER)).toBe(200)
    await until(async () => (await replicaCheck(there)).startsWith('not used'), 'the replica to be left')
    expect(await statusOf(there, agent, STRANGER)).toBe(200)
    await world.isReady()
  })
})

test('a service whose primary is killed under load goes on with the promoted standby, without a restart', async () => {
  const { load, caps } = await world.startCallers()
  try {
    await load.everyAnswer(200)
    await postgres.primary().kill()
    load.nextPhase()
    await load.everyAnswer(500)
    await world.isNotReady()
    const { acknowledged } = caps

    await postgres.promote()
    await load.everyAnswer(200)
    expect(await world.storedCap()).toBeGreaterThanOrEqual(acknowledged)
    await world.isReady()
    load.nextPhase()
    expect((await load.someMore()).filter(({ status }) => status !== 200)).toEqual([])
    await world.indexingGoesOn()
  } finally {
    await load.stop()
  }
  expect(await world.storedCap()).toBe(caps.acknowledged)
  expectHonest(load)
  for (const service of [second, world.service]) {
    expect(await service.stop()).toEqual({ code: 0, complaints: '' })
  }
})
