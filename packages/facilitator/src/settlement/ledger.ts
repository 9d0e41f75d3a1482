// Orders become one intent of the sender and a row each, in one database transaction: either all of it is written or nothing is.
import { randomUUID } from 'node:crypto'
import { enqueueTransaction } from '@referrer/chain'
import type { Transaction } from '@referrer/database'
import type { Address } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyText } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { readAccounts } from './accounts.ts'
import { type Backed, back, holdersOf, type Limits, take } from './credit.ts'
import { gasLimit } from './gas.ts'
import { callOf } from './order.ts'
import { claim } from './store.ts'

export interface Posted {
  intentId: bigint
  /** What the intent is for. */
  taken: Backed[]
}

export interface Postings {
  /** Undefined: none of them was to be had. */
  posted: Posted | undefined
  /** What nobody answers for any more. Of the others that were not taken somebody else has charge, or they are done. */
  refused: Map<string, Refused>
}

/** The database was lost while it was told to keep them. If it has kept them they are sent. */
export class PerhapsWritten extends Error {
  override readonly name = 'PerhapsWritten'
}

/** Throws `PerhapsWritten`, or something else when it is certain that nothing is. */
export async function post(
  { sql, clock, config }: Pick<Context, 'sql' | 'clock' | 'config'>,
  chain: Chain,
  relayer: Address,
  backed: Backed[],
): Promise<Postings> {
  const refused = new Map<string, Refused>()
  // In one order everywhere, so that two processes with the same payments wait for each other instead of both.
  let taken = backed.toSorted((a, b) => (keyText(a.order.key) < keyText(b.order.key) ? -1 : 1))
  while (taken.length > 0) {
    const wanted = taken
    let isWritten = false
    try {
      const intentId = await sql.begin(async (tx) => {
        const id = await enqueueTransaction(tx, requestOf(chain, relayer, wanted))
        const claimed = await claim(tx, id, wanted, clock())
        if (claimed.size < wanted.length) throw new OnlySome(claimed)
        const isBacked = await recheck(tx, config, chain.chainId, wanted, clock(), refused)
        if (isBacked.size < wanted.length) throw new OnlySome(isBacked)
        isWritten = true
        return id
      })
      return { posted: { intentId, taken: wanted }, refused }
    } catch (error) {
      if (isWritten) throw new PerhapsWritten('the database was lost', { cause: error })
      // Two processes that retry failed payments of the same people may wait for each other: one of them begins again.
      if ((error as { code?: unknown }).code === DEADLOCK) continue
      if (!(error instanceof OnlySome)) throw error
      taken = wanted.filter(({ order }) => error.rest.has(keyText(order.key)))
    }
  }
  return { posted: undefined, refused }
}

/** Those that are backed still, now that nobody else can change the accounts: others may have been posted since they were read. */
async function recheck(
  tx: Transaction,
  limits: Limits,
  chainId: number,
  wanted: Backed[],
  now: number,
  refused: Map<string, Refused>,
): Promise<Set<string>> {
  const accounts = await readAccounts(tx, chainId, holdersOf(wanted), now)
  for (const each of wanted) take(accounts, each, -1n)
  const backings = back(limits, accounts, wanted, now)
  const isBacked = new Set<string>()
  wanted.forEach(({ order, backer, isShared }, at) => {
    const backing = backings[at]
    const name = keyText(order.key)
    if (backing instanceof Refused) refused.set(name, backing)
    else if (backing?.backer === backer && backing.isShared === isShared) isBacked.add(name)
    else refused.set(name, new Refused('settle_failed', OVERTAKEN, { retryable: true }))
  })
  return isBacked
}

const DEADLOCK = '40P01'
const OVERTAKEN = 'other payments of this payer came first; nothing was sent, send the same payment again'

function requestOf({ chainId, contracts }: Chain, relayer: Address, tried: Backed[]) {
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
  readonly rest: Set<string>

  constructor(rest: Set<string>) {
    super('some of the payments are taken or refused')
    this.rest = rest
  }
}
