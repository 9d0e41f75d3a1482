// checked → enqueued: a batch becomes one intent of the sender and a row for each payment, in one database transaction.
import { randomUUID } from 'node:crypto'
import { enqueueTransaction } from '@referrer/chain'
import type { Address } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyText } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { back } from './allowance.ts'
import type { Approved } from './approve.ts'
import { gasLimit } from './gas.ts'
import { callOf } from './order.ts'
import { claim } from './store.ts'

export interface Enqueued {
  /** Undefined: no payment was written. */
  intentId: bigint | undefined
  /** The payments that were written. */
  written: Set<string>
  /** Payments that nobody answers for. Those that are neither written nor here have a row of another request. */
  refused: Map<string, Refused>
}

/** The database was lost during the commit. What it has committed is sent. */
export class PerhapsWritten extends Error {
  override readonly name = 'PerhapsWritten'
}

/** Throws `PerhapsWritten`; any other error means that nothing is written. */
export async function enqueue(
  { sql, clock, config }: Pick<Context, 'sql' | 'clock' | 'config'>,
  chain: Chain,
  relayer: Address,
  approved: Approved[],
): Promise<Enqueued> {
  // Every process locks the rows in this order, so that two of them with the same payments do not deadlock.
  let wanted = approved.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  while (wanted.length > 0) {
    let isWritten = false
    try {
      const enqueued = await sql.begin(async (tx): Promise<Enqueued> => {
        const backings = await back(tx, config, chain.chainId, wanted, clock())
        const refused = new Map<string, Refused>()
        const backed = wanted.flatMap((each, at) => {
          const backing = backings[at]
          if (backing instanceof Refused) refused.set(nameOf(each), backing)
          const [requestId] = each.waiting.attempt.origin.requestIds
          return backing && !(backing instanceof Refused) ? [{ ...each, ...backing, requestId }] : []
        })
        if (backed.length === 0) return { intentId: undefined, written: new Set(), refused }
        const intentId = await enqueueTransaction(tx, requestOf(chain, relayer, backed))
        const written = await claim(tx, intentId, backed, clock())
        // The others are asked for again, and those that were refused are refused again.
        const isTaken = (each: Approved) => !written.has(nameOf(each)) && !refused.has(nameOf(each))
        if (written.size < backed.length) throw new OnlySome(wanted.filter((each) => !isTaken(each)))
        isWritten = true
        return { intentId, written, refused }
      })
      return enqueued
    } catch (error) {
      if (isWritten) throw new PerhapsWritten('the database was lost', { cause: error })
      if (!(error instanceof OnlySome)) throw error
      wanted = error.others
    }
  }
  return { intentId: undefined, written: new Set(), refused: new Map() }
}

const nameOf = ({ order }: Approved) => keyText(order.key)

function requestOf({ chainId, contracts }: Chain, relayer: Address, approved: Approved[]) {
  const orders = approved.map(({ order }) => order)
  const data = callOf(orders)
  return {
    chainId,
    from: relayer,
    to: contracts.SplitRouter,
    data,
    gas: gasLimit(approved, data),
    key: `settlement ${randomUUID()}`,
    origin: {
      requestIds: approved.flatMap(({ waiting }) => waiting.attempt.origin.requestIds),
      traceparents: approved.flatMap(({ waiting }) => waiting.attempt.origin.traceparents),
    },
    label: orders.length === 1 ? (orders[0]?.kind ?? '') : `${orders.length} purchases`,
  }
}

/** Rolls the database transaction back, so that it can be repeated for the rest. */
class OnlySome extends Error {
  readonly others: Approved[]

  constructor(others: Approved[]) {
    super('some of the payments have a row of another request')
    this.others = others
  }
}
