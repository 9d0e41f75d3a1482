// Orders become one intent of the sender and a row each, in one database transaction: either all of it is written or nothing is.
import { randomUUID } from 'node:crypto'
import { enqueueTransaction } from '@referrer/chain'
import type { Address } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyText } from '../payment/payment.ts'
import { gasLimit, type Tried } from './gas.ts'
import { callOf } from './order.ts'
import { claim } from './store.ts'

export interface Posted {
  intentId: bigint
  /** What the intent is for. The others are somebody else's, or done. */
  taken: Tried[]
}

/** The database was lost while it was told to keep them. If it has kept them they are sent. */
export class PerhapsWritten extends Error {
  override readonly name = 'PerhapsWritten'
}

/** Undefined: none of them was to be had. Throws `PerhapsWritten`, or something else when it is certain that nothing is. */
export async function post(
  { sql }: Pick<Context, 'sql'>,
  chain: Chain,
  relayer: Address,
  tried: Tried[],
): Promise<Posted | undefined> {
  // In one order everywhere, so that two processes with the same payments wait for each other instead of both.
  let taken = tried.toSorted((a, b) => (keyText(a.order.key) < keyText(b.order.key) ? -1 : 1))
  while (taken.length > 0) {
    const wanted = taken
    let isWritten = false
    try {
      const intentId = await sql.begin(async (tx) => {
        const id = await enqueueTransaction(tx, requestOf(chain, relayer, wanted))
        const claimed = await claim(
          tx,
          id,
          wanted.map(({ order }) => order),
        )
        if (claimed.size < wanted.length) throw new OnlySome(claimed)
        isWritten = true
        return id
      })
      return { intentId, taken: wanted }
    } catch (error) {
      if (isWritten) throw new PerhapsWritten('the database was lost', { cause: error })
      if (!(error instanceof OnlySome)) throw error
      taken = wanted.filter(({ order }) => error.claimed.has(keyText(order.key)))
    }
  }
  return undefined
}

function requestOf({ chainId, contracts }: Chain, relayer: Address, tried: Tried[]) {
  const orders = tried.map(({ order }) => order)
  const data = callOf(orders)
  return {
    chainId,
    from: relayer,
    to: contracts.SplitRouter,
    data,
    gas: gasLimit(tried, data),
    key: `settlement ${randomUUID()}`,
    label: orders.length === 1 ? (orders[0]?.kind ?? '') : `${orders.length} purchases`,
  }
}

/** Undoes what was written, so that it can be written for these alone. */
class OnlySome extends Error {
  readonly claimed: Set<string>

  constructor(claimed: Set<string>) {
    super('some of the payments are taken')
    this.claimed = claimed
  }
}
