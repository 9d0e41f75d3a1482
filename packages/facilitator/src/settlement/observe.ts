// The transitions that the chain decides: enqueued ↔ sent → settled or failed → final or open, and back to sent by a reorganisation.
import type { TransactionStatus } from '@referrer/chain'
import { type Hash, hexToBigInt } from 'viem'
import type { Chain } from '../context.ts'
import type { PaymentKey } from '../payment/payment.ts'
import type { In } from './attempt.ts'
import { costOf, usedEach } from './gas.ts'
import { endingsOf, type Receipt } from './outcome.ts'
import { isMined, move, type Outcome } from './states.ts'
import { type Ending, markFinal, record, reopen } from './store.ts'
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
  { sql, log, config, onFinal }: Records,
  chain: Chain,
  transaction: TrackedTransaction,
  { hash, blockNumber, blockHash }: { hash: Hash; blockNumber: number; blockHash: Hash },
  isDeep: boolean,
): Promise<Mined | undefined> {
  const { intentId, seen, payments = [] } = transaction
  let news: Mined | undefined
  if (seen?.blockHash !== blockHash) {
    const receipt = await chain.rpc.request<(Receipt & { blockHash: Hash }) | null>(
      'eth_getTransactionReceipt',
      [hash],
    )
    if (receipt?.blockHash !== blockHash) return undefined
    const keys = payments.map(({ key }) => key)
    const told = endingsOf(chain, receipt, keys)
    const used = usedEach(hexToBigInt(receipt.gasUsed), told)
    const endings = told.map((each) => ({ ...each, used: costOf(config, used[each.state]) }))
    await record(sql, intentId, endings)
    payments.forEach((payment, at) => {
      mine(payment, (endings[at] as Ending).state)
    })
    if (seen && !isSame(seen.endings, endings))
      log.error(
        { intent: String(intentId), before: seen.endings, endings },
        'outcomes differ in the block that replaced another',
      )
    transaction.seen = { blockHash, endings }
    news = {
      endings,
      hasReverted: receipt.status !== '0x1',
      block: blockNumber,
      gasUsed: hexToBigInt(receipt.gasUsed),
    }
  }
  if (isDeep) {
    onFinal(await markFinal(sql, intentId))
    for (const payment of payments)
      if (isMined(payment.state)) move(payment, payment.state === 'settled' ? 'final' : 'open')
  }
  return news
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
  if (payment.state === 'final' || payment.state === 'open' || payment.state === outcome) return
  if (isMined(payment.state) || payment.state === 'enqueued') move(payment, 'sent')
  move(payment, outcome)
}

const isSame = (before: Ending[], after: Ending[]) =>
  before.every(({ state }, at) => state === after[at]?.state)

/** What a mined transaction did for one of its payments. */
export function outcomeOf({ endings, block }: Mined, key: PaymentKey): In<Outcome> {
  const ending = endings.find(({ key: { payer, nonce } }) => nonce === key.nonce && payer === key.payer)
  if (ending?.state === 'settled' && ending.transaction)
    return { state: 'settled', transaction: ending.transaction }
  return {
    state: 'failed',
    message: ending?.message ?? 'the transaction did nothing for this payment',
    block,
  }
}
