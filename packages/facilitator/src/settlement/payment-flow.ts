// Moves the payments of one chain from state to state until there is an answer. A request that finds the row of another request or
// process goes on from the state that Postgres holds, as a restart does.
import { createSender, RpcError } from '@referrer/chain'
import { currentOrigin } from '@referrer/process'
import type { Hash } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyOf, type Payment } from '../payment/payment.ts'
import { approveArrived } from './approve-arrived.ts'
import { type Attempt, type In, refuse } from './attempt.ts'
import { createDeployments } from './deployment.ts'
import type { OnSettlement } from './events.ts'
import { join } from './join.ts'
import { keepPins } from './keep-pins.ts'
import { locate } from './locate.ts'
import { outcomeOf } from './observe.ts'
import { keyOfDeposit, toFinish, toSplitDeposit } from './order.ts'
import { notSent, tookTooLong, tryAgain, usableUntil } from './refusals.ts'
import { createRelayerLoad } from './relayer-load.ts'
import { errors } from './revert.ts'
import { simulate } from './simulation.ts'
import { type FIRST_STATES, move, type Next, type State } from './states.ts'
import type { Final } from './store.ts'
import { createSubmissionQueue } from './submission-queue.ts'
import { depositTakeBack, paymentTakeBack } from './take-back.ts'
import { createTracker } from './tracker.ts'
import type { Deposit, Unless } from './types.ts'

export interface PaymentFlow {
  /** The transaction that split the payment; throws `Refused`. */
  settle(payment: Payment, signal: AbortSignal): Promise<Hash>
  splitDeposit(deposit: Deposit, unless: Unless, signal: AbortSignal): Promise<Hash>
  /** Sends, and goes on with every payment that Postgres holds in a state which is not final. */
  run(signal: AbortSignal): Promise<void>
}

/** Moves an attempt on. Undefined: it ends here. */
type Step<S extends State = State> = (
  attempt: Attempt,
  at: In<S>,
) => Promise<In<Through<S>> | undefined> | In<Through<S>>
type Steps = { [S in State]?: Step<S> }
/** The queue takes a payment through `checked`, together with the others of its batch. */
type Through<S extends State> = Extract<Next<S> | (S extends 'queued' ? Next<'checked'> : never), State>

/** A settlement is of use within a minute: its fee is raised early. */
const STUCK_AFTER_MS = 10_000

export function createPaymentFlow(context: Context, chain: Chain, onEvent: OnSettlement): PaymentFlow {
  const records = {
    ...context,
    onFinal: (final: readonly Final[]) => {
      for (const each of final) onEvent({ type: 'final', chainId: chain.chainId, ...each })
    },
  }
  const tracker = createTracker(records, chain, () => queue.pump())
  const load = createRelayerLoad(chain, tracker)
  const queue = createSubmissionQueue(context, chain, tracker, load, onEvent)
  const deployments = createDeployments(context, chain, tracker, load, () => queue.pump())

  const steps: Steps = {
    queued: (attempt, { payment }) => queue.submit(attempt, payment),
    used: (attempt, at) => locate(context, chain, attempt, at),
    arrived: (attempt, at) => approveArrived(chain, attempt, at),
    taken: (attempt, at) => join(context, attempt, at),
    checked: (attempt, at) =>
      attempt.signal.aborted ? refuse(tookTooLong()) : queue.submitAlone(attempt, at),
    enqueued: (_, at) => awaitBlock(at),
    sent: ({ key }, { mined }) => outcomeOf(mined, key),
    failed: (attempt, at) => findUsed(attempt, at),
  }

  async function awaitBlock({ intentId }: In<'enqueued'>): Promise<In<Next<'enqueued'>>> {
    const tracked = await tracker.follow(intentId)
    return 'mined' in tracked ? { state: 'sent', ...tracked } : { state: 'open', ...tracked }
  }

  /** Undefined: it did not fail because somebody else had submitted the transfer, or no node that has its block tells. */
  async function findUsed({ payment, hasArrived }: Attempt, { block }: In<'failed'>) {
    if (!payment || hasArrived) return undefined
    const [relayer] = chain.relayerPool.available()
    const [verdict] = await simulate(context, chain, relayer, [payment], block).catch((error) => {
      if (error instanceof RpcError) return []
      throw error
    })
    return verdict?.type === 'used'
      ? ({ state: 'used', payment, refusal: verdict.refusal } as const)
      : undefined
  }

  async function run(attempt: Attempt, first: In<(typeof FIRST_STATES)[number]>): Promise<Hash> {
    for (let at: In<State> = first; ; ) {
      const step = steps[at.state] as Step | undefined
      if (!step) return answer(attempt, at)
      const present: In<State> = at
      const next: In<State> | undefined = await context.tracing.run(
        `settlement ${present.state}`,
        { 'referrer.chain': chain.chainId },
        async () => step(attempt, present),
      )
      if (!next) return answer(attempt, at)
      move(attempt, next.state)
      at = next
    }
  }

  return {
    async settle(payment, signal) {
      if (payment.deployment) await deployments.deploy(payment, payment.deployment, signal)
      const attempt: Attempt = {
        state: 'queued',
        key: keyOf(payment),
        digest: payment.digest,
        origin: currentOrigin(),
        signal,
        payment,
        toSplit: () => toFinish(payment),
        takeBack: (notBefore) => paymentTakeBack(chain, payment, notBefore),
        hasArrived: false,
      }
      return run(attempt, { state: 'queued', payment })
    },
    splitDeposit(deposit, unless, signal) {
      const attempt: Attempt = {
        state: 'arrived',
        key: keyOfDeposit(deposit),
        digest: deposit.digest,
        origin: currentOrigin(),
        signal,
        payment: undefined,
        toSplit: () => toSplitDeposit(deposit),
        takeBack: (notBefore) => depositTakeBack(chain, deposit, notBefore),
        hasArrived: true,
      }
      return run(attempt, { state: 'arrived', ...unless })
    },
    async run(signal) {
      const sender = createSender({
        chainId: chain.chainId,
        rpc: chain.rpc,
        databaseUrl: context.databaseUrl.reveal(),
        signers: [...chain.relayers, ...chain.retiring],
        confirmations: chain.confirmations,
        maxFeePerGas: chain.maxFeePerGas,
        errors,
        stuckAfterMs: STUCK_AFTER_MS,
        watchIntervalMs: context.config.watchIntervalMs,
        onEvent(event) {
          onEvent({ type: 'sender', chainId: chain.chainId, event })
          if ('intent' in event) tracker.wake(event.intent)
        },
      })
      await Promise.all([
        sender.run(signal),
        tracker.run(signal),
        chain.relayerPool.run(signal),
        keepPins(context, chain, signal),
      ])
    },
  }
}

/** The transaction that split the money; throws `Refused`. */
function answer({ payment }: Attempt, at: In<State>): Hash {
  switch (at.state) {
    case 'settled':
    case 'final':
      return at.transaction
    case 'failed':
      throw payment ? usableUntil(at.message, payment.authorization.validBefore) : tryAgain(at.message)
    case 'open':
      throw notSent(at.message)
    case 'refused':
      throw at.refusal
    default:
      throw new Error(`a payment that is ${at.state} has no answer yet`)
  }
}
