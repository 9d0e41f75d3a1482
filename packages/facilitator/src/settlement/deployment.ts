/**
 * Deploys the wallet of a payer before its first payment is settled (ERC-6492), in a transaction of its own.
 *
 * Strangers name the call, and we pay for it. So the factory must be a known one, it is called from an address without rights, the fee of
 * the payment must pay for the gas, and a wallet is deployed once at most, whatever comes of it. A payer can still keep its payment from
 * being settled after that, and a merchant can take its commission away. So the gas counts against an hourly limit until the payment has
 * brought the fee, and buyers of one merchant get a part of that limit only: whoever uses it up shuts out the buyers of that shop.
 * - a crash before the outbox has it: nothing was sent; after it: the sender sends it, and the same payment goes on from there;
 * - it is withdrawn, because no relayer could send it: it counts for nothing, and the same payment tries again;
 * - somebody else deploys the wallet first: the deployment does nothing, or fails, and the payment is settled all the same.
 */
import {
  enqueueTransaction,
  RpcError,
  readTransaction,
  releaseKey,
  type TransactionRequest,
  type TransactionStatus,
} from '@referrer/chain'
import type { Queryable } from '@referrer/database'
import { currentOrigin } from '@referrer/process'
import { type Address, numberToHex } from 'viem'
import type { Chain, Context } from '../context.ts'
import { type Deployment, deploymentCall } from '../onchain/wallet-deployment.ts'
import { feeNow } from '../payment/fee.ts'
import { keyOf, type Payment } from '../payment/payment.ts'
import { invalidPayment, Refused } from '../payment/refused.ts'
import { hasCode } from '../payment/signature.ts'
import { codeHolder, DEPLOYMENTS, dayOf, deploymentsFor, hourOf, nextHour, readAccounts } from './accounts.ts'
import { deploymentGasLimit, lifeGas } from './gas.ts'
import { costOf } from './gas-price.ts'
import { toSettle } from './order.ts'
import { notSent, tookTooLong, unreachable } from './refusals.ts'
import type { RelayerLoad } from './relayer-load.ts'
import { simulate, undeployable, type Verdict } from './simulation.ts'
import { feeOf } from './store.ts'
import type { Tracker } from './tracker.ts'
import type { Tracked } from './transaction.ts'

export interface Deployments {
  /** Throws `Refused` unless the wallet has code afterwards. Undefined: this request did not deploy it. */
  deploy(payment: Payment, deployment: Deployment, signal: AbortSignal): Promise<Deployed | undefined>
}

/** A wallet that was deployed for a payment. */
interface Deployed {
  /** In base units. */
  cost: bigint
  /** Its payment is settled: if the fee has come that pays for all of it, the deployment counts no more. */
  settled(): Promise<void>
}

/** Of a deployment that this request has enqueued. */
interface Counted {
  merchantId: bigint
  gas: bigint
  at: number
}

interface Begun {
  intentId: bigint
  tracked: Promise<Tracked>
  /** Undefined: another request has enqueued it. */
  own: (Counted & { cost: bigint; worth: bigint }) | undefined
}

type Good = Extract<Verdict, { type: 'good' }>

/** Buyers of one merchant get this part of what the buyers of all others leave of the hourly limit. */
const OF_ONE_MERCHANT = 4n

