// A payment arrives: settle it, serve what it bought, and in doubt never let the buyer pay twice or us serve twice.
import type { Hex, PublicClient } from 'viem'
import { later, paid, plain, receipt } from './answers.ts'
import type { Settings } from './config.ts'
import { facilitatorOf, type Outcome, type Standing, USED } from './facilitator.ts'
import { type Claim, openLedger } from './ledger.ts'
import { isRecorded, type Market } from './market.ts'
import type { Offer } from './offer.ts'
import { type Payment, termsOf } from './payment.ts'
import type { Sale } from './sale.ts'

type Granted = Extract<Claim, { isGranted: true }>

/** The offer that the payment has to meet, and the market it was made on; or the answer, where there is no offer. */
export type MakeOffer = () => Promise<{ offer: Offer; market: Market } | Response>

/** How far the clocks of the chain and of this machine may be apart. */
const CLOCK_SKEW_SECONDS = 60
const REPEATED = {
  busy: 'this payment is being settled: wait for its answer, and do not sign another',
  taken: 'this payment is being settled or was used already: do not sign another before you know',
  served: USED,
  altered: 'this authorisation came before in another payment: send that one again',
}
const DEARER = 'you have paid for something that costs less: send the request again that you paid for'
const UNSURE =
  'it is not known yet whether this payment was settled: send the same PAYMENT-SIGNATURE again, and do not sign a new one'
const KEPT =
  'you have paid, and serving failed: send the same PAYMENT-SIGNATURE again within the hour, it will be served without paying again'

