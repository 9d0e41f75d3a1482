import type { Address } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import { closeDecisions } from './decisions-store.ts'
import { oracleOf } from './oracle.ts'
import { type ReleaseCursor, type RetryCursor, releaseUnannounced, retryReleases } from './release.ts'
import { readHead, type SettleCursor, settleDue } from './settle.ts'

/** Settles escrows that are due, and retries failed releases. */
export const settleEscrows = (context: Context): Schedule => ({
  name: 'settle-escrows',
  everySeconds: 15,
  run: ({ signal }) =>
    onEachChain(context, async (chain, from) => {
      const head = await readHead(chain)
      await inPages(signal, (after?: SettleCursor) => settleDue(context, chain, { from, head }, after))
      await inPages(signal, (after?: RetryCursor) => retryReleases(context, chain, from, after))
      while (!(await closeDecisions(context.sql, chain.config.chainId))) signal.throwIfAborted()
    }),
})

/**
 * Cashback is released when a change earns it. This finds cashback that was earned while no oracle was running, or by
 * something that is not in the queue of changes.
 */
export const catchUpReleases = (context: Context): Schedule => ({
  name: 'catch-up-releases',
  everySeconds: 3_600,
  run: ({ signal }) =>
    onEachChain(context, (chain, from) =>
      inPages(signal, (after?: ReleaseCursor) => releaseUnannounced(context, chain, from, after)),
    ),
})

/** A chain whose nodes do not answer does not hold up the others. */
async function onEachChain(
  context: Context,
  work: (chain: Chain, from: Address) => Promise<void>,
): Promise<void> {
  const from = oracleOf(context)
  if (!from) return
  const outcomes = await Promise.allSettled([...context.chains.values()].map((chain) => work(chain, from)))
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, errors.join('; '))
}

async function inPages<T>(
  signal: AbortSignal,
  page: (after: T | undefined) => Promise<T | undefined>,
): Promise<void> {
  let after: T | undefined
  do {
    signal.throwIfAborted()
    after = await page(after)
  } while (after !== undefined)
}
