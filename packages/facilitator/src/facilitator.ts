import { chainMigrations } from '@referrer/chain'
import type { MigrationSet } from '@referrer/database'
import { denying, publicLookup, systemLookup } from '@referrer/net'
import {
  bringUpToDate,
  closeApp,
  createLog,
  createTransactionTraces,
  type Limits,
  limitsMigrations,
  type MetricsPort,
  openConfigured,
  openLimits,
  openMetricsPort,
  openTracing,
  Secret,
  withTimeout,
} from '@referrer/process'
import { Recovery } from '@referrer/protocol'
import { openChains } from './chains.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { createEventLog } from './event-log.ts'
import { createDoor } from './http/app.ts'
import { createMetrics } from './http/metrics.ts'
import { lookAtRelayers, troubleOf } from './relayers.ts'
import type { OnSettlement } from './settlement/events.ts'
import { createSettler } from './settlement/settler.ts'

export type Overrides = Partial<Pick<Context, 'clock' | 'log' | 'fetch' | 'lookup' | 'recovery'>> & {
  onEvent?: OnSettlement
  /** Ends a start that waits. */
  signal?: AbortSignal
}

export interface Facilitator {
  url: string
  /** The port for monitoring, if there is one. */
  metricsUrl: string | undefined
  context: Context
  /** Takes nothing new, lets what has begun end, and closes everything. Names what did not end in time. */
  stop(): Promise<{ stuck: string[] }>
}

const facilitatorMigrations: MigrationSet = {
  name: 'facilitator',
  directory: new URL('../migrations/', import.meta.url),
}

/** Everything that the facilitator's database consists of, in order. */
export const migrations = [chainMigrations, limitsMigrations, facilitatorMigrations]

const CONNECTIONS = 20
/** Time-out for closing connections and background work, after the payments have ended. */
const LAST_ANSWERS_MS = 5_000

/** Opens the database, brings it up to date, goes on with what an earlier process left, and opens the HTTP door. */
export async function startFacilitator(config: Config, overrides: Overrides = {}): Promise<Facilitator> {
  const log = overrides.log ?? createLog(config.logLevel)
  const tracing = await openTracing(config.tracing, 'referrer-facilitator')
  const database = await openConfigured(config, {
    name: 'referrer facilitator',
    max: CONNECTIONS,
    log,
    observe: tracing.observeQuery,
  })
  let context: Context
  let limits: Limits | undefined
  async function close() {
    await limits?.close()
    await database.close()
    await tracing.close()
  }
  try {
    await bringUpToDate(config, database.sql, migrations, { log, signal: overrides.signal })
    const clock = overrides.clock ?? Date.now
    limits = await openLimits(config.limits, {
      program: 'facilitator',
      databaseUrl: database.url,
      clock,
      storeClock: overrides.clock,
      log,
    })
    const fetch = tracing.traceFetch(overrides.fetch ?? globalThis.fetch)
    context = {
      config,
      sql: database.sql,
      databaseUrl: new Secret(database.url),
      chains: await openChains(config, fetch),
      clock,
      log,
      limits,
      tracing,
      fetch,
      lookup:
        overrides.lookup ??
        denying(config.allowPrivateHosts ? systemLookup : publicLookup(), config.fetchDeny),
      recovery: overrides.recovery ?? (await Recovery.load()),
    }
    log.info({ implementation: context.recovery.implementation }, 'signature recovery loaded')
  } catch (error) {
    await close()
    throw error
  }
  await warnOfRelayers(context)
  return open(context, overrides.onEvent, close)
}

async function open(
  context: Context,
  alsoTell: OnSettlement = () => {},
  closeRest: () => Promise<void>,
): Promise<Facilitator> {
  const { config, log } = context
  const metrics = createMetrics(context)
  const logEvent = createEventLog(log)
  const traceTransaction = createTransactionTraces(context.tracing)
  const settler = createSettler(context, (event) => {
    metrics.countEvent(event)
    if (event.type === 'sender') traceTransaction(event.chainId, event.event)
    logEvent(event)
    alsoTell(event)
  })
  const running = new AbortController()
  const settling = settler.run(running.signal).catch((err) => {
    log.fatal({ err }, 'the settler has stopped and no payment is settled; restart the facilitator')
  })
  const door = createDoor(context, settler, metrics)
  let metricsPort: MetricsPort | undefined

  async function close(): Promise<{ stuck: string[] }> {
    const isDone = await endsWithin(config.shutdownTimeoutMs, door.stopTaking())
    await closeApp(door.app, LAST_ANSWERS_MS)
    await metricsPort?.close(LAST_ANSWERS_MS)
    running.abort()
    const isOver = await endsWithin(LAST_ANSWERS_MS, settling)
    await closeRest()
    return { stuck: [...(isDone ? [] : ['payments']), ...(isOver ? [] : ['settler'])] }
  }

  const listen = async () => {
    if (config.metrics) metricsPort = await openMetricsPort(config.metrics, log, door.monitoringRoutes)
    return door.app.listen({ host: config.host, port: config.port })
  }
  const url = await listen().catch(async (error) => {
    await close()
    throw error
  })
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
}

/** Not an error: a role may be granted and gas may be sent while the facilitator runs. Until then it is not ready. */
async function warnOfRelayers(context: Context): Promise<void> {
  for (const chain of context.chains.values()) {
    const warn = (details: object, text: string) =>
      context.log.warn({ chain: chain.chainId, ...details }, text)
    try {
      for (const state of await lookAtRelayers(context, chain)) {
        const trouble = troubleOf(chain, state)
        if (trouble) warn({}, trouble)
      }
    } catch (err) {
      warn({ err }, 'the state of the relayers cannot be read')
    }
  }
}

const endsWithin = (ms: number, work: Promise<unknown>) =>
  withTimeout(
    ms,
    work.then(() => true),
    () => false,
  )
