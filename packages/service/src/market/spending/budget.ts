import type { Address } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { unavailable } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { spentBy } from './spent.ts'
import { type Caps, readLimit } from './store.ts'

/** What is left of the caps of a wallet. Advice for whoever is about to spend: nothing here stops a payment. In base units. */
export interface Budget {
  /** Null: there is no cap for a day or in all. */
  remaining: bigint | null
  /** Null: unlimited. */
  perTx: bigint | null
  /** Whether `remaining` is to be kept to. */
  isEnforced: boolean
  /** The newest block whose purchases are counted. */
  asOfBlock: bigint
}

/** Throws when it cannot be read: what is unknown is not unlimited. */
export async function budgetOf(
  context: Context,
  { config: { chainId } }: Chain,
  owner: Address,
): Promise<Budget> {
  const [caps, spent] = await Promise.all([
    readLimit(context, { owner, chainId }),
    spentBy(context.sql, { chainId, owner: bytesOf(owner) }, new Date(context.clock())),
  ])
  if (!spent) throw unavailable('get failed', new Error(`nothing of chain ${chainId} is in the records yet`))
  const remaining = caps ? remainingOf(caps, spent) : null
  return {
    remaining,
    perTx: caps?.perTx ?? null,
    isEnforced: remaining !== null,
    asOfBlock: spent.asOfBlock,
  }
}

/** The least that a cap leaves, and never less than nothing. */
function remainingOf({ daily, total }: Caps, spent: { today: bigint; total: bigint }): bigint | null {
  const left = [
    ...(daily === null ? [] : [daily - spent.today]),
    ...(total === null ? [] : [total - spent.total]),
  ]
  const [least] = left.toSorted((a, b) => (a < b ? -1 : 1))
  if (least === undefined) return null
  return least > 0n ? least : 0n
}
