/**
 * Settles each payment once. Its states and transitions are in states.ts.
 *
 * A payment is named by its payer and nonce. One that commits to nothing belongs to the purchase that it was first shown for: a row says
 * so before any node sees its signature. Its transaction is the sender's, which gives it one nonce for good. So:
 * - a crash before the transaction is stored: nothing was sent, the same payment can be sent again;
 * - a crash after it: the sender sends what it has signed, and the next process goes on from the state that Postgres holds;
 * - a repeat, here or at another process: shares the attempt, or finds the row;
 * - another request for the same money: is refused, for good;
 * - a race with somebody who submits a bare transfer first: the money is in the router, and is split from there, or its payer's to take back;
 * - a failure in a block: nobody is told that no money moved before the authorisation has ended on the chain;
 * - a reorganisation: the row follows the chain until the block is final;
 * - a dead node: nothing is promised that was not seen on-chain; a dead database: nothing is sent.
 */
import { RpcError } from '@referrer/chain'
import { createLoader, currentRequestId, withTimeout } from '@referrer/process'
import { type Hash, type Hex, hexToNumber, numberToHex } from 'viem'
import type { Chain, Context } from '../context.ts'
import { keyOf, keyText, type Payment, type PaymentKey, type PurchaseId } from '../payment/payment.ts'
import { Refused } from '../payment/refused.ts'
import { asItsWalletSigned, RECEIVE } from '../payment/signature.ts'
import { useOf } from './arrival.ts'
import { PerhapsWritten } from './enqueue.ts'
import type { OnSettlement } from './events.ts'
import { FINISH_WINDOW } from './keep-pins.ts'
import { keyOfDeposit, type Order, toSettle } from './order.ts'
import { createPaymentFlow } from './payment-flow.ts'
import { notKnownYet, outOfOrder, refusalOfRow, tooMany, unreachable, usableUntil } from './refusals.ts'
import { createRequests } from './requests.ts'
import { findRow, pin, type Row } from './store.ts'
import type { Settlement, Settler } from './types.ts'
import { verify } from './verify.ts'

/** For a look at the rows. */
const RECORDS_MS = 5_000
/** Rows of a client that are written before anybody has checked a signature, and those that stay for longer than a day. */
const UNVERIFIED = { perSecond: 20, burst: 500 }
const LASTING = { perSecond: 1, burst: 500 }
const DAY_SECONDS = 86_400n

