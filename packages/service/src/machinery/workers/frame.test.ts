import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type Frame, startWorkers, type Worker, type WorkerEvent } from './frame.ts'
import { until } from './testing.ts'

const untilFired = (signal: AbortSignal) => sleep(60_000, undefined, { signal }).catch(() => {})

function start(...workers: Worker[]) {
  const events: WorkerEvent[] = []
  const frame = startWorkers({
    workers,
    onEvent: (event) => events.push(event),
    backoff: { firstMs: 5, maxMs: 10 },
  })
  return { ...frame, events }
}

describe('a worker that throws', () => {
  it('is started again, and the failure shows until it works', async () => {
    let runs = 0
    const works = Promise.withResolvers<void>()
    const { events, health, stop } = start({
      name: 'indexer',
      async run(signal, frame) {
        runs += 1
        if (runs < 3) throw new Error(`failure ${runs}`)
        await works.promise
        frame.working()
        await untilFired(signal)
      },
    })
    await until(() => runs === 3, 'the third run')
    expect(health()).toEqual([{ name: 'indexer', state: 'running', restarts: 2, error: 'Error: failure 2' }])
    works.resolve()
    await until(() => health()[0]?.error === null, 'the failure to be forgotten')
    expect(events.map(({ type }) => type)).toEqual(['worker.failed', 'worker.failed', 'worker.recovered'])
    expect(await stop({ timeoutMs: 1_000 })).toEqual({ stuck: [] })
    expect(health()[0]?.state).toBe('stopped')
  })

  it('does not disturb the others, nor the stop', async () => {
    let isDisturbed = false
    const { health, stop } = start(
      { name: 'bad', run: async () => Promise.reject(new Error('no')) },
      {
        name: 'good',
        async run(signal) {
          await untilFired(signal)
          isDisturbed = !signal.aborted
        },
      },
    )
    await until(() => (health()[0]?.restarts ?? 0) > 2, 'some restarts')
    expect(health()[1]).toMatchObject({ state: 'running', restarts: 0 })
    await stop({ timeoutMs: 1_000 })
    expect(isDisturbed).toBe(false)
  })
})

it('a worker that returns though nobody stopped it is started again', async () => {
  const { events, stop } = start({ name: 'quitter', run: async () => {} })
  await until(() => events.length > 0, 'an event')
  expect(events[0]).toMatchObject({ type: 'worker.failed', error: new Error('quitter ended by itself') })
  await stop({ timeoutMs: 1_000 })
})

it('a worker that goes on without success shows as failing, and is told of once', async () => {
  const { events, health, stop } = start({
    name: 'jobs',
    async run(signal, frame) {
      frame.failing(new Error('no database'))
      frame.failing(new Error('still no database'))
      await untilFired(signal)
    },
  })
  expect(health()[0]).toMatchObject({ state: 'failing', restarts: 0, error: 'Error: still no database' })
  expect(events).toHaveLength(1)
  await stop({ timeoutMs: 1_000 })
})

describe('stop', () => {
  it('lets running work finish without aborting it', async () => {
    const open = Promise.withResolvers<void>()
    let isAborted: boolean | undefined
    const { stop } = start({
      name: 'slow',
      async run(_signal, { abort }) {
        await open.promise
        isAborted = abort.aborted
      },
    })
    const stopped = stop({ timeoutMs: 60_000 })
    open.resolve()
    expect(await stopped).toEqual({ stuck: [] })
    expect(isAborted).toBe(false)
  })

  it('aborts at the deadline what has not finished', async () => {
    const { stop } = start({ name: 'slow', run: (_signal, { abort }) => untilFired(abort).then(() => {}) })
    expect(await stop({ timeoutMs: 10 })).toEqual({ stuck: [] })
  })

  it('does not take for stuck what fails after it has ended', async () => {
    const ended = Promise.withResolvers<Frame>()
    const { health, stop } = start(
      { name: 'quick', run: (signal, frame) => untilFired(signal).then(() => ended.resolve(frame)) },
      {
        name: 'slow',
        async run() {
          const frame = await ended.promise
          await until(() => health()[0]?.state === 'stopped', 'the end of the other')
          frame.failing(new Error('too late'))
        },
      },
    )
    expect(await stop({ timeoutMs: 10_000 })).toEqual({ stuck: [] })
  })

  it('names what does not end at all', async () => {
    const { events, stop } = start({ name: 'deaf', run: () => new Promise(() => {}) })
    expect(await stop({ timeoutMs: 10 })).toEqual({ stuck: ['deaf'] })
    expect(events).toEqual([{ type: 'worker.stuck', worker: 'deaf' }])
  })
})
