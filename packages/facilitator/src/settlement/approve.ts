// queued → checked: a trial on the chain's newest state, and the limits of what a payment may cost.
import { setTimeout as sleep } from 'node:timers/promises'
import { RpcError } from '@referrer/chain'
import type { Address } from 'viem'
import type { Chain, Context } from '../context.ts'
import { codeHash } from '../onchain/wallet-code.ts'
import { expectedFee } from '../payment/fee.ts'
import { keyText, type Payment } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { readAccounts } from './accounts.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { lifeGas, thatFit } from './gas.ts'
import { costOf } from './gas-price.ts'
import { isPurchase, type Order, toSettle } from './order.ts'
import { type Backed, back, holdersOf } from './risk.ts'
import { simulate } from './simulation.ts'
import { move, type Next } from './states.ts'
import { takenOf } from './store.ts'

/** An attempt that waits for its transaction to be enqueued, or for a reason why it is not. */
export interface Waiting {
  attempt: Attempt
  /** It is queued again when it finds the row of an attempt that failed. */
  mayRetry: boolean
  end(next: In<Next<'queued' | 'checked'>>): void
  fail(error: unknown): void
}

export interface Queued extends Waiting {
  payment: Payment
}

/** An order whose trial went well. */
export interface Candidate<W extends Waiting = Waiting> {
  order: Order
  gas: bigint
  hasCode: boolean
  waiting: W
}

export type Approved = Candidate & Backed

/** Payments of one turn that are sent alone: each takes one of the few places that nodes keep for a relayer. */
const MOST_ALONE = 4
const AGAIN_AFTER_MS = 300

/**
 * Those that one transaction can settle, those that get one of their own, and those that wait for the next turn; the others get their
 * answer.
 */
export async function approve<Q extends Queued>(
  context: Context,
  chain: Chain,
  relayer: Address,
  queued: Q[],
) {
  const payments = queued.map(({ payment }) => payment)
  const verdicts = await despiteTrouble(() => simulate(context, chain, relayer, payments))
  const tried: Candidate<Q>[] = []
  const untried: Q[] = []
  queued.forEach((waiting, at) => {
    const verdict = verdicts[at] ?? { type: 'untried' }
    const { payment } = waiting
    // Whoever gave up meanwhile has been told that nothing was sent.
    if (waiting.attempt.signal.aborted) return
    if (verdict.type === 'good') tried.push({ ...verdict, order: toSettle(payment), waiting })
    else if (verdict.type === 'untried') untried.push(waiting)
    else if (verdict.type === 'refused') waiting.end(refuse(verdict.refusal))
    else waiting.end({ state: 'used', payment, refusal: verdict.refusal, burned: 0n })
  })
  const backed = (await requireBacking(context, chain, tried)).filter(
    ({ waiting }) => !waiting.attempt.signal.aborted,
  )
  const together = backed.filter(({ isShared }) => isShared)
  const single = backed.filter(({ isShared }) => !isShared)
  const fit = thatFit(together)
  const [shared, alone] = [together.slice(0, fit), single.slice(0, MOST_ALONE)]
  for (const { waiting } of [...shared, ...alone]) move(waiting.attempt, 'checked')
  const later = [...together.slice(fit), ...single.slice(MOST_ALONE)].map(({ waiting }) => waiting)
  return { shared, alone, later: [...later, ...untried] }
}

/** Those that somebody answers for; the others get their answer. */
export async function requireBacking<W extends Waiting>(
  context: Context,
  chain: Chain,
  tried: Candidate<W>[],
): Promise<(Candidate<W> & Backed)[]> {
  if (tried.length === 0) return []
  const priced = await Promise.all(
    tried.map(async (each) => ({
      ...each,
      code: each.hasCode ? await codeHash(chain, each.order.key.payer) : undefined,
      cost:
        costOf(context.config, lifeGas(each.order, each.gas, tried.length)) +
        each.waiting.attempt.deploymentCost,
      fee: isPurchase(each.order) ? await expectedFee(context, chain, each.order) : 0n,
    })),
  )
  const now = context.clock()
  const accounts = await readAccounts(context.sql, chain.chainId, holdersOf(priced), now)
  const backings = back(context.config, accounts, priced, now)
  const refused = priced.filter((_, at) => backings[at] instanceof Refused)
  // What holds up a payment may be its own copy, which another process has sent: whoever repeats it shares the outcome.
  const taken = await takenOf(
    context.sql,
    refused.map(({ order }) => order.key),
  )
  return priced.flatMap((each, at) => {
    const backing = backings[at]
    if (backing && !(backing instanceof Refused)) return [{ ...each, ...backing }]
    const { end, mayRetry } = each.waiting
    if (taken.has(keyText(each.order.key))) end({ state: 'taken', mayRetry })
    else if (backing) end(refuse(backing))
    return []
  })
}

/** A node that does not answer once may answer now. */
async function despiteTrouble<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof RpcError && error.isRetryable)) throw error
    await sleep(AGAIN_AFTER_MS)
    return ask()
  }
}
