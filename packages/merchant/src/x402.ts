// What the official x402 middleware needs to sell through ref links.

import type { X402 } from '@referrer/protocol'
import { type FacilitatorClient, FacilitatorResponseError, type RouteConfig } from '@x402/core/server'
import type {
  PaymentPayload,
  PaymentRequirements,
  ResourceServerExtension,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from '@x402/core/types'
import { amountOf, type MarketConfig, type Price, readMarketConfig } from './config.ts'
import { facilitatorOf } from './facilitator.ts'
import { readLeast, requireLeast } from './least-amount.ts'
import { connectTo, watchMarket } from './market.ts'
import { extraOf, MAX_TIMEOUT_SECONDS, readBuyer } from './offer.ts'
import { completed, type GetHeader, type Payment, paymentOf, readPayment } from './payment.ts'
import { type Claim, REPEATED } from './payment-memory.ts'
import { saleOf } from './sale.ts'
import { createSettlement, DEARER, objectionTo, unsureText } from './settlement.ts'

type RequestContext = { adapter: { getHeader(name: string): string | undefined } }
type Requirements = X402.PaymentRequirements.PaymentRequirements

export interface OfficialReferral {
  network: X402.Network.Network
  /** For `new x402ResourceServer(…)`: settles each payment once, signed where there is a key, and refuses what would pay others. */
  facilitator: FacilitatorClient
  /** Give each of them to `registerExtension` of the resource server. */
  extensions: ResourceServerExtension[]
  /** A route of the middleware, paid to the split router. */
  route(price: Price | ((context: RequestContext) => Price | Promise<Price>)): RouteConfig
  /** Reads the market and the facilitator's terms now: await it at the start to notice a wrong configuration or price. */
  ready(): Promise<void>
}

/**
 * What a shop on `@x402/hono` or `@x402/express` registers to sell through ref links.
 *
 * @example
 * ```ts
 * import { createPaymentMemory, type MarketConfig } from '@referrer/merchant'
 * import { type OfficialReferral, officialReferral } from '@referrer/merchant/x402'
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
 * const referral: OfficialReferral = officialReferral(market)
 * export const routes = { '/jokes': { ...referral.route('0.10'), description: 'A joke about any topic' } }
 * ```
 */
export function officialReferral(config: MarketConfig): OfficialReferral {
  const settings = readMarketConfig(config)
  const { network, setupUrl, payments, tell } = settings
  const client = connectTo(settings)
  const marketNow = watchMarket(client, settings)
  const facilitator = facilitatorOf(settings)
  const settlement = createSettlement(settings, client)
  const prices: bigint[] = []

  /** The link and the buyer of a request. Those of its payment count before those of its headers. */
  function buyerOf(get: GetHeader) {
    let payment: Payment | undefined
    try {
      payment = readPayment(get, network)
    } catch {
      // The middleware refuses it.
    }
    const { attributionToken, buyerAgentId } = payment ?? readBuyer(get) ?? {}
    return { attributionToken: attributionToken ?? '', buyerAgentId }
  }

  async function claimOf(payment: Payment): Promise<Claim> {
    try {
      return await payments.claim(payment, settings)
    } catch (error) {
      tell({ type: 'claims_failed', error })
      throw new FacilitatorResponseError('payments cannot be taken right now; send the same one again')
    }
  }

  async function verify(payload: PaymentPayload, requirements: PaymentRequirements): Promise<VerifyResponse> {
    const payment = paymentOf(payload, network)
    const invalid = (reason: string, message: string): VerifyResponse => ({
      isValid: false,
      // The middleware shows buyers nothing else.
      invalidReason: `${reason}: ${message}`,
      invalidMessage: message,
      ...(payment.payer && { payer: payment.payer }),
    })
    const objection = objectionTo(payment, settings)
    if (objection) return invalid('invalid_payment', objection)
    const claim = await claimOf(payment)
    if (!claim.isGranted) return invalid('invalid_payment', REPEATED[claim.why])
    await claim.undo()
    // It may be settled already, and the facilitator would then refuse it: `settle` finds out.
    if (claim.isDoubtful) return { isValid: true, ...(payment.payer && { payer: payment.payer }) }
    try {
      const verified = await facilitator.verify(payment, requirements as Requirements)
      if (!verified.isValid) return invalid(verified.reason, verified.message)
      return { isValid: true, ...(verified.payer && { payer: verified.payer }) }
    } catch (error) {
      tell({ type: 'facilitator_refused', message: error instanceof Error ? error.message : String(error) })
      throw new FacilitatorResponseError('payments cannot be checked right now; send the same one again')
    }
  }

  /** Throws where it is unknown whether the buyer has paid: the middleware then answers 502. A 402 would ask the buyer to pay again. */
  async function settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<SettleResponse> {
    const payment = paymentOf(payload, network)
    const failed = (errorReason: string, errorMessage: string, transaction = ''): SettleResponse => ({
      success: false,
      errorReason,
      errorMessage,
      transaction,
      network,
      ...(payment.payer && { payer: payment.payer }),
    })
    const claim = await claimOf(payment)
    if (!claim.isGranted) {
      tell({ type: 'repeated', payment: payment.key })
      const transaction = claim.why === 'served' ? claim.transaction : ''
      return failed('invalid_payment', REPEATED[claim.why], transaction)
    }
    const market = await marketNow().catch(async (error: unknown) => {
      await claim.undo()
      throw new FacilitatorResponseError(`the market cannot be read right now: ${error}`)
    })
    const attempt = { payment, claim, market, requirements: requirements as Requirements }
    const outcome = await settlement(attempt)
    switch (outcome.kind) {
      case 'settled': {
        const price = BigInt(requirements.amount)
        const sale = saleOf(payment, outcome.amount ?? price, outcome)
        if (sale.amount < price) {
          await claim.leave()
          return failed('invalid_payment', DEARER, sale.transaction)
        }
        await claim.served(sale.transaction)
        tell({ type: 'sold', sale })
        return { success: true, transaction: sale.transaction, network, payer: sale.payer }
      }
      case 'used':
        await claim.used(outcome.transaction)
        tell({ type: 'repeated', payment: payment.key })
        return failed('invalid_payment', outcome.message, outcome.transaction)
      case 'refused':
        await claim.forget()
        tell({ type: 'refused', payment: payment.key, reason: outcome.reason, message: outcome.message })
        return failed(outcome.reason, outcome.message)
      case 'not now':
        await claim.undo()
        throw new FacilitatorResponseError(outcome.message)
      case 'turned away':
        await claim.undo()
        tell({ type: 'facilitator_refused', message: outcome.message })
        throw new FacilitatorResponseError('payments cannot be settled right now; send the same one again')
      case 'unsure':
        await claim.leave()
        tell({ type: 'unsure', payment: payment.key, message: outcome.message })
        throw new FacilitatorResponseError(unsureText(outcome))
    }
  }

  const headersOf =
    ({ adapter }: RequestContext): GetHeader =>
    (name) =>
      adapter.getHeader(name)

  const extensions: ResourceServerExtension[] = [
    {
      key: 'attributionToken',
      enrichDeclaration: (_, context) => buyerOf(headersOf(context as RequestContext)).attributionToken,
      hooks: {
        /** The middleware sends this very payload to the facilitator, so what a strict client left out is added to it. */
        async onBeforeVerify(_, { paymentPayload, transportContext }) {
          const { request } = transportContext as { request: RequestContext }
          Object.assign(paymentPayload, completed(paymentPayload, headersOf(request)))
        },
      },
    },
    {
      key: 'buyerAgentId',
      enrichDeclaration: (_, context) => buyerOf(headersOf(context as RequestContext)).buyerAgentId,
    },
  ]

  function route(price: Parameters<OfficialReferral['route']>[0]): RouteConfig {
    if (typeof price !== 'function') prices.push(amountOf(price))
    return {
      accepts: {
        scheme: 'exact',
        network,
        payTo: async () => (await marketNow()).splitRouter,
        async price(context) {
          const amount = amountOf(typeof price === 'function' ? await price(context) : price)
          const market = await marketNow()
          const { attributionToken } = buyerOf(headersOf(context))
          return {
            asset: market.usdc,
            amount: String(amount),
            extra: extraOf(settings, market, attributionToken),
          }
        },
        maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      },
      extensions: { attributionToken: '', buyerAgentId: '', setup_url: setupUrl },
    }
  }

  return {
    network,
    facilitator: {
      verify,
      settle,
      getSupported: async () => (await facilitator.supported()) as SupportedResponse,
    },
    extensions,
    route,
    async ready() {
      await marketNow()
      const least = await readLeast(settings, facilitator.supported)
      for (const price of prices) requireLeast(price, least)
    },
  }
}
