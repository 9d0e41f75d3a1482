import { createRpcPool } from '@referrer/chain'
import type { Console } from '@referrer/console'
import type { Database, MigrationSet } from '@referrer/database'
import { denying, publicLookup, systemLookup } from '@referrer/net'
import {
  bringUpToDate,
  closeApp,
  createLog,
  createTransactionTraces,
  type Limits,
  type MetricsPort,
  metricsRoute,
  NO_TRACING,
  openConfigured,
  openLimits,
  openMetricsPort,
  openSigners,
  openTracing,
  Secret,
  type Tracing,
} from '@referrer/process'
import { Recovery } from '@referrer/protocol'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { LocalAccount } from 'viem'
import { openMessengers, receiveMessages } from '../doors/chat/messengers.ts'
import { createApp } from '../doors/http/app.ts'
import { healthRoutes } from '../doors/http/health.ts'
import { loadAttestation } from '../kit/attestation.ts'
import type { Config } from '../kit/config.ts'
import type { Chain, Context } from '../kit/context.ts'
import { migrations } from '../machinery/db/migrations.ts'
import { openReplicas, type Replicas } from '../machinery/replicas/replicas.ts'
import { startWorkers, type Workers } from '../machinery/workers/frame.ts'
import { builtManifest } from '../market/manifest/http.ts'
import { reviewSchemas } from '../market/reviews/schemas.ts'
import { followChains } from './chains.ts'
import { createEventLog } from './event-log.ts'
import { createMetrics } from './metrics.ts'
import { routes } from './routes.ts'
import { tools } from './tools.ts'
import { marketWork } from './work.ts'
import { createWorkers, type Work, type WorkEvent } from './workers.ts'

export type Overrides = Partial<
  Pick<
    Context,
    'channels' | 'clock' | 'log' | 'fetch' | 'lookup' | 'recovery' | 'chainHealth' | 'senderHealth'
  >
> &
  Pick<Chain, 'optionalReadMs'> & {
    work?: Work
    migrations?: MigrationSet[]
    /** Ends a start that waits. */
    signal?: AbortSignal
    console?: Console | undefined
  }

export interface Service {
  url: string
  /** The port for monitoring, if there is one. */
  metricsUrl: string | undefined
  context: Context
  /** Drains and closes everything. Names the workers that did not end although they were told to. */
  stop(): Promise<{ stuck: string[] }>
}

