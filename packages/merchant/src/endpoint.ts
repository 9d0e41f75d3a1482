import { ProtocolError, X402 } from '@referrer/protocol'
import { later, plain } from './answers.ts'
import { type ReferralConfig, readConfig } from './config.ts'
import { facilitatorOf } from './facilitator.ts'
import { readLeast, requireLeast } from './least.ts'
import { connectTo, type Market, watchMarket } from './market.ts'
import { type Buyer, buyerOf, makeOffer, type Offer, readBuyer } from './offer.ts'
import { type GetHeader, type Payment, readPayment } from './payment.ts'
import { createTill } from './till.ts'

export interface ReferralEndpoint {
  /** Answers GET and POST on the endpoint's URL. Never throws. */
  fetch(request: Request): Promise<Response>
  /**
   * Reads the market now instead of at the first request, and asks the facilitator for the least amount that it settles: await it at the
   * start to notice a wrong configuration, or a price that nobody could pay.
   */
  ready(): Promise<void>
}

const NOBODY: Buyer = { attributionToken: '' }

/** An endpoint that sells one thing, or many by their price, to whoever comes through a ref link. */
export function createReferralEndpoint(config: ReferralConfig): ReferralEndpoint {
  const settings = readConfig(config)
  const client = connectTo(settings)
  const marketNow = watchMarket(client, settings)
  const take = createTill(settings, client)
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
      return later(503, 'the market cannot be read right now; try again')
    }
    try {
      const amount = await settings.priceOf(request)
      if (typeof amount !== 'bigint') return amount
      requireLeast(amount, least)
      return { offer: makeOffer(settings, market, { url: request.url, amount, buyer }), market }
    } catch (error) {
      settings.tell({ type: 'price_failed', error })
      return plain(500, { error: 'the price could not be told; nothing was charged' })
    }
  }

  async function fetch(request: Request): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'POST') {
      const response = plain(405, { error: 'send GET or POST' })
      response.headers.set('allow', 'GET, POST')
      return response
    }
    const get: GetHeader = (name) => request.headers.get(name)
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
      if (!buyer) {
        const names = `${X402.REFERRER_TOKEN_HEADER} and ${X402.REFERRER_BUYER_AGENT_ID_HEADER}`
        return plain(400, { error: `${names} must be short printable ASCII: send the token of the ref link` })
      }
      const made = await offerTo(buyer, request)
      return 'offer' in made ? made.offer.answer() : made
    }

    // The retry of a payment need not name the link again where the payment does.
    const { attributionToken = '', buyerAgentId } = payment
    return take(request, payment, () => offerTo(buyerOf(attributionToken, buyerAgentId) ?? NOBODY, request))
  }

  return {
    fetch,
    async ready() {
      await marketNow()
      const known = await readLeast(settings, facilitatorOf(settings).supported)
      if (settings.fixedPrice !== undefined) requireLeast(settings.fixedPrice, known)
      least = known
    },
  }
}
