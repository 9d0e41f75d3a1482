// Refreshes the prices of products, and what else their endpoints tell, by asking those: each at most once an hour, even across crashes, and one
// request at a time for each host.
import { HostNotAllowed, parseWebUrl, Unreachable } from '@referrer/net'
import { withTimeout } from '@referrer/process'
import type { Context } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import { askEndpoint } from '../../market/merchants/endpoint.ts'
import { offerIn } from './price.ts'
import { type AskedRow, dueHosts, noteFailure, noteOffer, type SeenOffer, takeDue } from './store.ts'
import { toldIn } from './told.ts'

const HOSTS_AT_ONCE = 32
/** After this many requests to one host, other hosts get their turn. */
const ASKED_IN_A_TURN = 50
/**
 * How often the worker looks for more hosts while requests are under way. The query has to skip every due product of
 * a busy host, so it is not run more often.
 */
const POLL_MS = 500
/** Requests are delayed by up to this much beyond the hour, so that products asked at the same moment spread out. */
const SPREAD_MS = 6 * 60_000

/** With failures, a run begins nothing after this time. */
const LATE_AFTER_MS = 60_000

export const refreshOffers = (context: Context): Schedule => ({
  name: 'refresh-offers',
  everySeconds: 5,
  run: ({ signal }) => refreshDue(context, signal),
})

type OffersContext = Pick<Context, 'sql' | 'clock' | 'chains' | 'config' | 'lookup' | 'log'>

/** Asks for all prices that are due. A host that is slow, or whose offers cannot be stored, does not hold up the others. */
export async function refreshDue(context: OffersContext, signal: AbortSignal): Promise<void> {
  const begun = performance.now()
  const busy = new Map<string, Promise<void>>()
  /** Hosts that are left alone until the next run, and why. */
  const failed = new Map<string, unknown>()
  try {
    for (;;) {
      signal.throwIfAborted()
      // One that failed is asked again by the next run, so this one comes to its end soon.
      const isLate = failed.size > 0 && performance.now() - begun > LATE_AFTER_MS
      // One that failed keeps its place: if all of them do, it is our fault, and the run ends.
      const limit = isLate ? 0 : Math.max(0, HOSTS_AT_ONCE - busy.size - failed.size)
      const not = [...busy.keys(), ...failed.keys()]
      for (const host of await dueHosts(context.sql, { ...moment(context), not, limit })) {
        const turn = askHost(context, host, signal)
          .catch((err: unknown) => {
            failed.set(host, err)
            context.log.error({ err, host }, 'the offers of a host could not be stored')
          })
          .finally(() => busy.delete(host))
        busy.set(host, turn)
      }
      if (busy.size === 0) break
      // Waits until all hosts are done, or until it is time to look for more.
      await withTimeout(POLL_MS, Promise.all(busy.values()))
    }
  } finally {
    await Promise.all(busy.values())
  }
  for (const error of failed.values()) throw error
}

const moment = ({ chains, clock }: OffersContext) => ({
  chainIds: [...chains.keys()],
  now: new Date(clock()),
})

async function askHost(context: OffersContext, host: string, signal: AbortSignal): Promise<void> {
  for (let asked = 0; asked < ASKED_IN_A_TURN && !signal.aborted; asked += 1) {
    const row = await takeDue(context.sql, host, moment(context))
    if (!row) return
    const offer = await offerOf(context, row, signal)
    // A request that we aborted is no failure of the endpoint.
    if (signal.aborted) return
    if (!offer) await noteFailure(context.sql, row)
    else await noteOffer(context.sql, row, { ...offer, now: moment(context).now, waitMs: spreadOf(row) })
  }
}

/** Undefined: the endpoint makes no offer. */
async function offerOf(
  context: OffersContext,
  { chain_id, endpoint_url }: AskedRow,
  signal: AbortSignal,
): Promise<SeenOffer | undefined> {
  const chain = context.chains.get(Number(chain_id))
  const url = parseWebUrl(endpoint_url)
  if (!chain || !url) return undefined
  try {
    const offer = offerIn(await askEndpoint(context, url, signal), chain)
    return offer && { price: offer.price, told: toldIn(offer) }
  } catch (error) {
    if (!(error instanceof HostNotAllowed || error instanceof Unreachable)) throw error
    context.log.debug({ host: url.host, reason: error.message }, 'the endpoint of a product gave no price')
    return undefined
  }
}

/** The delay is always the same for a product. */
const spreadOf = ({ product_id }: AskedRow) =>
  Math.floor((product_id.readUInt16BE(product_id.length - 2) / 2 ** 16) * SPREAD_MS)
