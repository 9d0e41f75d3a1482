// Reads the registration files of agents and merchants: each rarely, few at a time, and one at a time of each host.
import { createTurns, guardedFetch, HostNotAllowed, parseWebUrl, siteOf, Unreachable } from '@referrer/net'
import { ProtocolError, Registration } from '@referrer/protocol'
import type { Context } from '../../kit/context.ts'
import { time } from '../../kit/json-values.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import { workOff } from '../../machinery/workers/work-off.ts'
import type { StoredFile } from './shapes.ts'
import { type DueRow, noteReading, postpone, queueMissing, takeDue } from './store.ts'

const EVERY_SECONDS = 15
/** How many hosts are asked at once: strangers choose the URIs, and their hosts did not ask for us. */
const AT_ONCE = 20
/** Of these, hosts whose names belong together. */
const OF_SITE = 5
/** How many files are read at once that need no host, such as those in the URI itself. */
const WITHOUT_HOST_AT_ONCE = 4
/** How many of those that are due are looked at together: many agents at one host must not hold up the others. */
const LOOKED_AT = 200
/** When somebody is looked at again whose host had no room. */
const SOON = 5_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const WEEK = 7 * 24 * HOUR
const MAX_BYTES = 64 * 1024
/** How many ids of agents are looked at in an hour. */
const SWEPT_AT_ONCE = 50_000
/** What is kept of a file. */
const KEPT = { name: 100, description: 1_000, url: 512, services: 10 }

type ReadingContext = Pick<Context, 'sql' | 'clock' | 'chains' | 'config' | 'lookup' | 'log'>

export const readRegistrations = (context: Context): Schedule => ({
  name: 'read-registrations',
  everySeconds: EVERY_SECONDS,
  run: ({ signal }) => readDue(context, signal),
})

/**
 * Queues what is registered and not queued, such as by a process of an earlier version while a new one was rolled out. Each run looks at
 * some of the ids, and the next one at those after them, wherever it runs.
 */
export const sweepRegistrations = ({ sql, clock, chains, log }: Context): Schedule => ({
  name: 'sweep-registrations',
  everySeconds: HOUR / 1_000,
  run: async () => {
    const turn = Math.floor(clock() / HOUR)
    for (const chainId of chains.keys()) {
      const missing = await queueMissing(sql, chainId, { turn, size: SWEPT_AT_ONCE })
      if (missing > 0)
        log.info({ chainId, missing }, 'registration files were not queued to be read; now they are')
    }
  },
})

/** Reads what is due. Exported for tests. */
export async function readDue(context: ReadingContext, signal: AbortSignal): Promise<void> {
  const { sql, clock, log } = context
  const onHosts = createTurns(AT_ONCE, { host: 1, site: OF_SITE })
  const besides = createTurns(WITHOUT_HOST_AT_ONCE)
  await workOff(async (start) => {
    if (onHosts.free() === 0) return
    const now = new Date(clock())
    const until = new Date(now.getTime() + HOUR)
    const later: { row: DueRow; nextReadAt: Date }[] = []
    const ofHost = new Map<string, number>()
    for (const row of await takeDue(sql, { now, until, limit: LOOKED_AT })) {
      const read = async () => {
        try {
          await readAndNote(context, row, { now, until, signal })
        } catch (err) {
          // One that cannot be stored does not stop the others; it is due again in an hour.
          const identity = { chainId: Number(row.chain_id), agentId: String(row.agent_id) }
          log.error({ ...identity, err }, 'a registration file could not be read or stored')
        }
      }
      const source = sourceOf(context, row.uri)
      if (!source) {
        start(besides(read))
        continue
      }
      // Our own gateway serves everybody's files.
      const host = source.isOurs ? undefined : source.url.host
      const whom = host === undefined ? {} : { host, site: siteOf(source.url) }
      const before = ofHost.get(host ?? '') ?? 0
      if (host !== undefined) ofHost.set(host, before + 1)
      // Those at one host are read a minute after each other.
      if (before === 0 && onHosts.hasRoom(whom)) start(onHosts(read, whom))
      else later.push({ row, nextReadAt: new Date(now.getTime() + (before * MINUTE || SOON)) })
    }
    await postpone(sql, later, until)
  }, signal)
}

