// enqueued → open: a transaction that its relayer cannot send goes to another relayer, or is withdrawn in time to tell the payer.
import { handOverTransaction, type TransactionStatus, withdrawTransaction } from '@referrer/chain'
import type { Sql } from '@referrer/database'
import type { Address } from 'viem'
import type { Chain } from '../context.ts'
import { move } from './states.ts'
import { recordUnsent } from './store.ts'
import type { Records, TrackedTransaction } from './transaction.ts'

/** The sender did not send it for so long that it would not be mined in time: better to say so while the payment can still be made. */
const SEND_WITHIN_MS = 15_000
const NO_GAS = 'no relayer of this facilitator can pay for gas now; its operator has to send some'

/** False: there is no need to, or no relayer is left. */
export async function handOver(
  { sql, log }: Records,
  { relayerPool }: Chain,
  { relayer, heldBy }: TrackedTransaction,
  { id, from, reason }: TransactionStatus,
  waiting: (relayer: Address) => number,
): Promise<boolean> {
  if (reason === null || !relayer) return false
  heldBy.add(relayer)
  relayerPool.suspend(relayer)
  const others = relayerPool.available().filter((address) => !heldBy.has(address))
  const [to] = others.toSorted((a, b) => waiting(a) - waiting(b))
  if (!to) return false
  log.warn({ intent: String(id), from: relayer, to, reason }, 'the transaction goes to another relayer')
  await handOverTransaction(sql, id, { from, to })
  return true
}

/** Why it was withdrawn; undefined: it was not. `isAnySent`: gas money that other transactions do not use will come back. */
export async function withdrawIfHopeless(
  { sql }: Records,
  transaction: TrackedTransaction,
  { id, reason, lacksFunds, hashes }: TransactionStatus,
  isAnySent: boolean,
): Promise<string | undefined> {
  const isBroke = lacksFunds && !isAnySent
  if (!isBroke && performance.now() - transaction.since < SEND_WITHIN_MS) return undefined
  const why = isBroke ? NO_GAS : (reason ?? 'the chain could not be reached in time')
  if (!(await withdraw(sql, id, why, hashes.length > 0))) return undefined
  endUnsent(transaction)
  return why
}

/** False: it has a nonce, or an outcome. */
export function withdraw(sql: Sql, intentId: bigint, why: string, wasSent: boolean): Promise<boolean> {
  return sql.begin(async (tx) => {
    if (!(await withdrawTransaction(tx, intentId))) return false
    await recordUnsent(tx, intentId, why, wasSent)
    return true
  })
}

/** The sender gave it up, or another process withdrew it. */
export async function acceptUnsent(
  { sql }: Records,
  transaction: TrackedTransaction,
  { reason, hashes }: TransactionStatus,
): Promise<string> {
  const why = reason ?? 'it was not sent'
  await recordUnsent(sql, transaction.intentId, why, hashes.length > 0)
  endUnsent(transaction)
  return why
}

function endUnsent({ payments = [] }: TrackedTransaction): void {
  for (const payment of payments) {
    if (payment.state === 'sent') move(payment, 'enqueued')
    if (payment.state === 'enqueued') move(payment, 'open')
  }
}
