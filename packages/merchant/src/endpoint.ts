import { ProtocolError } from '@referrer/protocol'
import { jsonAnswer, retryLater } from './answers.ts'
import { createCheckout } from './checkout.ts'
import { type ReferralConfig, readConfig } from './config.ts'
import { facilitatorOf } from './facilitator.ts'
import { createIdentified } from './identified.ts'
import { readLeast, requireLeast } from './least-amount.ts'
import { connectTo, type Market, watchMarket } from './market.ts'
import { createMppTill } from './mpp/till.ts'
import { BAD_BUYER, type Buyer, buyerOf, makeOffer, type Offer, readBuyer } from './offer.ts'
import { type GetHeader, type Payment, readPayment } from './payment.ts'
import { createReturning } from './returning.ts'

/**
 * @example
 * ```ts
 * import type { ReferralEndpoint } from '@referrer/merchant'
 *
 * declare const endpoint: ReferralEndpoint
 * await endpoint.ready()
 * export default { fetch: endpoint.fetch }
 * ```
 */
export interface ReferralEndpoint {
  /** Answers GET and POST on the endpoint's URL. Never throws. */
  fetch(request: Request): Promise<Response>
  /**
   * Reads the market now instead of at the first request, and asks the facilitator for the least amount that it settles: await it at the
   * start to notice a wrong configuration, a store that cannot be read, or a price that nobody could pay.
   */
  ready(): Promise<void>
}

const NOBODY: Buyer = { attributionToken: '' }

/**
 * An endpoint that sells one thing, or many by their price, to whoever comes through a ref link.
 *
 * @example
 * ```ts
 * import { createPaymentMemory, createReferralEndpoint, type MarketConfig } from '@referrer/merchant'
 *
 * const market: MarketConfig = {
 *   chainId: 31337,
 *   rpcUrl: 'http://127.0.0.1:8545',
 *   addressRegistry: '0x1cf1a78B12CFd45F03514845b3A6F2d91CE40869',
 *   facilitatorUrl: 'http://127.0.0.1:8081',
 *   setupUrl: 'http://127.0.0.1:8080/.well-known/referrer-agent',
 *   merchantId: 5,
 *   payments: createPaymentMemory(),
 * }
 * const endpoint = createReferralEndpoint({ ...market, price: '0.10', serve: () => ({ joke: 'Knock, knock.' }) })
 * const response = await endpoint.fetch(new Request('http://127.0.0.1:3000/jokes', { method: 'PUT' }))
 * response.status // → 405
 * ```
 */
export function createReferralEndpoint(config: ReferralConfig): ReferralEndpoint {
  const settings = readConfig(config)
  const client = connectTo(settings)
  const marketNow = watchMarket(client, settings)
  const checkOut = createIdentified(settings, createCheckout(settings, client))
  const mppTill = settings.mpp && createMppTill(settings.mpp, settings, { offerTo, checkOut })
  const comeBack = createReturning(settings, client)
  /** Known once `ready` has asked for it. */
  let least = 0n

  async function offerTo(
    buyer: Buyer,
    request: Request,
  ): Promise<{ offer: Offer; market: Market } | Response> {
    let market: Market
    try {
      market = await marketNow()
    } catch {
      return retryLater(503, 'the market cannot be read right now; try again')
    }
    try {
      const amount = await settings.priceOf(request)
      if (typeof amount !== 'bigint') return amount
      requireLeast(amount, least)
      const offer = await makeOffer(settings, market, { request, amount, buyer })
      return { offer: mppTill ? await mppTill.challenging(offer, request, buyer) : offer, market }
    } catch (error) {
      settings.tell({ type: 'price_failed', error })
      return jsonAnswer(500, { error: 'the price could not be told; nothing was charged' })
    }
  }

  async function fetch(request: Request): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'POST') {
      const response = jsonAnswer(405, { error: 'send GET or POST' })
      response.headers.set('allow', 'GET, POST')
      return response
    }
    const get: GetHeader = (name) => request.headers.get(name)
    const paidByMpp = mppTill?.answerTo(request)
    if (paidByMpp) return paidByMpp
    let payment: Payment | undefined
    try {
      payment = readPayment(get, settings.network)
    } catch (error) {
      const made = await offerTo(NOBODY, request)
      const message = error instanceof ProtocolError ? error.message : String(error)
      return 'offer' in made ? made.offer.answer({ reason: 'invalid_payment', message }) : made
    }
    if (!payment) {
      const buyer = readBuyer(get)
      if (!buyer) return jsonAnswer(400, { error: BAD_BUYER })
      const made = await offerTo(buyer, request)
      if (!('offer' in made)) return made
      return (await comeBack(request, made.offer)) ?? made.offer.answer()
    }

    // The retry of a payment need not name the link again where the payment does.
    const { attributionToken = '', buyerAgentId } = payment
    return checkOut(request, payment, () =>
      offerTo(buyerOf(attributionToken, buyerAgentId) ?? NOBODY, request),
    )
  }

  return {
    fetch,
    async ready() {
      await settings.payments.began()
      await marketNow()
      const known = await readLeast(settings, facilitatorOf(settings).supported)
      if (settings.fixedPrice !== undefined) requireLeast(settings.fixedPrice, known)
      least = known
    },
  }
}
