/**
 * Deploys the wallet of a payer before its first payment is settled (ERC-6492), in a transaction of its own.
 *
 * Strangers name the call, and we pay for it. So the factory must be a known one, it is called from an address without rights, the fee of
 * the payment must pay for the gas, and a wallet is deployed once at most, whatever comes of it. A payer can still keep its payment from
 * being settled after that. So the gas is at risk in the row of the payment (allowance.ts): its limit from before the transaction is sent,
 * what it used once it is mined, and nothing once the payment has brought a fee that pays for both.
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
import { currentOrigin } from '@referrer/process'
import { type Address, numberToHex } from 'viem'
import type { Chain, Context } from '../context.ts'
import { type Deployment, deploymentCall } from '../onchain/wallet-deployment.ts'
import { feeNow } from '../payment/fee.ts'
import { keyOf, type Payment } from '../payment/payment.ts'
import { forNow, invalidPayment, Refused } from '../payment/refused.ts'
import { hasCode } from '../payment/signature.ts'
import { back } from './allowance.ts'
import { costOf, deploymentGasLimit, lifeGas } from './gas.ts'
import { toSettle } from './order.ts'
import { notSent, tookTooLong, unreachable } from './refusals.ts'
import type { RelayerLoad } from './relayer-load.ts'
import { simulate, undeployable, type Verdict } from './simulation.ts'
import { countDeployment, holdDeployment } from './store.ts'
import type { Tracker } from './tracker.ts'

export interface Deployments {
  /** Throws `Refused` unless the wallet has code afterwards. */
  deploy(payment: Payment, deployment: Deployment, signal: AbortSignal): Promise<void>
}

type Good = Extract<Verdict, { type: 'good' }>
type Call = TransactionRequest & { gas: bigint }

const NO_SALE = { cost: 0n, fee: 0n, gift: 0n, isDeployment: true } as const

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
  const count = (payment: Payment, gas: bigint) => countDeployment(sql, keyOf(payment), costOf(config, gas))

  /** Its transaction; undefined: none is needed. */
  async function begin(
    payment: Payment,
    deployment: Deployment,
    signal: AbortSignal,
  ): Promise<bigint | undefined> {
    const known = await readTransaction(sql, { chainId, key: nameOf(payment.authorization.from) })
    if (known && !isUntried(known)) return known.id
    const [verdict] = await simulate(context, chain, relayerPool.available()[0], [payment])
    if (verdict?.type === 'refused') throw verdict.refusal
    // What is used already is found out as for any other payment.
    if (verdict?.type === 'used') return undefined
    if (verdict?.type !== 'good') throw unreachable(undefined)
    if (verdict.deploymentGas === undefined) return undefined
    requireWorth(context, payment, verdict, await feeNow(chain, toSettle(payment)))
    return send(payment, deployment, verdict.deploymentGas, signal)
  }

  async function send(
    payment: Payment,
    deployment: Deployment,
    used: bigint,
    signal: AbortSignal,
  ): Promise<bigint> {
    const wallet = payment.authorization.from
    const from = load.leastBusy().relayer
    const { target: to, data } = deploymentCall(wallet, deployment)
    const gas = deploymentGasLimit(used, data)
    const call = { chainId, from, to, data, gas, key: nameOf(wallet), label: 'wallet deployment' }
    await rehearse(payment, call)
    // Whoever gave up meanwhile has been told that nothing was sent.
    if (signal.aborted) throw tookTooLong()
    // Not before: strangers could keep the relayers from settling with calls that are tried and never sent.
    if (load.of(from) >= config.maxBatchesInFlight) throw notSent('too many transactions are under way')
    const end = load.begin(from)
    const intentId = await enqueue(payment, { ...call, origin: currentOrigin() }).finally(() => {
      end()
      pump()
    })
    log.info({ wallet, factory: deployment.factory, intent: String(intentId) }, 'a wallet is being deployed')
    void tracker.follow(intentId, { relayer: from, keys: [] })
    return intentId
  }

  /** Exactly as it will be sent: in the trial together with the payment the sender is somebody else, which a wallet could tell. */
  async function rehearse(payment: Payment, { from, to, data, gas }: Call): Promise<void> {
    const call = { from, to, data, gas: numberToHex(gas) }
    await chain.rpc.request('eth_call', [call, 'latest']).catch((error) => {
      // Older nodes tell a revert without data by its message alone.
      const hasReverted =
        error instanceof RpcError && (error.kind === 'reverted' || /revert/i.test(error.message))
      if (hasReverted) throw undeployable(payment)
      throw error
    })
  }

  function enqueue(payment: Payment, request: Call): Promise<bigint> {
    const { key, gas } = request
    return sql.begin(async (tx) => {
      const risk = costOf(config, gas)
      const tried = { ...NO_SALE, order: toSettle(payment), gas, risk }
      const [backing] = await back(tx, config, chainId, [tried], clock())
      const known = await readTransaction(tx, { chainId, key })
      if (known && !isUntried(known)) return known.id
      if (backing instanceof Refused) throw forNow(`${backing.message}; or deploy the wallet first`)
      if (known) await releaseKey(tx, known.id)
      await holdDeployment(tx, keyOf(payment), risk, clock())
      return enqueueTransaction(tx, request)
    })
  }

  return {
    async deploy(payment, deployment, signal) {
      const wallet = payment.authorization.from
      if (await hasCode(chain, wallet)) return
      const intentId = await begin(payment, deployment, signal)
      if (intentId === undefined) return
      const tracked = await tracker.follow(intentId)
      if ('message' in tracked) {
        const status = await readTransaction(sql, { id: intentId })
        const isRepeatable = status !== undefined && isUntried(status)
        if (isRepeatable) await count(payment, 0n)
        if (await hasCode(chain, wallet)) return
        throw isRepeatable ? notSent(tracked.message) : triedOnce(wallet, tracked.message)
      }
      await count(payment, tracked.mined.gasUsed)
      if (tracked.mined.hasReverted && !(await hasCode(chain, wallet)))
        throw triedOnce(wallet, 'the transaction reverted')
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

/** Throws `Refused` where the fee does not pay for the deployment of the payer and for the payment itself. */
export function requireWorth({ config }: Context, payment: Payment, verdict: Good, fee: bigint): void {
  const { deployment, authorization } = payment
  if (!deployment || verdict.deploymentGas === undefined) return
  const { from, value } = authorization
  const { data } = deploymentCall(from, deployment)
  const settling = lifeGas(toSettle(payment), verdict.gas)
  const cost = costOf(config, deploymentGasLimit(verdict.deploymentGas, data) + settling)
  if (fee >= cost) return
  const first = `the wallet ${from} is not deployed, and to deploy it and to settle the payment costs ${cost} base units of gas, which the platform's fee of this payment, ${fee}, does not pay for: deploy the wallet first, then send the same payment again`
  // Without a fee nothing tells the amount: the product may not be known for the moment.
  if (fee === 0n) throw forNow(first)
  throw invalidPayment(`${first}, or pay ${(value * cost + fee - 1n) / fee} base units or more`)
}

const triedOnce = (wallet: Address, why: string) =>
  new Refused(
    'settle_failed',
    `the wallet ${wallet} is not deployed, and the one try to deploy it here failed (${why}); it is not tried again: deploy the wallet first, then send the same payment again`,
  )
