// Settles a payment and serves what it bought. In doubt the buyer must not pay twice and the merchant must not serve twice.
import type { PublicClient } from 'viem'
import { jsonAnswer, paid, receipt, refusalFields, retryLater } from './answers.ts'
import type { Settings } from './config.ts'
import { OFFER_RECEIPT } from './extensions/offer-receipt.ts'
import type { Outcome } from './facilitator.ts'
import type { Market } from './market.ts'
import { type Offer, resourceUrl } from './offer.ts'
import type { Payment } from './payment.ts'
import { type Claim, type Granted, REPEATED } from './payment-memory.ts'
import { purchaseOf } from './returning.ts'
import { type Sale, saleOf } from './sale.ts'
import { createSettlement, UNSURE } from './settlement.ts'
import { trailOf } from './trail.ts'

/** The offer that the payment has to meet, and the market that it was made on; or the answer to send where there is no offer. */
export type MakeOffer = () => Promise<{ offer: Offer; market: Market } | Response>

/** How a payment ended here, for whoever wants to know. Undefined where it was not taken. */
export interface Watched {
  end: 'served' | 'owed' | 'unsure' | 'refused' | 'undone' | undefined
  transaction?: string
  /** Called before a payment that has bought nothing is let go: no copy of it is taken meanwhile. */
  free?(end: 'refused' | 'undone'): Promise<void>
}

export type CheckOut = (
  request: Request,
  payment: Payment,
  makeOffer: MakeOffer,
  watched?: Watched,
) => Promise<Response>

const DEARER = 'you have paid for something that costs less: send the request again that you paid for'
const OWED =
  'you have paid, and serving failed: send the same PAYMENT-SIGNATURE again within the hour, it will be served without paying again'

export function createCheckout(settings: Settings, client: PublicClient): CheckOut {
  const { network, payments, tell } = settings
  const outcomeOf = createSettlement(settings, client)

  return async function checkOut(
    request: Request,
    payment: Payment,
    makeOffer: MakeOffer,
    watched?: Watched,
  ): Promise<Response> {
    let claim: Claim
    try {
      claim = await payments.claim(payment, settings)
      if (claim.isGranted && watched) claim = watching(claim, watched)
    } catch (error) {
      tell({ type: 'claims_failed', error })
      return retryLater(503, 'payments cannot be taken right now; send the same one again')
    }
    if (!claim.isGranted) return repeated(payment, REPEATED[claim.why], claim.transaction)

    const made = await makeOffer()
    if (!('offer' in made)) {
      await claim.undo()
      return made
    }
    if (!claim.paid) return settle(request, { payment, claim, ...made })
    if (made.offer.amount <= claim.paid.amount) return serve(request, claim, claim.paid)
    await claim.undo()
    return repeated(payment, DEARER, claim.paid.transaction)
  }

  type Attempt = { payment: Payment; claim: Granted; offer: Offer; market: Market }

  async function settle(request: Request, attempt: Attempt): Promise<Response> {
    const { payment, claim, offer, market } = attempt
    const outcome = await outcomeOf({
      payment,
      claim,
      market,
      requirements: offer.requirements,
      trail: trailOf(request),
    })
    switch (outcome.kind) {
      case 'settled':
        return serve(request, claim, saleOf(payment, offer.amount, outcome))
      case 'used':
        return repeatedOutside(attempt, outcome)
      case 'refused':
        return refuse(attempt, outcome)
      case 'not now':
        await claim.undo()
        return retryLater(503, outcome.message)
      case 'turned away':
        await claim.undo()
        tell({ type: 'facilitator_refused', message: outcome.message })
        return retryLater(503, 'payments cannot be settled right now; send the same one again')
      case 'pending':
      case 'unsure':
        await claim.leaveOpen()
        tell({ type: 'unsure', payment: payment.key, message: outcome.message })
        return retryLater(504, UNSURE)
    }
  }

  async function serve(request: Request, claim: Granted, sale: Sale): Promise<Response> {
    // The buyer has hung up and may come back for it.
    if (request.signal.aborted) {
      await claim.owe(sale)
      tell({ type: 'buyer_gone', sale })
      return jsonAnswer(503, { error: OWED, transaction: sale.transaction })
    }
    try {
      const recordFor = purchaseOf(settings, request)
      const served = await settings.serve(request, sale)
      const response = await receipt(served, sale, network, (status) => signedReceipt(request, sale, status))
      if (response.status >= 500) {
        await response.body?.cancel()
        throw new Error(`serve answered ${response.status}`)
      }
      claim.served(sale.transaction)
      tell({ type: 'sold', sale })
      if (response.status < 400) await recordFor(sale)
      return response
    } catch (error) {
      await claim.owe(sale)
      tell({ type: 'serve_failed', sale, error })
      const response = jsonAnswer(500, { error: OWED, transaction: sale.transaction })
      paid(response.headers, sale, network)
      return response
    }
  }

  /** A receipt says that the service was delivered, so a failure gets none. A sale is never lost for the want of a signature. */
  async function signedReceipt(request: Request, sale: Sale, status: number): Promise<object | undefined> {
    const { issuer } = settings.extensions
    if (!issuer || status >= 400 || sale.payer === '') return undefined
    const { transaction, payer } = sale
    const delivery = { resourceUrl: resourceUrl(settings, request.url), network, payer, transaction }
    try {
      return { [OFFER_RECEIPT]: await issuer.receipt(delivery, settings.now()) }
    } catch (error) {
      tell({ type: 'signing_failed', what: 'receipt', sale, error })
      return undefined
    }
  }

  async function refuse(
    { payment, claim, offer }: Attempt,
    refusal: { reason: string; message: string; transaction?: string },
  ): Promise<Response> {
    await claim.forget()
    tell({ type: 'refused', payment: payment.key, reason: refusal.reason, message: refusal.message })
    return offer.answer(refusal)
  }

  /** The facilitator has seen the authorisation before. The answer is not 402, because a buyer who reads a refusal pays again. */
  async function repeatedOutside(
    { payment, claim }: Attempt,
    { transaction, message }: Extract<Outcome, { kind: 'used' }>,
  ): Promise<Response> {
    if (transaction) claim.served(transaction)
    // It may have been paid here: then it is still owed.
    else if (claim.isDoubtful) await claim.leaveOpen()
    else await claim.forget()
    return repeated(payment, message, transaction)
  }

  function repeated({ key }: Payment, error: string, transaction: string | undefined): Response {
    tell({ type: 'repeated', payment: key, ...(transaction && { transaction }) })
    return jsonAnswer(409, {
      ...refusalFields(error, 'invalid_payment'),
      ...(transaction && { transaction }),
    })
  }
}

function watching(claim: Granted, watched: Watched): Granted {
  const ended = (end: Watched['end']) => {
    watched.end = end
  }
  return {
    ...claim,
    served(transaction) {
      claim.served(transaction)
      ended('served')
      watched.transaction = transaction
    },
    owe: (sale) => claim.owe(sale).finally(() => ended('owed')),
    leaveOpen: () => claim.leaveOpen().finally(() => ended('unsure')),
    async forget() {
      ended('refused')
      await watched.free?.('refused')
      await claim.forget()
    },
    async undo() {
      ended('undone')
      await watched.free?.('undone')
      await claim.undo()
    },
  }
}
