import { setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '@referrer/process'
import { type Backoff, backoffMs } from './backoff.ts'
import { errorText } from './errors.ts'

/** Work that runs as long as the service does. */
export interface Worker {
  readonly name: string
  /** Works until the signal fires; then starts nothing new, finishes what is under way and returns. A worker that throws is restarted. */
  run(signal: AbortSignal, frame: Frame): Promise<void>
}

/** How a worker reports its state, and learns that the drain has ended. */
export interface Frame {
  /** Fires at the end of the drain: the worker gives up its leases at once. */
  abort: AbortSignal
  /** The worker keeps running, but cannot do its work at present. */
  failing(error: unknown): void
  working(): void
}

export type WorkerState = 'running' | 'failing' | 'restarting' | 'stopped'

export interface WorkerHealth {
  name: string
  state: WorkerState
  restarts: number
  /** The last failure since the worker last reported that it works. */
  error: string | null
}

export type WorkerEvent =
  | { type: 'worker.failed'; worker: string; error: unknown; restartInMs: number }
  | { type: 'worker.failing'; worker: string; error: unknown }
  | { type: 'worker.recovered'; worker: string }
  | { type: 'worker.stuck'; worker: string }

export interface WorkersOptions {
  workers: readonly Worker[]
  onEvent(event: WorkerEvent): void
  backoff?: Backoff
  random?: () => number
}

export interface Workers {
  health(): WorkerHealth[]
  /** Drains. Names the workers that did not end although they were told to. */
  stop(options: { timeoutMs: number }): Promise<{ stuck: string[] }>
}

/** How long a worker may take to give back its work after the drain. */
const ABORT_GRACE_MS = 2_000

export function startWorkers({
  workers,
  onEvent,
  backoff = { firstMs: 500, maxMs: 30_000 },
  random = Math.random,
}: WorkersOptions): Workers {
  const stop = new AbortController()
  const abort = new AbortController()

  const kept = workers.map((worker) => {
    const health: WorkerHealth = { name: worker.name, state: 'running', restarts: 0, error: null }
    const frame: Frame = {
      abort: abort.signal,
      failing(error) {
        // A report that arrives after the worker has ended says nothing about its state.
        if (health.state === 'stopped') return
        const isNews = health.state !== 'failing'
        Object.assign(health, { state: 'failing', error: errorText(error) })
        if (isNews) onEvent({ type: 'worker.failing', worker: worker.name, error })
      },
      working() {
        if (health.error === null || health.state === 'stopped') return
        Object.assign(health, { state: 'running', error: null })
        onEvent({ type: 'worker.recovered', worker: worker.name })
      },
    }
    return { health, done: keepRunning(worker, health, frame) }
  })

  async function keepRunning(worker: Worker, health: WorkerHealth, frame: Frame): Promise<void> {
    let failures = 0
    while (!stop.signal.aborted) {
      const startedAt = performance.now()
      try {
        await worker.run(stop.signal, frame)
        if (stop.signal.aborted) break
        throw new Error(`${worker.name} ended by itself`)
      } catch (error) {
        if (performance.now() - startedAt > backoff.maxMs) failures = 0
        failures += 1
        const restartInMs = backoffMs(failures, backoff, random)
        onEvent({ type: 'worker.failed', worker: worker.name, error, restartInMs })
        Object.assign(health, { state: 'restarting', error: errorText(error) })
        await sleep(restartInMs, undefined, { signal: stop.signal }).catch(() => {})
      }
      if (stop.signal.aborted) break
      health.restarts += 1
      health.state = 'running'
    }
    health.state = 'stopped'
  }

  return {
    health: () => kept.map(({ health }) => ({ ...health })),
    async stop({ timeoutMs }) {
      stop.abort(new Error('the service stops'))
      const drained = Promise.all(kept.map(({ done }) => done))
      if (!(await endsWithin(drained, timeoutMs))) {
        abort.abort(new Error('the service stops and the drain took too long'))
        await endsWithin(drained, ABORT_GRACE_MS)
      }
      const stuck = kept.filter(({ health }) => health.state !== 'stopped').map(({ health }) => health.name)
      for (const worker of stuck) onEvent({ type: 'worker.stuck', worker })
      return { stuck }
    },
  }
}

const endsWithin = (work: Promise<unknown>, ms: number): Promise<boolean> =>
  withTimeout(
    ms,
    work.then(() => true),
    () => false,
  )