export function createDeployments(
  context: Context,
  chain: Chain,
  tracker: Tracker,
  load: RelayerLoad,
  /** Called when a relayer may have become free: payments may wait for it. */
  pump: () => void,
): Deployments {
  const { sql, config, clock, log } = context
  const { chainId, relayerPool } = chain

  async function begin(
    payment: Payment,
    deployment: Deployment,
    signal: AbortSignal,
  ): Promise<Begun | undefined> {
    const known = await readTransaction(sql, { chainId, key: nameOf(payment.authorization.from) })
    if (known && !isUntried(known)) return another(known.id)
    const [verdict] = await simulate(context, chain, relayerPool.available()[0], [payment])
    if (verdict?.type === 'refused') throw verdict.refusal
    // What is used already is found out as for any other payment.
    if (verdict?.type === 'used') return undefined
    if (verdict?.type !== 'good') throw unreachable(undefined)
    if (verdict.deploymentGas === undefined) return undefined
    const worth = requireWorth(context, payment, verdict, await feeNow(chain, toSettle(payment)))

    return send(payment, deployment, load.leastBusy().relayer, verdict.deploymentGas, worth, signal)
  }

  async function send(
    payment: Payment,
    deployment: Deployment,
    from: Address,
    used: bigint,
    worth: bigint,
    signal: AbortSignal,
  ): Promise<Begun> {
    const wallet = payment.authorization.from
    const { target: to, data } = deploymentCall(wallet, deployment)
    const gas = deploymentGasLimit(used, data)
    await rehearse(payment, { from, to, data, gas })
    // Whoever gave up meanwhile has been told that nothing was sent.
    if (signal.aborted) throw tookTooLong()
    const counted: Counted = { merchantId: payment.attribution.merchantId, gas, at: clock() }
    const request = { chainId, from, to, data, gas, key: nameOf(wallet), label: 'wallet deployment' }
    // Not before: strangers could keep the relayers from settling with calls that are tried and never sent.
    if (load.of(from) >= config.maxBatchesInFlight) throw notSent('too many transactions are under way')
    const end = load.begin(from)
    const { intentId, isNew } = await enqueue(
      wallet,
      { ...request, origin: currentOrigin() },
      counted,
    ).finally(() => {
      end()
      pump()
    })
    if (!isNew) return another(intentId)
    log.info({ wallet, factory: deployment.factory, intent: String(intentId) }, 'a wallet is being deployed')
    const tracked = tracker.follow(intentId, { relayer: from, keys: [] })
    return { intentId, tracked, own: { ...counted, cost: costOf(config, gas), worth } }
  }

  const another = (intentId: bigint): Begun => ({
    intentId,
    tracked: tracker.follow(intentId),
    own: undefined,
  })

  /** Exactly as it will be sent: in the trial together with the payment the sender is somebody else, which a wallet could tell. */
  async function rehearse(
    payment: Payment,
    { from, to, data, gas }: { from: Address; to: Address; data: `0x${string}`; gas: bigint },
  ): Promise<void> {
    const call = { from, to, data, gas: numberToHex(gas) }
    await chain.rpc.request('eth_call', [call, 'latest']).catch((error) => {
      // Older nodes tell a revert without data by its message alone.
      const hasReverted =
        error instanceof RpcError && (error.kind === 'reverted' || /revert/i.test(error.message))
      if (hasReverted) throw undeployable(payment)
      throw error
    })
  }

  function enqueue(
    wallet: Address,
    request: TransactionRequest,
    counted: Counted,
  ): Promise<{ intentId: bigint; isNew: boolean }> {
    const { key } = request
    return sql.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`${chainId} ${key}`}, 0))`
      const known = await readTransaction(tx, { chainId, key })
      if (known && !isUntried(known)) return { intentId: known.id, isNew: false }
      if (known) await releaseKey(tx, known.id)
      const intentId = await enqueueTransaction(tx, request)
      await count(tx, counted, 1)
      await requireRoom(tx, wallet, counted)
      return { intentId, isNew: true }
    })
  }

  /** After it was counted, so that those who count at the same time wait for each other. */
  async function requireRoom(tx: Queryable, wallet: Address, { merchantId, at }: Counted): Promise<void> {
    const [all, own] = [codeHolder(DEPLOYMENTS), codeHolder(deploymentsFor(merchantId))]
    const accounts = await readAccounts(tx, chainId, [all, own], at)
    const burned = (holder: typeof all) => accounts.get(holder)?.burned ?? 0n
    const ofOthers = burned(all) - burned(own)
    if (burned(own) * OF_ONE_MERCHANT <= config.deploymentGasPerHour - ofOthers) return
    throw new Refused('settle_failed', overLimit(wallet, at), { retryable: true })
  }

  async function count(tx: Queryable, { merchantId, gas, at }: Counted, sign: 1 | -1): Promise<void> {
    const holders = [DEPLOYMENTS, deploymentsFor(merchantId)].map((hex) => Buffer.from(hex.slice(2), 'hex'))
    await tx`
      SELECT facilitator.count_changes(array_agg(ROW(${sign}::integer, ${chainId}::bigint, NULL, NULL, holder, 'payer', 0, 0, 0,
        ${gas}::bigint, 0, ${dayOf(at)}::integer, ${hourOf(at)}::integer)::facilitator.change))
      FROM unnest(${holders}::bytea[]) AS holder`
  }

  const countNoMore = (wallet: Address, counted: Counted) =>
    count(sql, counted, -1).catch((err) =>
      log.warn({ err, wallet }, 'the gas of a deployment stays counted for this hour'),
    )

  return {
    async deploy(payment, deployment, signal) {
      const wallet = payment.authorization.from
      if (await hasCode(chain, wallet)) return undefined
      const begun = await begin(payment, deployment, signal)
      if (!begun) return undefined
      const { intentId, own } = begun
      const tracked = await begun.tracked
      if ('message' in tracked) {
        const status = await readTransaction(sql, { id: intentId })
        const isRepeatable = status !== undefined && isUntried(status)
        if (own && isRepeatable) await countNoMore(wallet, own)
        if (await hasCode(chain, wallet)) return undefined
        throw isRepeatable ? notSent(tracked.message) : triedOnce(wallet, tracked.message)
      }
      if (tracked.mined.hasReverted && !(await hasCode(chain, wallet)))
        throw triedOnce(wallet, 'the transaction reverted')
      if (!own) return undefined
      return {
        cost: own.cost,
        async settled() {
          const fee = await feeOf(sql, keyOf(payment)).catch(() => 0n)
          if (fee >= own.worth) await countNoMore(wallet, own)
        },
      }
    },
  }
}

/** The key of its deployment in the outbox. */
const nameOf = (wallet: Address) => `wallet ${wallet.toLowerCase()}`

/** Nothing was ever signed for it, and nothing will be: no relayer could send it in time. */
const isUntried = ({ state, mined, hashes }: TransactionStatus) =>
  state === 'failed' && mined === null && hashes.length === 0

/** Throws `Refused` where the one try to deploy the payer has failed for good. */
export async function requireUntried({ sql }: Context, { chainId, authorization }: Payment): Promise<void> {
  const { from } = authorization
  const known = await readTransaction(sql, { chainId, key: nameOf(from) })
  if (known?.state === 'failed' && !isUntried(known)) throw triedOnce(from, known.reason ?? 'it reverted')
}

/** What the deployment of the payer and the payment itself cost, in base units. Throws `Refused` where the fee does not pay for both. */
export function requireWorth({ config }: Context, payment: Payment, verdict: Good, fee: bigint): bigint {
  const { deployment, authorization } = payment
  if (!deployment || verdict.deploymentGas === undefined) return 0n
  const { from, value } = authorization
  const { data } = deploymentCall(from, deployment)
  const settling = lifeGas(toSettle(payment), verdict.gas, 1)
  const cost = costOf(config, deploymentGasLimit(verdict.deploymentGas, data) + settling)
  if (fee >= cost) return cost
  const first = `the wallet ${from} is not deployed, and to deploy it and to settle the payment costs ${cost} base units of gas, which the platform's fee of this payment, ${fee}, does not pay for: deploy the wallet first, then send the same payment again`
  // Without a fee nothing tells the amount: the product may not be known for the moment.
  if (fee === 0n) throw new Refused('settle_failed', first, { retryable: true })
  throw invalidPayment(`${first}, or pay ${(value * cost + fee - 1n) / fee} base units or more`)
}

const overLimit = (wallet: Address, now: number) =>
  `the wallet ${wallet} is not deployed, and too many wallets are being deployed for buyers of this merchant, or were without being paid for: deploy the wallet first, or send the same payment again, at the latest from ${nextHour(now)}`

const triedOnce = (wallet: Address, why: string) =>
  new Refused(
    'settle_failed',
    `the wallet ${wallet} is not deployed, and the one try to deploy it here failed (${why}); it is not tried again: deploy the wallet first, then send the same payment again`,
  )
