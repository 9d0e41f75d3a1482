import { chainMigrations } from '@referrer/chain'
import { type MigrationSet, migrate } from '@referrer/database'
import { publicLookup, systemLookup } from '@referrer/net'
import { closeApp, createLog, openConfigured, Secret, withTimeout } from '@referrer/process'
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
}

export interface Facilitator {
  url: string
  context: Context
  /** Takes nothing new, lets what has begun end, and closes everything. Names what did not end in time. */
  stop(): Promise<{ stuck: string[] }>
}

const facilitatorMigrations: MigrationSet = {
  name: 'facilitator',
  directory: new URL('../migrations/', import.meta.url),
}

/** Everything that the facilitator's database consists of, in order. */
export const migrations = [chainMigrations, facilitatorMigrations]

const CONNECTIONS = 20
/** Time-out for closing connections and background work, after the payments have ended. */
const LAST_ANSWERS_MS = 5_000

/** Opens the database, brings it up to date, goes on with what an earlier process left, and opens the HTTP door. */
export async function startFacilitator(config: Config, overrides: Overrides = {}): Promise<Facilitator> {
  const log = overrides.log ?? createLog(config.logLevel)
  const database = await openConfigured(config, { name: 'referrer facilitator', max: CONNECTIONS, log })
  let context: Context
  try {
    await migrate(database.sql, migrations)
    const fetch = overrides.fetch ?? globalThis.fetch
    context = {
      config,
      sql: database.sql,
      databaseUrl: new Secret(database.url),
      chains: await openChains(config, fetch),
      clock: overrides.clock ?? Date.now,
      log,
      fetch,
      lookup: overrides.lookup ?? (config.allowPrivateHosts ? systemLookup : publicLookup()),
      recovery: overrides.recovery ?? (await Recovery.load()),
    }
    log.info({ implementation: context.recovery.implementation }, 'signature recovery loaded')
  } catch (error) {
    await database.close()
    throw error
  }
  await warnOfRelayers(context)
  return open(context, overrides.onEvent, () => database.close())
}

async function open(
  context: Context,
  alsoTell: OnSettlement = () => {},
  closeDatabase: () => Promise<void>,
): Promise<Facilitator> {
  const { config, log } = context
  const metrics = createMetrics(context)
  const logEvent = createEventLog(log)
  const settler = createSettler(context, (event) => {
    metrics.countEvent(event)
    logEvent(event)
    alsoTell(event)
  })
  const running = new AbortController()
  const settling = settler.run(running.signal).catch((err) => {
    log.fatal({ err }, 'the settler has stopped and no payment is settled; restart the facilitator')
  })
  const door = createDoor(context, settler, metrics)

  async function close(): Promise<{ stuck: string[] }> {
    const isDone = await endsWithin(config.shutdownTimeoutMs, door.stopTaking())
    await closeApp(door.app, LAST_ANSWERS_MS)
    running.abort()
    const isOver = await endsWithin(LAST_ANSWERS_MS, settling)
    await closeDatabase()
    return { stuck: [...(isDone ? [] : ['payments']), ...(isOver ? [] : ['settler'])] }
  }

  const url = await door.app.listen({ host: config.host, port: config.port }).catch(async (error) => {
    await close()
    throw error
  })
  let stopping: ReturnType<typeof close> | undefined
  return {
    url,
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