/** Opens the database, brings it up to date, and starts the workers and the HTTP door. */
export async function startService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const log = overrides.log ?? createLog(config.logLevel)
  const tracing = await openTracing(config.tracing, 'referrer-service')
  const database = await openRecords(config, log, tracing)
  let replicas: Replicas | undefined
  let limits: Limits | undefined
  let workers: Workers | undefined
  let app: FastifyInstance | undefined
  let metricsPort: MetricsPort | undefined

  async function close() {
    const timeoutMs = config.shutdownTimeoutMs
    const [drained] = await Promise.all([workers?.stop({ timeoutMs }), app && closeApp(app, timeoutMs)])
    await metricsPort?.close(timeoutMs)
    await replicas?.close()
    await limits?.close()
    await database.close()
    await tracing.close()
    return drained ?? { stuck: [] }
  }

  try {
    const { signal } = overrides
    await bringUpToDate(config, database.sql, overrides.migrations ?? migrations, { log, signal })
    replicas = openReads(config, database, log)
    const clock = overrides.clock ?? Date.now
    limits = await openLimits(config.limits, {
      program: 'service',
      databaseUrl: database.url,
      clock,
      storeClock: overrides.clock,
      log,
    })
    const fetch = tracing.traceFetch(overrides.fetch ?? globalThis.fetch)
    const messengers = await openMessengers(config, fetch)
    const context: Context = {
      config,
      sql: database.sql,
      replicas,
      databaseUrl: new Secret(database.url),
      chains: await openChains(config, fetch, overrides),
      channels: overrides.channels ?? new Map(messengers.map((messenger) => [messenger.name, messenger])),
      clock,
      log,
      limits,
      tracing,
      fetch,
      lookup:
        overrides.lookup ??
        denying(config.allowPrivateHosts ? systemLookup : publicLookup(), config.fetchDeny),
      recovery: overrides.recovery ?? (await Recovery.load()),
      chainHealth: overrides.chainHealth ?? (() => chains.chainHealth()),
      senderHealth: overrides.senderHealth ?? (() => chains.senderHealth()),
      workerHealth: () => workers?.health() ?? [],
    }
    // A bad file stops the start, and not the first review of its category.
    reviewSchemas(context)
    builtManifest(context)
    const metrics = createMetrics(context)
    const logEvent = createEventLog(log)
    const traceTransaction = createTransactionTraces(tracing)
    const onEvent = (event: WorkEvent) => {
      metrics.countEvent(event)
      if (isSenderEvent(event)) traceTransaction(event.chain, { ...event, type: event.type.slice(7) })
      logEvent(event)
    }
    const chains = followChains(context, await signersOf(config), onEvent)
    log.info({ implementation: context.recovery.implementation }, 'signatures')
    const work = overrides.work ?? marketWork(context)
    const reception = receiveMessages(context, messengers)
    const all = [...chains.workers, ...createWorkers(context, work, onEvent), ...reception.workers]
    workers = startWorkers({ workers: all, onEvent })
    app = createApp(context, { routes, tools, hooks: reception.hooks, metrics, console: overrides.console })
    if (config.metrics)
      metricsPort = await openMetricsPort(config.metrics, log, (served) => {
        metricsRoute(served, metrics)
        healthRoutes(served, context)
      })
    const url = await app.listen({ host: config.host, port: config.port })
    let stopping: ReturnType<typeof close> | undefined
    return {
      url,
      metricsUrl: metricsPort?.url,
      context,
      stop: () => {
        stopping ??= close()
        return stopping
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openChains(
  config: Config,
  fetch: typeof globalThis.fetch,
  { optionalReadMs }: Overrides,
): Promise<Map<number, Chain>> {
  const chains = config.chains.map(async (chain): Promise<[number, Chain]> => {
    const { chainId } = chain
    const urls = chain.rpcUrls.map((url) => url.reveal())
    const attestation = await loadAttestation(chainId, config.attestation.get(chainId) ?? {}, config.vault)
    return [
      chainId,
      { config: chain, rpc: createRpcPool({ chainId, urls, fetch }), attestation, optionalReadMs },
    ]
  })
  return new Map(await Promise.all(chains))
}

/** The accounts that this process sends for. */
async function signersOf({ roles, oracle, publisher, keys }: Config): Promise<LocalAccount[]> {
  if (!roles.has('workers')) return []
  const wanted = [oracle, publisher].flatMap((account) => account ?? [])
  return (await openSigners(keys, [...wanted, ...keys.retiring])).accounts
}

function openReads(config: Config, { url }: Database, log: Logger): Replicas | undefined {
  if (config.replicaUrls.length === 0 || !config.roles.has('api')) return undefined
  return openReplicas({
    primaryUrl: url,
    urls: config.replicaUrls.map((replica) => replica.reveal()),
    maxLagSeconds: config.maxReplicaLagSeconds,
    onTrouble: (err, text) => log.warn({ err }, text),
  })
}

/** Shared by schedules, followers and requests; indexers and senders have connections of their own. */
const CONNECTIONS = 20

export const openRecords = (
  config: Config,
  log: Logger,
  { observeQuery }: Tracing = NO_TRACING,
): Promise<Database> =>
  openConfigured(config, { name: 'referrer service', max: CONNECTIONS, log, observe: observeQuery })

const isSenderEvent = (event: WorkEvent): event is Extract<WorkEvent, { type: `sender.${string}` }> =>
  event.type.startsWith('sender.')