export function createSettler(context: Context, onEvent: OnSettlement = () => {}): Settler {
  const { sql, clock, log } = context
  const flows = new Map(
    [...context.chains].map(([chainId, chain]) => [chainId, createPaymentFlow(context, chain, onEvent)]),
  )
  const requests = createRequests(context)
  const unverified = context.limits.limiter('unverified', UNVERIFIED)
  const lasting = context.limits.limiter('lasting', LASTING)

  /** Payments that come at once are pinned in one statement. */
  const pinInBatch = createLoader({
    keyOf: ({ key, digest }: Order) => `${keyText(key)} ${digest}`,
    load: (orders: Order[]) => pin(sql, orders, clock()),
    concurrency: 4,
  })

  const asSigned = (payment: Payment) => asItsWalletSigned(known(context.chains, payment.chainId), payment)

  /** Before any node sees the signature. Throws `Refused` unless this is the first purchase that it is shown for. */
  async function pinned(payment: Payment, client: string): Promise<void> {
    const { authorization, isCommitted, isVerified, deployment, digest } = payment
    // What surely only the router can redeem commits to its terms. A deployment needs a row that answers for its cost.
    if (authorization.kind === RECEIVE && isVerified && !deployment) return
    // An authorisation that has ended gets no pin any more: what arrived by it without one is its payer's.
    const secondsLeft = authorization.validBefore - BigInt(Math.floor(clock() / 1_000))
    const hasEnded = secondsLeft <= 0n
    if (!hasEnded && !isVerified && (await unverified(client)) > 0)
      throw tooMany('whose signatures only their wallets can check')
    if (secondsLeft > DAY_SECONDS && (await lasting(client)) > 0)
      throw tooMany('that are valid for more than a day')
    const key = keyOf(payment)
    const row = hasEnded ? await findRow(sql, key) : await pinInBatch(toSettle(payment))
    if (!row || row.digest === digest || (isCommitted && !row.wasSent)) return
    throw refusalOfRow(row, digest)
  }

  const tellingWhy = <T>(purchase: PurchaseId, work: Promise<T>): Promise<T> =>
    work.catch(async (error) => Promise.reject(await told(error, purchase)))

  async function counted(purchase: PurchaseId, work: Promise<Hash>): Promise<Hash> {
    const { chainId } = purchase.key
    const began = clock()
    const ended = (status: 'settled' | 'refused' | 'failed') =>
      onEvent({
        type: 'ended',
        chainId,
        status,
        seconds: (clock() - began) / 1_000,
        requestId: currentRequestId(),
      })
    try {
      const transaction = await work
      ended('settled')
      return transaction
    } catch (error) {
      const refusal = await told(error, purchase)
      ended(refusal.reason === 'settle_failed' ? 'failed' : 'refused')
      throw refusal
    }
  }

  /** Whatever went wrong, it is safe to ask again. */
  function refusalFor(error: unknown, key: PaymentKey): Refused {
    if (error instanceof Refused) return error
    if (error instanceof RpcError) return unreachable(error)
    log.error({ err: error }, 'a payment ended with an unexpected error')
    return error instanceof PerhapsWritten ? notKnownYet(key) : outOfOrder(error)
  }

  /** While what was sent for a purchase may still move its money, no refusal of that purchase says that the buyer may pay anew. */
  async function told(error: unknown, { key, digest }: PurchaseId): Promise<Refused> {
    const refusal = refusalFor(error, key)
    if (refusal.pending || refusal.retryable) return refusal
    try {
      const row = await withTimeout(RECORDS_MS, findRow(sql, key), () => notKnownYet(key))
      if (row instanceof Refused) return row
      if (row?.digest !== digest) return refusal
      if (row.state === 'settled') return refusalOfRow(row, digest)
      if (row.state === 'pending') return notKnownYet(key)
      if (refusal.isUsed || !row.wasSent || row.validBefore === null) return refusal
      const hasEnded = await hasPassed(known(context.chains, key.chainId), row.validBefore)
      return hasEnded ? refusal : usableUntil(refusal.message, row.validBefore, refusal.reason)
    } catch (cause) {
      log.warn({ err: cause }, 'whether a payment can still be used is not known')
      return notKnownYet(key)
    }
  }

  async function lookUp(key: PaymentKey): Promise<Settlement> {
    const row = await findRow(sql, key)
    const none = { transaction: null, message: null } as const
    if (row?.state === 'settled') return { ...none, status: 'settled', transaction: row.transaction }
    if (requests.has(key) || row?.state === 'pending') return { ...none, status: 'pending' }
    if (!row) return { ...none, status: 'unknown' }
    return lookUpOpen(known(context.chains, key.chainId), key, row)
  }

  /** Of a payment of which nothing is under way: it moves nothing any more, or somebody else may have submitted the transfer. */
  async function lookUpOpen(
    chain: Chain,
    key: PaymentKey,
    { message, validBefore, wasSent }: Row,
  ): Promise<Settlement> {
    const as = (status: Settlement['status'], why = message) => ({ status, transaction: null, message: why })
    if (validBefore === null) return as(wasSent ? 'failed' : 'unknown')
    switch (await useOf(chain, key)) {
      case 'back':
        return as('failed', 'the money went back to its payer')
      case 'moved':
        return (await hasPassed(chain, validBefore + BigInt(FINISH_WINDOW)))
          ? as('failed', "the money is its payer's to take back")
          : as('pending', 'the money has come by another way: send the same payment again')
      case 'over':
        return as(wasSent ? 'failed' : 'unknown')
      case 'unused':
        if (!wasSent || (await hasPassed(chain, validBefore))) return as(wasSent ? 'failed' : 'unknown')
        return { ...as('pending'), until: Number(validBefore) }
    }
  }

  return {
    told,
    async settle(payment, client) {
      const purchase = purchaseOf(payment)
      const attempt = async (signal: AbortSignal) =>
        known(flows, payment.chainId).settle(await asSigned(payment), signal)
      const transaction = await requests.share(
        purchase,
        () => tellingWhy(purchase, pinned(payment, client)),
        (signal) => counted(purchase, attempt(signal)),
      )
      return { transaction, payer: payment.authorization.from }
    },
    async check(payment, client) {
      const chain: Chain = known(context.chains, payment.chainId)
      const checked = pinned(payment, client).then(async () =>
        verify(context, chain, await asSigned(payment)),
      )
      await tellingWhy(purchaseOf(payment), checked)
    },
    async splitDeposit(deposit, unless) {
      const flow = known(flows, deposit.chainId)
      const purchase = { key: keyOfDeposit(deposit), digest: deposit.digest }
      const transaction = await requests.share(
        purchase,
        async () => {},
        (signal) => counted(purchase, flow.splitDeposit(deposit, unless, signal)),
      )
      return { transaction, payer: deposit.charge.payer }
    },
    async find(key) {
      const found = await withTimeout(RECORDS_MS, lookUp(key)).catch((cause) => {
        if (!(cause instanceof RpcError)) throw cause
        throw new Refused('settle_failed', 'the chain cannot be asked now; ask again', { cause })
      })
      if (!found) throw new Error(`the database does not answer within ${RECORDS_MS} ms`)
      return found
    },
    async run(signal) {
      await Promise.all([...flows.values()].map((flow) => flow.run(signal)))
    },
  }
}

const purchaseOf = (payment: Payment): PurchaseId => ({ key: keyOf(payment), digest: payment.digest })

/** Whether a block that no reorganisation undoes is as late. */
async function hasPassed({ rpc, confirmations }: Chain, seconds: bigint): Promise<boolean> {
  const head = hexToNumber(await rpc.request<Hex>('eth_blockNumber', []))
  const deep = numberToHex(Math.max(0, head - confirmations + 1))
  const block = await rpc.request<{ timestamp: Hex } | null>('eth_getBlockByNumber', [deep, false])
  return block !== null && BigInt(block.timestamp) >= seconds
}

function known<T>(chains: ReadonlyMap<number, T>, chainId: number): T {
  const found = chains.get(chainId)
  if (!found) throw new Error(`chain ${chainId} is not configured`)
  return found
}
