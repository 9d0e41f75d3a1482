import { createRpcPool } from '@referrer/chain'
import type { Console } from '@referrer/console'
import { type Database, migrate } from '@referrer/database'
import { publicLookup, systemLookup } from '@referrer/net'
import { closeApp, createLog, openConfigured, Secret } from '@referrer/process'
import { Recovery } from '@referrer/protocol'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { openMessengers, receiveMessages } from '../doors/chat/messengers.ts'
import { createApp } from '../doors/http/app.ts'
import { loadAttestation } from '../kit/attestation.ts'
import type { Config } from '../kit/config.ts'
import type { Chain, Context } from '../kit/context.ts'
import { migrations } from '../machinery/db/migrations.ts'
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
> & {
  work?: Work
  console?: Console | undefined
}

export interface Service {
  url: string
  context: Context
  /** Drains and closes everything. Names the workers that did not end although they were told to. */
  stop(): Promise<{ stuck: string[] }>
}

/** Opens the database, brings it up to date, and starts the workers and the HTTP door. */
export async function startService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const log = overrides.log ?? createLog(config.logLevel)
  const database = await openRecords(config, log)
  let workers: Workers | undefined
  let app: FastifyInstance | undefined

  async function close() {
    const timeoutMs = config.shutdownTimeoutMs
    const [drained] = await Promise.all([workers?.stop({ timeoutMs }), app && closeApp(app, timeoutMs)])
    await database.close()
    return drained ?? { stuck: [] }
  }

  try {
    await migrate(database.sql, migrations)
    const fetch = overrides.fetch ?? globalThis.fetch
    const messengers = openMessengers(config, fetch)
    const context: Context = {
      config,
      sql: database.sql,
      databaseUrl: new Secret(database.url),
      chains: await openChains(config, fetch),
      channels: overrides.channels ?? new Map(messengers.map((messenger) => [messenger.name, messenger])),
      clock: overrides.clock ?? Date.now,
      log,
      fetch,
      lookup: overrides.lookup ?? (config.allowPrivateHosts ? systemLookup : publicLookup()),
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
    const onEvent = (event: WorkEvent) => {
      metrics.countEvent(event)
      logEvent(event)
    }
    const chains = followChains(context, onEvent)
    log.info({ implementation: context.recovery.implementation }, 'signatures')
    const work = overrides.work ?? marketWork(context)
    const reception = receiveMessages(context, messengers)
    const all = [...chains.workers, ...createWorkers(context, work, onEvent), ...reception.workers]
    workers = startWorkers({ workers: all, onEvent })
    app = createApp(context, { routes, tools, hooks: reception.hooks, metrics, console: overrides.console })
    const url = await app.listen({ host: config.host, port: config.port })
    let stopping: ReturnType<typeof close> | undefined
    return {
      url,
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

async function openChains(config: Config, fetch: typeof globalThis.fetch): Promise<Map<number, Chain>> {
  const chains = config.chains.map(async (chain): Promise<[number, Chain]> => {
    const { chainId } = chain
    const urls = chain.rpcUrls.map((url) => url.reveal())
    const attestation = await loadAttestation(config.attestationSeeds.get(chainId))
    return [chainId, { config: chain, rpc: createRpcPool({ chainId, urls, fetch }), attestation }]
  })
  return new Map(await Promise.all(chains))
}

/** Shared by schedules, followers and requests; indexers and senders have connections of their own. */
const CONNECTIONS = 20

export const openRecords = (config: Config, log: Logger): Promise<Database> =>
  openConfigured(config, { name: 'referrer service', max: CONNECTIONS, log })
