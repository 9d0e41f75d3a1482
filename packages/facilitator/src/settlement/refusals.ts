// Why a payment is not settled, in the words that merchant and buyer read.
import type { Hash } from 'viem'
import type { PaymentKey } from '../payment/payment.ts'
import { alreadyUsed, forNow, invalidPayment, type RefusalReason, Refused } from '../payment/refused.ts'
import type { ClosedArrival } from './arrival.ts'
import type { Row } from './store.ts'

export const unreachable = (cause: unknown) =>
  forNow('the chain cannot be asked now; nothing was sent, send the same payment again', cause)

export const outOfOrder = (cause: unknown) =>
  forNow('out of order for the moment; send the same payment again', cause)

export const notSent = (why: string) => forNow(`not sent: ${why}; send the same payment again`)

export const tookTooLong = () => forNow('it took too long; nothing was sent, send the same payment again')

/** It was sent without effect, and others may have its signature: until its end nobody can say that no money moves. */
export const usableUntil = (why: string, validBefore: bigint, reason: RefusalReason = 'settle_failed') =>
  new Refused(
    reason,
    `${why}; the authorisation can still be used until ${validBefore}: send the same payment again, or wait for its end before you pay anew`,
    { pending: true, until: validBefore },
  )

export const tryAgain = (why: string) => forNow(`${why}; the transfer is kept: ask again with the same body`)

/** Of an authorisation that commits to nothing. */
const pinnedElsewhere = () =>
  invalidPayment(
    'this authorisation was first shown for another purchase, and pays for no other one: sign a new one',
  )

/** Its money came before it was shown here, or after it could be split. */
export const unpinned = () =>
  invalidPayment(
    'the money came to the router without a purchase that it was shown for in time: it is not split, and its payer takes it back',
  )

export const wentBack = () =>
  invalidPayment('the payment went back to its payer: sign a new one', { isUsed: true })

export const notSigned = () => invalidPayment('buyerSignature is not accepted by the payer')

export const tooMany = (which: string) =>
  forNow(`too many payments ${which}: send the same payment again in a minute`)

const askFor = ({ payer, nonce }: PaymentKey) => `ask GET /settlements/${payer}/${nonce} before paying again`

/** Its row is being written, or the database was lost and may hold it. */
export const notKnownYet = (key: PaymentKey) =>
  new Refused('settle_failed', `whether it is sent is not known yet: ${askFor(key)}`, { pending: true })

export const notMinedYet = (key: PaymentKey, transaction: Hash) =>
  new Refused('settle_failed', `sent and not mined yet: ${askFor(key)}`, { pending: true, transaction })

/** Of a payment whose row stops a request with this digest. What paid for another purchase is not named: nobody is to serve for it. */
export function refusalOfRow(row: Row | undefined, digest: Hash): Refused {
  const isOwn = row?.digest === digest
  if (row?.state === 'settled') return alreadyUsed((isOwn && row.transaction) || undefined)
  if (row && !isOwn && row.validBefore !== null) return pinnedElsewhere()
  return forNow('another request for this payment is under way or failed; send it again')
}

/** The authorisation is used, and nothing is left to do for it. */
export function refusalOfArrival(arrival: ClosedArrival): Refused {
  switch (arrival.type) {
    case 'split':
      return alreadyUsed(arrival.transaction)
    case 'back':
      return wentBack()
    case 'cancelled':
      return invalidPayment('authorization cancelled by its payer: sign a new one', { isUsed: true })
    case 'unseen':
      return forNow(
        'authorization already used, and no node tells what for: send the same payment again later',
      )
    case 'elsewhere':
      return alreadyUsed(undefined)
  }
}
