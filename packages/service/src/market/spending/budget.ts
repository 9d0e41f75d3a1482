import type { Address } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { unavailable } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { spentBy } from './spent.ts'
import { type Caps, readLimit } from './store.ts'

/** What is left of a wallet's spending caps, in USDC base units. It is advice to agents: the service does not stop payments. */
export interface Budget {
  /** Null when there is neither a daily nor a total cap. */
  remaining: bigint | null
  /** Cap for one purchase; null means unlimited. */
  perTx: bigint | null
  /** Whether agents must respect `remaining`. */
  isEnforced: boolean
  /** The newest block whose purchases are counted. */
  asOfBlock: bigint
}

/** Throws when the budget cannot be read, so that callers do not take an unknown budget for an unlimited one. */
export async function budgetOf(
  context: Context,
  { config: { chainId } }: Chain,
  owner: Address,
): Promise<Budget> {
  const [caps, spent] = await Promise.all([
    readLimit(context, { owner, chainId }),
    spentBy(context.sql, { chainId, owner: bytesOf(owner) }, new Date(context.clock())),
  ])
  if (!spent) throw unavailable('get failed', new Error(`chain ${chainId} is not indexed yet`))
  const remaining = caps ? remainingOf(caps, spent) : null
  return {
    remaining,
    perTx: caps?.perTx ?? null,
    isEnforced: remaining !== null,
    asOfBlock: spent.asOfBlock,
  }
}

/** The smaller rest of the two caps, at least 0. */
function remainingOf({ daily, total }: Caps, spent: { today: bigint; total: bigint }): bigint | null {
  const left = [
    ...(daily === null ? [] : [daily - spent.today]),
    ...(total === null ? [] : [total - spent.total]),
  ]
  const [least] = left.toSorted((a, b) => (a < b ? -1 : 1))
  if (least === undefined) return null
  return least > 0n ? least : 0n
}
