import type { Address } from 'viem'
import type { Chain, Context } from '../context.ts'
import { bytesOf } from '../db/bytes.ts'
import { type Caps, readLimit } from '../spending/store.ts'
import { type Spent, spentBy } from './spent.ts'

/** Advice for whoever is about to spend: nothing here stops a payment. In base units. */
export interface Budget {
  /** Null: there is no cap for a day or in all, or it could not be read. */
  remaining: bigint | null
  /** Null: unlimited, or it could not be read. */
  perTx: bigint | null
  /** Whether `remaining` is to be kept to. */
  isEnforced: boolean
}

const UNKNOWN: Budget = { remaining: null, perTx: null, isEnforced: false }

/** What the owner of an agent allows. A budget that cannot be read keeps nobody from what is to be done. */
export async function budgetOf(
  context: Context,
  { config: { chainId } }: Chain,
  { agentId, owner }: { agentId: bigint; owner: Address },
): Promise<Budget> {
  try {
    const caps = await readLimit(context, { owner, chainId })
    if (!caps || (caps.daily === null && caps.total === null)) {
      return { ...UNKNOWN, perTx: caps?.perTx ?? null }
    }
    const spender = { chainId, owner: bytesOf(owner), agentId }
    const spent = await spentBy(context.sql, spender, midnightOf(context.clock()))
    return { remaining: remainingOf(caps, spent), perTx: caps.perTx, isEnforced: true }
  } catch (error) {
    context.log.warn({ err: error }, 'a budget could not be read')
    return UNKNOWN
  }
}

function midnightOf(now: number): Date {
  const day = new Date(now)
  day.setUTCHours(0, 0, 0, 0)
  return day
}

/** The least that a cap leaves, and never less than nothing. */
function remainingOf({ daily, total }: Caps, spent: Spent): bigint {
  const left = [daily !== null && daily - spent.today, total !== null && total - spent.total]
  const [least = 0n] = left.filter((amount) => amount !== false).toSorted((a, b) => Number(a - b))
  return least > 0n ? least : 0n
}