async function readAndNote(
  context: ReadingContext,
  row: DueRow,
  { now, until, signal }: { now: Date; until: Date; signal: AbortSignal },
): Promise<void> {
  const { file, nextMs, isFailure } = await readRow(context, row, signal)
  // A request that we aborted is no failure of the host; it is due again in an hour.
  if (signal.aborted) return
  await noteReading(context.sql, row, {
    file: file && { ...file, read_at: time(now) },
    failures: isFailure ? row.failures + 1 : 0,
    nextReadAt: new Date(now.getTime() + nextMs),
    until,
  })
}

interface Outcome {
  file?: StoredFile
  isFailure?: boolean
  /** Until it is read again, unless the URI changes. A reorganisation may put an earlier URI back without an event. */
  nextMs: number
}

async function readRow(context: ReadingContext, row: DueRow, signal: AbortSignal): Promise<Outcome> {
  const chain = context.chains.get(Number(row.chain_id))
  if (!chain || row.uri === '') return { nextMs: WEEK }
  const identity = {
    chainId: chain.config.chainId,
    identityRegistry: chain.config.contracts.IdentityRegistry,
    agentId: row.agent_id,
  }
  const seldom = Math.min(HOUR * 2 ** row.failures, WEEK)
  try {
    const inUri = Registration.fromDataUri(row.uri)
    if (inUri !== undefined) return { file: storedOf(Registration.parse(inUri), identity), nextMs: WEEK }
    const source = sourceOf(context, row.uri)
    // Such as `ipfs://` without a gateway, which may be configured one day.
    if (!source) return { nextMs: WEEK }
    const text = await fetchText(context, source, signal)
    if (text === undefined) return { isFailure: true, nextMs: seldom }
    return { file: storedOf(Registration.parse(text), identity), nextMs: WEEK }
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return { isFailure: true, nextMs: seldom }
  }
}

interface Source {
  url: URL
  /** Of our own gateway, which may be in our own network. */
  isOurs: boolean
}

/** Where a URI is fetched; undefined when it is not. Plain http is for sandboxes. */
function sourceOf({ config }: ReadingContext, uri: string): Source | undefined {
  const [, path] = /^ipfs:\/\/(?:ipfs\/)?([A-Za-z0-9][\w.\-/]{0,500})$/.exec(uri) ?? []
  if (path !== undefined) {
    if (!config.ipfsGatewayUrl) return undefined
    const files = `${config.ipfsGatewayUrl}/ipfs/`
    const url = new URL(`${files}${path}`)
    // A path with `..` would lead to whatever else our gateway's host answers.
    return url.href.startsWith(new URL(files).href) ? { url, isOurs: true } : undefined
  }
  const url = parseWebUrl(uri)
  return url && (url.protocol === 'https:' || config.allowPrivateHosts) ? { url, isOurs: false } : undefined
}

async function fetchText(
  { config, lookup, log }: ReadingContext,
  { url, isOurs }: Source,
  signal: AbortSignal,
): Promise<string | undefined> {
  const reach = { allowPrivateHosts: config.allowPrivateHosts, lookup, ...(isOurs && { isOurs }) }
  try {
    const { status, body } = await guardedFetch(reach, url, { maxBytes: MAX_BYTES, signal })
    return status === 200 ? body.toString('utf8') : undefined
  } catch (error) {
    if (!(error instanceof HostNotAllowed || error instanceof Unreachable)) throw error
    log.debug({ host: url.host, reason: error.message }, 'a registration file could not be read')
    return undefined
  }
}

function storedOf(
  file: Registration.Registration,
  identity: Registration.Registration['registrations'][number],
): StoredFile {
  const { image, active, x402Support } = file
  return {
    name: cut(file.name, KEPT.name),
    description: cut(file.description, KEPT.description),
    ...(image !== '' && image.length <= KEPT.url && { image }),
    services: file.services
      .filter(({ endpoint }) => endpoint.length <= KEPT.url)
      .slice(0, KEPT.services)
      .map(({ name, endpoint }) => ({ name, endpoint })),
    ...(active !== undefined && { active }),
    ...(x402Support !== undefined && { x402_support: x402Support }),
    names_agent: Registration.names(file, identity),
  }
}

const cut = (text: string, longest: number) =>
  text.length > longest ? text.slice(0, longest).toWellFormed() : text
