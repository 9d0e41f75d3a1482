import type { Address } from 'viem'
import type { Context } from '../../kit/context.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { isRemindable, later, nextNotice, snoozed } from './due.ts'
import { durationMs } from './duration.ts'
import { purchasesOfOwners, readAhead, readLocked, writeProgress } from './store.ts'

/**
 * Puts off the next reminder of one purchase by the duration (`30m`, `12h`, `3d`, `2w`), and returns when it comes. Undefined for every
 * refusal: no such purchase by an agent of these wallets, reviewed or settled already, not a duration, or later than the end of the window.
 */
export async function snooze(
  { sql, chains, clock }: Pick<Context, 'sql' | 'chains' | 'clock'>,
  owners: readonly Address[],
  { escrowId, chainId }: { escrowId: bigint; chainId?: number },
  duration: string,
): Promise<Date | undefined> {
  const ms = durationMs(duration)
  if (ms === undefined || BigInt.asIntN(64, escrowId) !== escrowId) return undefined
  const chainIds = chainId === undefined ? [...chains.keys()] : [chainId]
  const ours = new Date(clock())
  return sql.begin(async (tx) => {
    const ahead = await readAhead(tx, chainIds, ours)
    const payments = await purchasesOfOwners(tx, chainIds, owners.map(bytesOf), escrowId)
    for (const payment of payments) {
      const now = later(ours, ahead.get(payment.chain_id) ?? 0)
      const until = later(now, ms)
      const [found] = await readLocked(tx, payment.chain_id, [payment])
      const { progress, purchase } = found ?? {}
      if (!progress || !purchase || !isRemindable(purchase, now) || until >= purchase.window_end) continue
      const after = snoozed(progress, until, now)
      const dueAt = nextNotice(purchase, after, now)?.at ?? null
      await writeProgress(tx, payment, { progress: after, dueAt, keepsLease: true })
      return until
    }
    return undefined
  })
}
