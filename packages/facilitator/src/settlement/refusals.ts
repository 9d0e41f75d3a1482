// Why a payment is not settled, in the words that merchant and buyer read.
import type { Hash } from 'viem'
import type { PaymentKey } from '../payment/payment.ts'
import { alreadyUsed, invalidPayment, type RefusalReason, Refused } from '../payment/refused.ts'
import type { ClosedArrival } from './arrival.ts'
import type { Row } from './store.ts'

const forNow = (message: string, cause?: unknown) =>
  new Refused('settle_failed', message, { retryable: true, cause })

export const unreachable = (cause: unknown) =>
  forNow('the chain cannot be asked now; nothing was sent, send the same payment again', cause)

export const outOfOrder = (cause: unknown) =>
  forNow('out of order for the moment; send the same payment again', cause)

export const notSent = (why: string) => forNow(`not sent: ${why}; send the same payment again`)

export const tookTooLong = () => forNow('it took too long; nothing was sent, send the same payment again')

export const revertsNow = (why: string) => forNow(why)

export const noMoneyMoved = (why: string) => new Refused('settle_failed', `${why}; no money moved`)

export const returned = (why: string | null, transaction: Hash, reason: RefusalReason = 'settle_failed') =>
  new Refused(reason, `${why ?? 'it could not be split'}; the money went back to the payer`, { transaction })

const askFor = ({ payer, nonce }: PaymentKey) => `ask GET /settlements/${payer}/${nonce} before paying again`

/** Its row is being written, or the database was lost and may hold it. */
export const notKnownYet = (key: PaymentKey) =>
  new Refused('settle_failed', `whether it is sent is not known yet: ${askFor(key)}`, { pending: true })

export const notMinedYet = (key: PaymentKey, transaction: Hash) =>
  new Refused('settle_failed', `sent and not mined yet: ${askFor(key)}`, { pending: true, transaction })

/** Of a payment whose row belongs to another request. */
export function refusalOfRow(row: Row | undefined): Refused {
  if (row?.state === 'settled') return alreadyUsed(row.transaction ?? undefined)
  if (row?.state === 'refunded' && row.transaction) return returned(row.message, row.transaction)
  return forNow('another request for this payment is under way or failed; send it again')
}

/** The authorisation is used, and nothing is left to do for it. */
export function refusalOfArrival(arrival: ClosedArrival): Refused {
  switch (arrival.type) {
    case 'split':
      return alreadyUsed(arrival.transaction)
    case 'altered': {
      const { transaction, told, due } = arrival
      // Neither `already used` nor with the transaction, which merchants take for a refund: it is no purchase of theirs.
      return invalidPayment(
        `the buyer's authorisation was settled in ${transaction} with a commission of ${told.commission} and a cashback of ${told.cashback} base units, and the link's are ${due.commission} and ${due.cashback}: nothing is owed for it, sign a new payment`,
      )
    }
    case 'cancelled':
      return invalidPayment('authorization cancelled by its payer: sign a new one')
    case 'unseen':
      return forNow(
        'authorization already used, and no node tells what for: send the same payment again later',
      )
    case 'elsewhere':
      return alreadyUsed(undefined)
  }
}