export function createTill(settings: Settings, client: PublicClient) {
  const { network, merchantId, now, tell } = settings
  const facilitator = facilitatorOf(settings)
  const ledger = openLedger(settings)

  return async function take(request: Request, payment: Payment, makeOffer: MakeOffer): Promise<Response> {
    let claim: Claim
    try {
      claim = await ledger.claim(payment)
    } catch (error) {
      tell({ type: 'ledger_failed', error })
      return later(503, 'payments cannot be taken right now; send the same one again')
    }
    if (!claim.isGranted) return repeated(payment, REPEATED[claim.why], claim.transaction)

    const made = await makeOffer()
    if (!('offer' in made)) {
      await claim.back()
      return made
    }
    if (!claim.paid) return settle(request, { payment, claim, ...made })
    if (made.offer.amount <= claim.paid.amount) return hand(request, claim, claim.paid)
    await claim.back()
    return repeated(payment, DEARER, claim.paid.transaction)
  }

  type Attempt = { payment: Payment; claim: Granted; offer: Offer; market: Market }

  async function settle(request: Request, attempt: Attempt): Promise<Response> {
    const { payment, claim, offer } = attempt
    const terms = termsOf(payment.attributionToken)
    if (terms && BigInt(terms.merchantId) !== merchantId) {
      const message = "the ref link leads to another merchant's product, which is not sold here"
      return refuse(attempt, { reason: 'invalid_payment', message })
    }
    const outcome = await outcomeOf(attempt)
    switch (outcome.kind) {
      case 'settled':
        return hand(request, claim, saleOf(payment, offer, outcome))
      case 'used':
        return repeatedOutside(attempt, outcome)
      case 'refused':
        return refuse(attempt, outcome)
      case 'not now':
        await claim.back()
        return later(503, outcome.message)
      case 'turned away':
        await claim.back()
        tell({ type: 'facilitator_refused', message: outcome.message })
        return later(503, 'payments cannot be settled right now; send the same one again')
      case 'pending':
      case 'unsure':
        await claim.doubt()
        tell({ type: 'unsure', payment: payment.key, message: outcome.message })
        return later(504, UNSURE)
    }
  }

  /** The facilitator's answer; where it leaves open whether the buyer has paid, what can be found out besides. */
  async function outcomeOf(attempt: Attempt): Promise<Outcome> {
    const { payment, claim, offer } = attempt
    const started = Math.floor(now() / 1_000)
    const outcome = await facilitator.settle(payment, offer.requirements)
    const { kind } = outcome
    if (kind === 'used' ? claim.unservedSince === undefined : kind !== 'unsure' && kind !== 'refused')
      return outcome

    const standing: Standing | undefined =
      kind === 'used' && outcome.transaction
        ? { status: 'settled', transaction: outcome.transaction, message: undefined }
        : await facilitator.standingOf(payment)
    if (standing?.status === 'settled' && standing.transaction) {
      // Payer and nonce can be read on the chain: whoever is refused has proved nothing with them, unless this very payment came before.
      if (kind === 'refused' && !claim.isDoubtful)
        return { kind: 'used', transaction: undefined, message: USED }
      // Whoever could have been served for it before must not be served now: then only what was settled since counts.
      return ours(attempt, standing.transaction, claim.unservedSince ?? started - CLOCK_SKEW_SECONDS)
    }
    const isOver = standing !== undefined && standing.status !== 'pending'
    if (kind === 'unsure' && isOver && standing.status !== 'unknown') {
      const { message = 'the payment was not settled', transaction = '' } = standing
      return { kind: 'refused', reason: 'settle_failed', message, transaction }
    }
    // A refusal now says nothing about the time before: an expired authorisation may have been settled while it was good.
    if (kind === 'refused' && claim.isDoubtful && !isOver) return { kind: 'unsure', message: outcome.message }
    return outcome
  }

  /** A settlement that we did not hear of ourselves counts when the chain shows it as a sale of this merchant. */
  async function ours(attempt: Attempt, transaction: string, since: number): Promise<Outcome> {
    const { payment, offer, market } = attempt
    const { payer, nonce, value: amount } = payment
    if (!payer || !nonce || amount === undefined) return { kind: 'used', transaction, message: USED }
    const wanted = { payer, nonce, amount, merchantId, productId: settings.productId, since }
    try {
      const isOurs =
        amount === offer.amount &&
        (await isRecorded(client, market, { transaction: transaction as Hex, ...wanted }))
      return isOurs ? { kind: 'settled', transaction, payer } : { kind: 'used', transaction, message: USED }
    } catch {
      return { kind: 'unsure', message: `${transaction} could not be read from the chain` }
    }
  }

  async function hand(request: Request, claim: Granted, sale: Sale): Promise<Response> {
    // Nobody is there to be served: the buyer may come back for it.
    if (request.signal.aborted) {
      await claim.keep(sale)
      tell({ type: 'buyer_gone', sale })
      return plain(503, { error: KEPT, transaction: sale.transaction })
    }
    try {
      const response = await receipt(await settings.serve(request, sale), sale, network)
      if (response.status >= 500) {
        await response.body?.cancel()
        throw new Error(`serve answered ${response.status}`)
      }
      claim.served(sale.transaction)
      tell({ type: 'sold', sale })
      return response
    } catch (error) {
      await claim.keep(sale)
      tell({ type: 'serve_failed', sale, error })
      const response = plain(500, { error: KEPT, transaction: sale.transaction })
      return new Response(response.body, { status: 500, headers: paid(response.headers, sale, network) })
    }
  }

  async function refuse(
    { payment, claim, offer }: Attempt,
    refusal: { reason: string; message: string; transaction?: string },
  ): Promise<Response> {
    await claim.drop()
    tell({ type: 'refused', payment: payment.key, reason: refusal.reason, message: refusal.message })
    return offer.answer(refusal)
  }

  /** The facilitator has seen the authorisation before. Not 402: whoever reads a refusal pays again. */
  async function repeatedOutside(
    { payment, claim }: Attempt,
    { transaction, message }: Extract<Outcome, { kind: 'used' }>,
  ): Promise<Response> {
    if (transaction) claim.served(transaction)
    else await claim.drop()
    return repeated(payment, message, transaction)
  }

  function repeated({ key }: Payment, error: string, transaction: string | undefined): Response {
    tell({ type: 'repeated', payment: key, ...(transaction && { transaction }) })
    return plain(409, { error, ...(transaction && { transaction }) })
  }

  function saleOf(
    payment: Payment,
    offer: Offer,
    { transaction, payer }: { transaction: string; payer: string | undefined },
  ): Sale {
    return {
      id: payment.key,
      transaction,
      payer: payer ?? payment.payer ?? '',
      amount: offer.amount,
      attributionToken: payment.attributionToken ?? '',
      ...(payment.buyerAgentId !== undefined && { buyerAgentId: payment.buyerAgentId }),
    }
  }
}
