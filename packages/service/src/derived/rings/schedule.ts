import type { Sql } from '@referrer/database'
import type { Context } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import { type Asked, readDealings } from './dealings.ts'
import { findRings } from './find.ts'
import { lastSearched, storeSearch } from './found-store.ts'

/** How often it looks whether the standings of a new day are there. */
const LOOK_SECONDS = 600

/** Looks for rings once a day, after the standings of the day were computed. */
export const searchRings = (context: RingsContext): Schedule => ({
  name: 'find-rings',
  everySeconds: LOOK_SECONDS,
  async run({ signal }) {
    for (const chainId of context.chains.keys()) await searchChain(context, chainId, signal)
  },
})

type RingsContext = Pick<Context, 'sql' | 'clock' | 'chains' | 'log'>

/** False: there was nothing to do. */
export async function searchChain(
  { sql, clock, log }: Omit<RingsContext, 'chains'>,
  chainId: number,
  signal: AbortSignal,
): Promise<boolean> {
  const day = await dayOfStandings(sql, chainId)
  const last = await lastSearched(sql, chainId)
  if (day === undefined || (last !== undefined && day <= last)) return false
  const begun = performance.now()
  const asked: Asked = { chainId, day, now: new Date(clock()), signal }
  const { dealings, ownerOf, shopOf, isComplete } = await readDealings(sql, asked)
  const owners = dealings.owners.cast.length
  const votes = dealings.votes.count.length
  const rings = await findRings(dealings, signal)
  const found = rings.map((ring) => ({
    ...ring,
    members: ring.members.map(({ owner, ...votes }) => ({ owner: ownerOf(owner), ...votes })),
    shops: ring.shops.map(({ shop, ...figures }) => ({ merchantId: shopOf(shop), ...figures })),
  }))
  const tookMs = Math.round(performance.now() - begun)
  const search = { chainId, day, owners, votes, isComplete, at: asked.now, tookMs }
  const stored = await storeSearch(sql, search, found)
  const about = { chainId, owners, votes, rings: stored, tookMs }
  if (isComplete) log.info(about, 'rings were looked for')
  else
    log.warn(
      about,
      'rings were looked for, but there was more than can be looked at: small ones may be missing',
    )
  return true
}

/** The day of the newest standings; undefined: there are none, because no shop is verified. */
async function dayOfStandings(sql: Sql, chainId: number): Promise<number | undefined> {
  const [row] = await sql<{ day: number; verified: number }[]>`
    SELECT day, verified FROM market.standing_passes WHERE chain_id = ${chainId} ORDER BY pass DESC LIMIT 1`
  return row && row.verified > 0 ? row.day : undefined
}
