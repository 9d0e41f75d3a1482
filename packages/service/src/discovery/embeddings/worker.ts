import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../kit/context.ts'
import { backoffMs } from '../../machinery/workers/backoff.ts'
import type { Frame, Worker } from '../../machinery/workers/frame.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import { embedSome } from './embed-some.ts'
import { type Embedder, EmbeddingFailed } from './embedder.ts'
import { configuredId, embedderOf, localEmbedder } from './embedders.ts'
import { LOCAL } from './ids.ts'
import { configuredEmbedder, deleteUnused, noteReady, servingEmbedder, useEmbedder } from './store.ts'

const POLL_MS = 500
/** How often the worker checks which models are needed, and reports them as in use. */
const LOOK_MS = 5_000
const BACKOFF = { firstMs: 1_000, maxMs: 60_000 }
/** Upper limit for a `Retry-After`. */
const LONGEST_PAUSE_MS = 600_000

/** The configured model, and the one that serves requests until the configured one has caught up. */
const ROLES = ['configured', 'serving'] as const
type Role = (typeof ROLES)[number]

/** Embeds the queued texts. Replicas share the queue, and the two models do not wait for each other. */
export const embeddingWorker = (context: Context, lookMs = LOOK_MS): Worker => ({
  name: 'embeddings',
  async run(signal, frame) {
    const tell = failureReporter(frame)
    await Promise.all(
      ROLES.map((role) => keepUp(context, { role, lookMs, signal, tell: (error) => tell(role, error) })),
    )
    await localEmbedder(context).close()
  },
})

/** Holds models ready for questions, in a process that embeds no texts. */
export const queryModelWorker = (context: Context): Worker => ({
  name: 'query model',
  async run(signal, frame) {
    await keepLoaded(context, signal, frame)
    await localEmbedder(context).close()
  },
})

/** Loads a new model while the former one serves, so that no question has to wait for it. */
async function keepLoaded(context: Context, signal: AbortSignal, frame: Frame): Promise<void> {
  while (!signal.aborted) {
    try {
      for (const id of new Set(Object.values(await idsInUse(context)))) await load(context, id)
      frame.working()
    } catch (error) {
      frame.failing(error)
    }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}

interface Keeping {
  role: Role
  lookMs: number
  signal: AbortSignal
  tell: (error: unknown) => void
}

async function keepUp(context: Context, { role, lookMs, signal, tell }: Keeping): Promise<void> {
  let embedder: Embedder | undefined
  let lookAt = 0
  let failures = 0
  while (!signal.aborted) {
    let pause = POLL_MS
    try {
      if (performance.now() >= lookAt) {
        embedder = (await modelsInUse(context))[role]
        lookAt = performance.now() + lookMs
      }
      if (embedder && (await embedSome(context, embedder, signal))) pause = 0
      else if (embedder) await noteReady(context.sql, embedder.id)
      failures = 0
      tell(undefined)
    } catch (error) {
      failures += 1
      tell(error)
      pause = pauseAfter(error, failures, Math.random)
    }
    if (pause > 0) await sleep(pause, undefined, { signal }).catch(() => {})
  }
}

export function pauseAfter(error: unknown, failures: number, random: () => number): number {
  const asked = (error instanceof EmbeddingFailed && error.retryAfterMs) || 0
  return Math.max(Math.min(asked, LONGEST_PAUSE_MS), backoffMs(failures, BACKOFF, random))
}

/** The models to embed with; reports them as in use. Empty: no texts are embedded. */
async function modelsInUse(context: Context): Promise<Partial<Record<Role, Embedder>>> {
  const ids = await idsInUse(context)
  const models: Partial<Record<Role, Embedder>> = {}
  for (const role of ROLES) {
    const id = ids[role]
    const embedder = id === undefined ? undefined : await load(context, id)
    if (!embedder || Object.values(models).includes(embedder)) continue
    await useEmbedder(context.sql, embedder)
    models[role] = embedder
  }
  return models
}

/** Loads a model before the first question needs it. */
async function load(context: Context, id: string): Promise<Embedder | undefined> {
  if (id === LOCAL.id && context.config.roles.has('api')) localEmbedder(context).warm()
  return embedderOf(context, id)
}

async function idsInUse(context: Context): Promise<Partial<Record<Role, string>>> {
  const { sql, config } = context
  const wanted = configuredId(config.embedder)
  const configured = await configuredEmbedder(sql, wanted)
  const serving = await servingEmbedder(sql, wanted)
  if (configured !== LOCAL.id && serving !== LOCAL.id) localEmbedder(context).rest()
  return configured === undefined || serving === undefined ? {} : { configured, serving }
}

/** Reports the worker as failing while at least one of its models fails. */
function failureReporter(frame: Frame) {
  const troubles = new Map<Role, unknown>()
  return (role: Role, error: unknown) => {
    if (error === undefined) troubles.delete(role)
    else troubles.set(role, error)
    const [trouble] = troubles.values()
    if (trouble === undefined) frame.working()
    else frame.failing(trouble)
  }
}

/** Deletes vectors of models that are not used any more. */
export const sweepEmbedders = (context: Context): Schedule => ({
  name: 'sweep-embedders',
  everySeconds: 3_600,
  async run({ signal, sql }) {
    // Reports the needed models first: after a long downtime of the whole service they would look unused.
    await modelsInUse(context)
    while (!signal.aborted && (await deleteUnused(sql)));
  },
})
