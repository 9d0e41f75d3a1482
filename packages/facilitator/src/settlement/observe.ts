// The transitions that the chain decides: enqueued ↔ sent → settled, refunded or failed → final, and back to sent by a reorganisation.
import type { TransactionStatus } from '@referrer/chain'
import { type Hash, hexToBigInt } from 'viem'
import type { Chain } from '../context.ts'
import type { PaymentKey } from '../payment/payment.ts'
import type { In } from './attempt.ts'
import { burnedEach } from './gas.ts'
import { trustFor } from './gas-price.ts'
import { endingsOf, type Receipt } from './outcome.ts'
import { canFollow, isMined, move, type Outcome } from './states.ts'
import { blameGained, type Ending, markFinal, record, reopen, withReasons } from './store.ts'
import type { Mined, Records, TrackedPayment, TrackedTransaction } from './transaction.ts'

/** A nonce means that it is signed, and may be sent; one that somebody else has used is taken away again. */
export function observeNonce({ payments = [] }: TrackedTransaction, { nonce }: TransactionStatus): void {
  for (const payment of payments) {
    if (payment.state === 'enqueued' && nonce !== null) move(payment, 'sent')
    else if (payment.state === 'sent' && nonce === null) move(payment, 'enqueued')
  }
}

/** Undefined: nothing new. Of a node that is behind, or ahead, the block is read again later. */
export async function observeBlock(
  { sql, log, config, clock, onFinal }: Records,
  chain: Chain,
  transaction: TrackedTransaction,
  { hash, blockNumber, blockHash }: { hash: Hash; blockNumber: number; blockHash: Hash },
  isDeep: boolean,
): Promise<Mined | undefined> {
  const { intentId, seen, payments = [] } = transaction
  if (seen?.blockHash === blockHash) {
    if (!isDeep) return undefined
    onFinal(await markFinal(sql, intentId))
    payments.forEach(finalise)
    return undefined
  }
  const receipt = await chain.rpc.request<(Receipt & { blockHash: Hash }) | null>(
    'eth_getTransactionReceipt',
    [hash],
  )
  if (receipt?.blockHash !== blockHash) return undefined
  const keys = payments.map(({ key }) => key)
  const endings = await withReasons(sql, intentId, endingsOf(chain, receipt, keys))
  const earned = endings.map((ending) => ({ ...ending, earned: trustFor(config, ending.fee) }))
  const gasUsed = hexToBigInt(receipt.gasUsed)
  const hasReverted = receipt.status !== '0x1'
  if (!seen && hasReverted && endings.length > 1)
    await blameGained(sql, chain.chainId, intentId, gasUsed, clock())
  onFinal(await record(sql, intentId, earned, isDeep))
  payments.forEach((payment, at) => {
    const { state } = endings[at] as Ending
    mine(payment, state)
    if (isDeep) finalise(payment)
  })
  if (seen && !isSame(seen.endings, endings))
    log.error(
      { intent: String(intentId), before: seen.endings, endings },
      'outcomes differ in the block that replaced another',
    )
  transaction.seen = { blockHash, endings }
  return { endings, hasReverted, block: blockNumber, burned: burnedEach(gasUsed, endings) }
}

/** The block of its payments is gone: the sender sends the transaction again. */
export async function observeReorganisation(
  { sql, log }: Records,
  transaction: TrackedTransaction,
): Promise<void> {
  const { intentId, payments = [] } = transaction
  await reopen(sql, intentId)
  for (const payment of payments) if (isMined(payment.state)) move(payment, 'sent')
  transaction.seen = undefined
  log.warn({ intent: String(intentId) }, 'the block of a settlement is gone; it is sent again')
}

/** In its first block, or in another one than before: then it was `sent` in between. */
function mine(payment: TrackedPayment, outcome: Outcome): void {
  if (payment.state === outcome || payment.state === `${outcome}_final`) return
  if (canFollow(payment.state, 'sent')) move(payment, 'sent')
  move(payment, outcome)
}

function finalise(payment: TrackedPayment): void {
  if (isMined(payment.state)) move(payment, `${payment.state}_final`)
}

const isSame = (before: Ending[], after: Ending[]) =>
  before.every(({ state }, at) => state === after[at]?.state)

/** What a mined transaction did for one of its payments. */
export function outcomeOf({ endings, hasReverted, block, burned }: Mined, key: PaymentKey): In<Outcome> {
  const ending = endings.find(({ key: { payer, nonce } }) => nonce === key.nonce && payer === key.payer)
  if (!ending?.transaction || ending.state === 'failed') {
    const message = ending?.message ?? 'the transaction did nothing for this payment'
    return { state: 'failed', message, isForAll: hasReverted && endings.length > 1, block, burned }
  }
  const { state, transaction, message } = ending
  return { state, transaction, message }
}
