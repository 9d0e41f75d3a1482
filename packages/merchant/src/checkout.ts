// Settles a payment and serves what it bought. In doubt the buyer must not pay twice and the merchant must not serve twice.
import type { PublicClient } from 'viem'
import { answerAgain, keptOf } from './answer-again.ts'
import { jsonAnswer, paid, receipt, refusalFields, retryLater, USED } from './answers.ts'
import type { Settings } from './config.ts'
import { OFFER_RECEIPT } from './extensions/offer-receipt.ts'
import type { Outcome } from './facilitator.ts'
import type { Market } from './market.ts'
import { type Offer, resourceUrl } from './offer.ts'
import type { Payment } from './payment.ts'
import { type Claim, type Granted, REPEATED } from './payment-memory.ts'
import { purchaseOf } from './returning.ts'
import { type Sale, saleOf } from './sale.ts'
import { createSettlement, DEARER, leftOpen, unsureText } from './settlement.ts'
import { type TakeBack, takeBackFields } from './take-back.ts'
import { trailOf } from './trail.ts'

/** The offer that the payment has to meet, and the market that it was made on; or the answer to send where there is no offer. */
export type MakeOffer = () => Promise<{ offer: Offer; market: Market } | Response>

/** The offer is made while the payment is claimed. */
export type CheckOut<Given extends unknown[] = []> = (
  request: Request,
  payment: Payment,
  makeOffer: (...given: Given) => ReturnType<MakeOffer>,
) => Promise<Response>

const OWED =
  'you have paid, and serving failed: send the same PAYMENT-SIGNATURE again, it will be served without paying again'
const NOT_NOW = 'payments cannot be taken right now; send the same one again'

export function createCheckout(settings: Settings, client: PublicClient): CheckOut<[Granted]> {
  const { network, payments, tell } = settings
  const outcomeOf = createSettlement(settings, client)

  return async function checkOut(request, payment, makeOffer) {
    let claim: Claim
    try {
      claim = await payments.claim(payment, settings)
    } catch (error) {
      tell({ type: 'claims_failed', error })
      return retryLater(503, NOT_NOW)
    }
    if (!claim.isGranted) return notGranted(payment, claim)

    const made = await makeOffer(claim)
    if (!('offer' in made)) {
      await claim.undo()
      return made
    }
    const attempt = { payment, claim, ...made }
    return claim.paid ? deliver(request, attempt, claim.paid) : settle(request, attempt)
  }

  function notGranted(payment: Payment, claim: Exclude<Claim, Granted>): Response {
    if (claim.why !== 'served') {
      const response = repeated(payment, REPEATED[claim.why], undefined)
      if (claim.why === 'busy') response.headers.set('retry-after', String(claim.retrySeconds))
      return response
    }
    const { transaction, answer } = claim
    if (!answer) return repeated(payment, USED, transaction)
    tell({ type: 'repeated', payment: payment.key, transaction })
    return answerAgain(answer)
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
        return servePaid(request, attempt, saleOf(payment, outcome.amount ?? offer.amount, outcome))
      case 'used':
        return repeatedOutside(attempt, outcome)
      case 'refused':
        return refuse(attempt, outcome)
      case 'not now':
        await claim.undo()
        return retryLater(503, outcome.message, { rest: takeBackFields(outcome.takeBack) })
      case 'turned away':
        await claim.undo()
        tell({ type: 'facilitator_refused', message: outcome.message })
        return retryLater(503, 'payments cannot be settled right now; send the same one again')
      case 'unsure':
        await claim.leave()
        tell({ type: 'unsure', payment: payment.key, message: outcome.message })
        return retryLater(504, unsureText(outcome), { rest: leftOpen(outcome) })
    }
  }

  /** That it was paid is recorded before it is served: whoever finds it recorded serves, in this process or in a later one. */
  async function servePaid(request: Request, attempt: Attempt, sale: Sale): Promise<Response> {
    const { claim } = attempt
    try {
      if (await claim.paidBy(sale)) return deliver(request, attempt, sale)
    } catch (error) {
      tell({ type: 'claims_failed', error })
    }
    await claim.leave()
    return retryLater(503, NOT_NOW)
  }

  /** It may have been paid for another request, or at another price. */
  async function deliver(
    request: Request,
    { payment, claim, offer }: Attempt,
    sale: Sale,
  ): Promise<Response> {
    if (sale.amount >= offer.amount) return serve(request, payment, claim, sale)
    await claim.leave()
    return repeated(payment, DEARER, sale.transaction)
  }

  async function serve(request: Request, payment: Payment, claim: Granted, sale: Sale): Promise<Response> {
    // The buyer has hung up and may come back for it.
    if (request.signal.aborted) {
      await claim.leave()
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
      const isNamed = settings.extensions.paymentIds && payment.identifier !== undefined
      await claim.served(sale.transaction, isNamed ? await keptOf(response) : undefined)
      tell({ type: 'sold', sale })
      if (response.status < 400) await recordFor(sale)
      return response
    } catch (error) {
      await claim.leave()
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
    refusal: Extract<Outcome, { kind: 'refused' }>,
  ): Promise<Response> {
    await claim.forget()
    tell({ type: 'refused', payment: payment.key, reason: refusal.reason, message: refusal.message })
    return offer.answer(refusal)
  }

  /** The facilitator has seen the authorisation before. The answer is not 402, because a buyer who reads a refusal pays again. */
  async function repeatedOutside(
    { payment, claim }: Attempt,
    { transaction, message, takeBack }: Extract<Outcome, { kind: 'used' }>,
  ): Promise<Response> {
    await claim.used(transaction)
    return repeated(payment, message, transaction, takeBack)
  }

  function repeated(
    { key }: Payment,
    error: string,
    transaction: string | undefined,
    takeBack?: TakeBack,
  ): Response {
    tell({ type: 'repeated', payment: key, ...(transaction && { transaction }) })
    return jsonAnswer(409, {
      ...refusalFields(error, 'invalid_payment'),
      ...(transaction && { transaction }),
      ...takeBackFields(takeBack),
    })
  }
}
