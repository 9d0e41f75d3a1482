// Refreshes the prices of products, and what else their endpoints tell, by asking those: each at most once an hour, even across crashes, and one
// request at a time for each host.
import { createTurns, HostNotAllowed, parseWebUrl, siteOf, Unreachable } from '@referrer/net'
import type { Context } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import { workOff } from '../../machinery/workers/work-off.ts'
import { askEndpoint } from '../../market/merchants/endpoint.ts'
import { offerIn } from './price.ts'
import { type AskedRow, dueHosts, noteFailure, noteOffer, type SeenOffer, takeDue } from './store.ts'
import { toldIn } from './told.ts'

const HOSTS_AT_ONCE = 32
/** Of these, hosts whose names belong together. */
const OF_SITE = 8
/** Hosts that are asked or wait for it. */
const MOST_IN_HAND = 500
const OF_SITE_IN_HAND = 2 * OF_SITE
/** How many due products a look takes. The next one goes on behind them: one site's must not fill every look. */
const LOOKED_AT = 500
/** After this many requests to one host, or this long, other hosts get their turn. */
const ASKED_IN_A_TURN = 50
const TURN_MS = 5_000
/** Requests are delayed by up to this much beyond the hour, so that products asked at the same moment spread out. */
const SPREAD_MS = 6 * 60_000

export const refreshOffers = (context: Context): Schedule => ({
  name: 'refresh-offers',
  everySeconds: 5,
  run: ({ signal }) => refreshDue(context, signal),
})

type OffersContext = Pick<Context, 'sql' | 'clock' | 'chains' | 'config' | 'lookup' | 'log'>

/** Asks for all prices that are due. A host that is slow, or whose offers cannot be stored, does not hold up the others. */
export async function refreshDue(context: OffersContext, signal: AbortSignal): Promise<void> {
  const turn = createTurns(HOSTS_AT_ONCE, { site: OF_SITE })
  const hand = createTurns(MOST_IN_HAND, { site: OF_SITE_IN_HAND })
  const inHand = new Set<string>()
  let failed = 0
  let offset = 0
  const ask = async (host: string) => {
    try {
      // If so many fail, it is our fault, and the run ends.
      if (failed >= HOSTS_AT_ONCE) return
      await askHost(context, host, signal)
      inHand.delete(host)
    } catch (err) {
      // It stays in hand, so that this run leaves it alone.
      failed += 1
      context.log.error({ err, host }, 'the offers of a host could not be stored')
      throw err
    }
  }
  await workOff(async (start) => {
    if (failed >= HOSTS_AT_ONCE || hand.free() === 0) return
    const not = [...inHand]
    const hosts = await dueHosts(context.sql, { ...moment(context), not, offset, limit: LOOKED_AT })
    offset = hosts.length < LOOKED_AT ? 0 : offset + LOOKED_AT
    for (const host of new Set(hosts)) {
      const whom = { site: siteOf(URL.parse(`http://${host}`) ?? { hostname: '' }) }
      if (!hand.hasRoom(whom)) continue
      inHand.add(host)
      start(hand(() => turn(() => ask(host), whom), whom))
    }
  }, signal)
}

const moment = ({ chains, clock }: OffersContext) => ({
  chainIds: [...chains.keys()],
  now: new Date(clock()),
})

async function askHost(context: OffersContext, host: string, signal: AbortSignal): Promise<void> {
  const begun = performance.now()
  const isOver = () => signal.aborted || performance.now() - begun > TURN_MS
  for (let asked = 0; asked < ASKED_IN_A_TURN && !isOver(); asked += 1) {
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
