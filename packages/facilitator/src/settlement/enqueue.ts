// checked → enqueued: a batch becomes one intent of the sender and a row for each payment, in one database transaction.
import { randomUUID } from 'node:crypto'
import { enqueueTransaction } from '@referrer/chain'
import type { Transaction } from '@referrer/database'
import type { Address } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyText } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { readAccounts } from './accounts.ts'
import type { Attempt } from './attempt.ts'
import { gasLimit } from './gas.ts'
import { callOf } from './order.ts'
import { type Backed, back, holdersOf, type Limits, take } from './risk.ts'
import { claim } from './store.ts'

export interface Enqueued {
  /** Undefined: no payment was written. */
  intentId: bigint | undefined
  /** The payments that were written. */
  written: Set<string>
  /** Payments over a limit by now. Those that are neither written nor here have a row of another request. */
  refused: Map<string, Refused>
}

/** The database was lost during the commit. What it has committed is sent. */
export class PerhapsWritten extends Error {
  override readonly name = 'PerhapsWritten'
}

/** An order, and the attempt that it is of. */
type Asked = Backed & { waiting: { attempt: Pick<Attempt, 'origin'> } }

/** Throws `PerhapsWritten`; any other error means that nothing is written. */
export async function enqueue(
  { sql, clock, config }: Pick<Context, 'sql' | 'clock' | 'config'>,
  chain: Chain,
  relayer: Address,
  backed: Asked[],
): Promise<Enqueued> {
  const refused = new Map<string, Refused>()
  // Every process locks the rows in this order, so that two of them with the same payments do not deadlock.
  let wanted = backed.toSorted((a, b) => (keyText(a.order.key) < keyText(b.order.key) ? -1 : 1))
  while (wanted.length > 0) {
    let isWritten = false
    try {
      const intentId = await sql.begin(async (tx) => {
        const id = await enqueueTransaction(tx, requestOf(chain, relayer, wanted))
        const claimed = await claim(tx, id, wanted.map(withRequest), clock())
        if (claimed.size < wanted.length) throw new OnlySome(claimed)
        const isBacked = await recheck(tx, config, chain.chainId, wanted, clock(), refused)
        if (isBacked.size < wanted.length) throw new OnlySome(isBacked)
        isWritten = true
        return id
      })
      return { intentId, written: namesOf(wanted), refused }
    } catch (error) {
      if (isWritten) throw new PerhapsWritten('the database was lost', { cause: error })
      // Retries of failed payments can still deadlock on the accounts of the same payers: Postgres ends one of them, which begins again.
      if ((error as { code?: unknown }).code === DEADLOCK) continue
      if (!(error instanceof OnlySome)) throw error
      wanted = wanted.filter(({ order }) => error.rest.has(keyText(order.key)))
    }
  }
  return { intentId: undefined, written: new Set(), refused }
}

const namesOf = (batch: Backed[]) => new Set(batch.map(({ order }) => keyText(order.key)))

/** Those within the limits still, now that the accounts are locked: others may have been written since the accounts were read. */
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

const withRequest = (asked: Asked) => ({ ...asked, requestId: asked.waiting.attempt.origin.requestIds[0] })

function requestOf({ chainId, contracts }: Chain, relayer: Address, tried: Asked[]) {
  const orders = tried.map(({ order }) => order)
  const data = callOf(orders)
  return {
    chainId,
    from: relayer,
    to: contracts.SplitRouter,
    data,
    gas: gasLimit(tried, data),
    key: `settlement ${randomUUID()}`,
    origin: {
      requestIds: tried.flatMap(({ waiting }) => waiting.attempt.origin.requestIds),
      traceparents: tried.flatMap(({ waiting }) => waiting.attempt.origin.traceparents),
    },
    label: orders.length === 1 ? (orders[0]?.kind ?? '') : `${orders.length} purchases`,
  }
}

/** Rolls the database transaction back, so that it can be repeated for the rest. */
class OnlySome extends Error {
  readonly rest: Set<string>

  constructor(rest: Set<string>) {
    super('some of the payments are taken or refused')
    this.rest = rest
  }
}
