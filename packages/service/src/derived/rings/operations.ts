import { coalesceInTurns } from '../../kit/coalesce.ts'
import { once } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import type { Page } from '../../machinery/db/page.ts'
import { type AdminOfChain, logAction } from '../../market/admin/operations.ts'
import {
  dismissRing,
  findRing,
  type MemberRow,
  membersOf,
  type PairRow,
  pairsOf,
  type RingRow,
  type RingShopRow,
  type RingVoteRow,
  shopsOf,
  votesOf,
} from './store.ts'

/** What is shown of one ring. */
export const MOST = { members: 500, agents: 20, shops: 100, pairs: 1_000 } as const
const READ_AT_ONCE = 2

interface RingKey {
  chainId: number
  ringId: bigint
}

export interface RingCase {
  ring: RingRow
  members: MemberRow[]
  shops: RingShopRow[]
  pairs: PairRow[]
}

/** In turns, because a ring may have cast thousands of votes. */
export const readRing = once((context) =>
  coalesceInTurns<RingKey, RingCase>(
    READ_AT_ONCE,
    ({ chainId, ringId }) => `${chainId}/${ringId}`,
    async ({ chainId, ringId }) => {
      const { sql } = context
      const [ring, members, shops, pairs] = await Promise.all([
        findRing(sql, chainId, ringId),
        membersOf(sql, chainId, ringId, MOST),
        shopsOf(sql, chainId, ringId, MOST.shops),
        pairsOf(sql, chainId, ringId, MOST.pairs),
      ])
      if (!ring) throw unknownRing(ringId)
      return { ring, members, shops, pairs }
    },
  ),
)

export const readVotes = once((context) =>
  coalesceInTurns<RingKey & Page, RingVoteRow[]>(
    READ_AT_ONCE,
    ({ chainId, ringId, limit, offset }) => `${chainId}/${ringId}/${limit}/${offset}`,
    async ({ chainId, ringId, ...page }) => {
      if (!(await findRing(context.sql, chainId, ringId))) throw unknownRing(ringId)
      return votesOf(context.sql, chainId, ringId, page)
    },
  ),
)

/** Dismisses a suspicion; returns when. */
export async function dismiss(
  { context, chain, caller }: AdminOfChain,
  ringId: bigint,
  note: string,
): Promise<Date> {
  const { chainId } = chain.config
  const at = new Date(context.clock())
  const outcome = await dismissRing(context.sql, chainId, ringId, { note, by: bytesOf(caller), at })
  if (outcome === 'unknown') throw unknownRing(ringId)
  if (outcome === 'dismissed already') throw new MarketError('conflict', 'ring is already dismissed')
  logAction({ context, caller }, 'ring dismissed', { chainId, ringId })
  return at
}

const unknownRing = (ringId: bigint) => new MarketError('not found', `there is no ring ${ringId}`)
