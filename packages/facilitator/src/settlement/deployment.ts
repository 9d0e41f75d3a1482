/**
 * Deploys the wallet of a payer before its first payment is settled (ERC-6492), in a transaction of its own.
 *
 * Strangers name the call, and we pay for it. So the factory must be a known one, it is called from an address without rights, the fee of
 * the payment must pay for the gas, and a wallet is deployed once at most, whatever comes of it. A payer can still keep its payment from
 * being settled after that, so the gas counts as burned until it is settled: the hourly budget of strangers bounds it.
 * - a crash before the outbox has it: nothing was sent; after it: the sender sends it, and the same payment goes on from there;
 * - somebody else deploys the wallet first: the deployment does nothing, or fails, and the payment is settled all the same.
 */
import { enqueueTransaction, readTransaction } from '@referrer/chain'
import type { Queryable } from '@referrer/database'
import { currentOrigin } from '@referrer/process'
import type { Address } from 'viem'
import type { Chain, Context } from '../context.ts'
import { type Deployment, deploymentCall } from '../onchain/wallet-deployment.ts'
import { expectedFee } from '../payment/fee.ts'
import type { Payment } from '../payment/payment.ts'
import { invalidPayment, Refused } from '../payment/refused.ts'
import { hasCode } from '../payment/signature.ts'
import { ALL, dayOf, hourOf, nextHour, readAccounts } from './accounts.ts'
import { deploymentGasLimit } from './gas.ts'
import { costOf } from './gas-price.ts'
import { tookTooLong, unreachable } from './refusals.ts'
import { simulate } from './simulation.ts'
import type { Tracker } from './tracker.ts'

export interface Deployments {
  /** Throws `Refused` unless the wallet has code afterwards. Undefined: others deployed it. */
  deploy(payment: Payment, deployment: Deployment, signal: AbortSignal): Promise<Deployed | undefined>
}

/** A wallet that was deployed for a payment. */
interface Deployed {
  /** The payment is settled, and its fee has paid for the deployment. */
  hasPaid(): Promise<void>
}

interface Enqueued {
  intentId: bigint
  /** Undefined: another request has enqueued it. */
  counted: { gas: bigint; at: number } | undefined
}

export function createDeployments(context: Context, chain: Chain, tracker: Tracker): Deployments {
  const { sql, config, clock, log } = context
  const { chainId, relayerPool } = chain
  const keyOf = (wallet: Address) => `wallet ${wallet.toLowerCase()}`

  async function begin(
    payment: Payment,
    deployment: Deployment,
    signal: AbortSignal,
  ): Promise<Enqueued | undefined> {
    const wallet = payment.authorization.from
    const known = await readTransaction(sql, { chainId, key: keyOf(wallet) })
    if (known) return { intentId: known.id, counted: undefined }
    const [verdict] = await simulate(context, chain, relayerPool.available()[0], [payment])
    if (verdict?.type === 'refused') throw verdict.refusal
    // What is used already is found out as for any other payment.
    if (verdict?.type === 'used') return undefined
    if (verdict?.type !== 'good') throw unreachable(undefined)
    await requireWorth(context, chain, payment, verdict.deploymentGas)
    if (verdict.deploymentGas === undefined) return undefined
    // Whoever gave up meanwhile has been told that nothing was sent.
    if (signal.aborted) throw tookTooLong()
    return enqueue(wallet, deployment, verdict.deploymentGas)
  }

  function enqueue(wallet: Address, deployment: Deployment, used: bigint): Promise<Enqueued> {
    const { target: to, data } = deploymentCall(wallet, deployment)
    const gas = deploymentGasLimit(used, data)
    const key = keyOf(wallet)
    const at = clock()
    return sql.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`${chainId} ${key}`}, 0))`
      const known = await readTransaction(tx, { chainId, key })
      if (known) return { intentId: known.id, counted: undefined }
      const from = leastBusy()
      const label = 'wallet deployment'
      const request = { chainId, from, to, data, gas, key, label, origin: currentOrigin() }
      const intentId = await enqueueTransaction(tx, request)
      await countBurned(tx, gas, at)
      const all = (await readAccounts(tx, chainId, [ALL], at)).get(ALL)
      if (all && all.burned + all.atRisk > config.burnGasPerHour)
        throw new Refused('settle_failed', overBudget(wallet, at), { retryable: true })
      log.info(
        { wallet, factory: deployment.factory, intent: String(intentId) },
        'a wallet is being deployed',
      )
      return { intentId, counted: { gas, at } }
    })
  }

  const leastBusy = () =>
    relayerPool
      .available()
      .reduce((least, each) => (tracker.waiting(each) < tracker.waiting(least) ? each : least))

  /** As burned by everybody without trust, within the hour. */
  const countBurned = (tx: Queryable, gas: bigint, at: number) =>
    tx`SELECT facilitator.count_changes(ARRAY[ROW(1, ${chainId}::bigint, NULL, NULL, NULL, 'all', 0, 0, 0, 0, ${gas}::bigint,
      ${dayOf(at)}::integer, ${hourOf(at)}::integer)::facilitator.change])`

  return {
    async deploy(payment, deployment, signal) {
      const wallet = payment.authorization.from
      if (await hasCode(chain, wallet)) return undefined
      const begun = await begin(payment, deployment, signal)
      if (!begun) return undefined
      const { intentId, counted } = begun
      const tracked = await tracker.follow(intentId)
      const isDone = 'mined' in tracked && !tracked.mined.hasReverted
      if (!isDone && !(await hasCode(chain, wallet))) {
        const why = 'mined' in tracked ? 'the transaction reverted' : tracked.message
        throw new Refused('settle_failed', triedOnce(wallet, why), { retryable: true })
      }
      return (
        counted && {
          async hasPaid() {
            await countBurned(sql, -counted.gas, counted.at).catch((err) =>
              log.warn(
                { err, wallet },
                'the gas of a deployment that was paid for stays counted for this hour',
              ),
            )
          },
        }
      )
    },
  }
}

/** Throws `Refused` where the fee does not pay for the deployment of the payer. */
export async function requireWorth(
  context: Context,
  chain: Chain,
  payment: Payment,
  used: bigint | undefined,
): Promise<void> {
  if (used === undefined || !payment.deployment) return
  const { from, value } = payment.authorization
  const { data } = deploymentCall(from, payment.deployment)
  const cost = costOf(context.config, deploymentGasLimit(used, data))
  const fee = await expectedFee(context, chain, { attribution: payment.attribution, value })
  if (fee >= cost) return
  const first = `the wallet ${from} is not deployed, and deploying it costs ${cost} base units of gas, which the platform's fee of this payment, ${fee}, does not pay for: deploy the wallet first, then send the same payment again`
  // Without a fee nothing tells the amount: the product may not be known for the moment.
  if (fee === 0n) throw new Refused('settle_failed', first, { retryable: true })
  throw invalidPayment(`${first}, or pay ${(value * cost + fee - 1n) / fee} base units or more`)
}

const overBudget = (wallet: Address, now: number) =>
  `the wallet ${wallet} is not deployed, and too many wallets have been deployed here without a payment: deploy the wallet first, or send the same payment again from ${nextHour(now)}`

const triedOnce = (wallet: Address, why: string) =>
  `the wallet ${wallet} is not deployed, and the one try to deploy it here failed (${why}): deploy the wallet first, then send the same payment again`
