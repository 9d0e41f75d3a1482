import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KillablePostgres, processesOf, startKillablePostgres } from '@referrer/database/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chainsJson } from '../../src/doors/http/testing.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { callerOf } from '../http/caller.ts'
import { startServiceProcess } from './service-process.ts'
import { expectHonest, startWorld, type World } from './world.ts'

/** Longer time-outs, because a busy machine is slow. */
vi.setConfig({ testTimeout: 180_000 })

const CHAIN_ID = 31_361
const CYCLES = 3

let postgres: KillablePostgres
let world: World

beforeAll(async () => {
  postgres = await startKillablePostgres()
  world = await startWorld(CHAIN_ID, { DATABASE_URL: postgres.url })
})
afterAll(async () => {
  await world?.close()
  await postgres?.remove()
})

describe('a service whose Postgres', () => {
  test('is killed under load says so, loses nothing that it acknowledged, and serves again when it is back', async () => {
    const { load, caps } = await world.startCallers()
    try {
      await load.everyAnswer(200)
      for (let cycle = 0; cycle < CYCLES; cycle += 1) {
        await postgres.kill()
        load.nextPhase()
        await load.everyAnswer(500)
        expect(await world.call('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
        await world.isNotReady()
        const { acknowledged } = caps

        await postgres.start()
        await load.everyAnswer(200)
        expect(await world.storedCap()).toBeGreaterThanOrEqual(acknowledged)
        await world.isReady()
        load.nextPhase()
        expect((await load.someMore()).filter(({ status }) => status !== 200)).toEqual([])
        await world.indexingGoesOn()
      }
    } finally {
      await load.stop()
    }
    expect(await world.storedCap()).toBe(caps.acknowledged)
    expectHonest(load)
    expect(world.service.exitCode()).toBeNull()
  })

  test('does not answer lets its callers go with an error, and serves again when it does', async () => {
    const { load } = await world.startCallers()
    try {
      await load.everyAnswer(200)
      postgres.freeze()
      load.nextPhase()
      await load.everyAnswer(500)
      expect(await world.call('GET', '/healthz')).toMatchObject({ status: 200 })
      await world.isNotReady()

      postgres.thaw()
      await load.everyAnswer(200)
      await world.isReady()
      await world.indexingGoesOn()
    } finally {
      postgres.thaw()
      await load.stop()
    }
    expectHonest(load)
  })

  test('came and went ends in order when it is told to, and has nothing to complain of', async () => {
    expect(await world.service.stop()).toEqual({ code: 0, complaints: '' })
  })
})

test('a service brings its own embedded Postgres back when that was killed', async () => {
  const directory = join(tmpdir(), `referrer-outage-${randomUUID()}`)
  const own = await startServiceProcess({
    DATABASE_URL: '',
    DATA_DIR: directory,
    CHAINS: chainsJson(CHAIN_ID),
  })
  try {
    const ask = callerOf(own.url)
    const isServing = async () => (await ask('GET', '/v1/review')).status === 200
    expect(await isServing()).toBe(true)
    for (const pid of processesOf(directory)) process.kill(pid, 'SIGKILL')
    await until(async () => !(await isServing()), 'the service to notice')
    await until(isServing, 'Postgres to be back')
  } finally {
    expect(await own.stop()).toEqual({ code: 0, complaints: '' })
    rmSync(directory, { recursive: true, force: true })
  }
})
