import type { Batch, Follower } from '../following/following.ts'
import { NOTHING_SENT, nextNotice } from './due.ts'
import { changedPayments, type Found, type Planned, readLocked, writePlanned } from './store.ts'

/** Computes when the next message about a purchase is due, each time that the purchase or its buyer's review changes. */
export const noticesFollower: Follower = {
  async follow({ tx, chain, changes, now }: Batch) {
    const { chainId } = chain.config
    const payments = await changedPayments(tx, chainId, changes)
    const found = await readLocked(tx, chainId, payments)
    await writePlanned(
      tx,
      chainId,
      found.flatMap((one) => planOf(one, now) ?? []),
    )
  },
}

/** Undefined: no notice is needed. A purchase that the chain has dropped keeps its notice, so that nothing is sent twice when it is back. */
function planOf({ payment, notice, progress, purchase }: Found, now: Date): Planned | undefined {
  const next = nextNotice(purchase, progress ?? NOTHING_SENT, now)
  const shown = purchase ?? notice
  if (!shown || (!notice && !next)) return undefined
  const { escrow_id, window_end } = shown
  return { ...payment, escrow_id, window_end, due_at: next?.at ?? null }
}
