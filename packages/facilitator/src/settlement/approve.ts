// queued → checked: a trial on the chain's newest state.
import { setTimeout as sleep } from 'node:timers/promises'
import { RpcError } from '@referrer/chain'
import type { Address } from 'viem'
import type { Chain, Context } from '../context.ts'
import { expectedFee } from '../payment/fee.ts'
import type { Payment } from '../payment/payment.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { costOf, lifeGas, mostGas, type Tried, thatFit } from './gas.ts'
import { type Order, toSettle } from './order.ts'
import { GAS_PER_PURCHASE, simulate } from './simulation.ts'
import { move, type Next } from './states.ts'

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

/** An order whose trial went well, and what it costs. */
export type Approved<W extends Waiting = Waiting> = Tried & { waiting: W }

/** Payments of one turn that are sent alone: each takes one of the few places that nodes keep for a relayer. */
const MOST_ALONE = 4
const AGAIN_AFTER_MS = 300

/**
 * Those that one transaction can settle, those that get one of their own, and those that wait for the next turn; the others get their
 * answer. A payer with code pays alone: what it does in the block is its code's decision.
 */
export async function approve<Q extends Queued>(
  context: Context,
  chain: Chain,
  relayer: Address,
  queued: Q[],
) {
  const payments = queued.map(({ payment }) => payment)
  const verdicts = await despiteTrouble(() => simulate(context, chain, relayer, payments))
  const tried: { order: Order; gas: bigint; hasCode: boolean; waiting: Q }[] = []
  const untried: Q[] = []
  queued.forEach((waiting, at) => {
    const verdict = verdicts[at] ?? { type: 'untried' }
    const { payment } = waiting
    // Whoever gave up meanwhile has been told that nothing was sent.
    if (waiting.attempt.signal.aborted) return
    if (verdict.type === 'good') tried.push({ ...verdict, order: toSettle(payment), waiting })
    else if (verdict.type === 'untried') untried.push(waiting)
    else if (verdict.type === 'refused') waiting.end(refuse(verdict.refusal))
    else waiting.end({ state: 'used', payment, refusal: verdict.refusal })
  })
  const canShare = ({ hasCode, gas }: (typeof tried)[number]) => !hasCode && gas < GAS_PER_PURCHASE
  const together = tried.filter(canShare)
  const single = tried.filter((each) => !canShare(each))
  const fit = thatFit(together)
  const [shared, alone] = await Promise.all([
    price(context, chain, together.slice(0, fit), true),
    price(context, chain, single.slice(0, MOST_ALONE), false),
  ])
  const wanted = (approved: Approved<Q>[]) =>
    approved.filter(({ waiting }) => !waiting.attempt.signal.aborted)
  const [toShare, toSend] = [wanted(shared), wanted(alone)]
  for (const { waiting } of [...toShare, ...toSend]) move(waiting.attempt, 'checked')
  const later = [...together.slice(fit), ...single.slice(MOST_ALONE)].map(({ waiting }) => waiting)
  return { shared: toShare, alone: toSend, later: [...later, ...untried] }
}

/** What each costs. */
export async function price<W extends Waiting>(
  context: Context,
  chain: Chain,
  tried: { order: Order; gas: bigint; waiting: W }[],
  isShared: boolean,
): Promise<Approved<W>[]> {
  return Promise.all(
    tried.map(async ({ order, gas, waiting }) => {
      const fee = await expectedFee(context, chain, order)
      const life = lifeGas(order, gas)
      const most = mostGas({ order, gas }, isShared)
      const cost = costOf(context.config, life)
      const gift = cost > fee ? cost - fee : 0n
      return { order, gas, waiting, cost, fee, gift, risk: costOf(context.config, most) }
    }),
  )
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
