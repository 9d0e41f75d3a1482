// The 402: what is sold, for how much, and whom to pay.
import { AttributionToken, X402 } from '@referrer/protocol'
import { own, refusalFields } from './answers.ts'
import type { Settings } from './config.ts'
import { declarationsOf, fitting } from './extensions/declarations.ts'
import type { Market } from './market.ts'
import { type GetHeader, termsOf } from './payment.ts'
import { type TakeBack, takeBackFields } from './take-back.ts'

/** What a buyer says about itself; it comes back with the payment. */
export interface Buyer {
  attributionToken: string
  buyerAgentId?: string
}

export interface Refusal {
  reason: string
  message: string
  takeBack?: TakeBack | undefined
}

export interface Offer {
  requirements: X402.PaymentRequirements.PaymentRequirements
  amount: bigint
  /** The 402, with the reason where a payment was refused. */
  answer(refusal?: Refusal): Response
  /** The 402 for whoever came without a payment, and was not let in for this reason. */
  answerTo(error: string): Response
}

export const MAX_TIMEOUT_SECONDS = 60
const MAX_AGENT_ID_CHARS = 256
const MAX_URL_CHARS = 2_048
const PRINTABLE = /^[\x20-\x7e]*$/

export const BAD_BUYER = `${X402.REFERRER_TOKEN_HEADER} and ${X402.REFERRER_BUYER_AGENT_ID_HEADER} must be short printable ASCII: send the token of the ref link`

/** The headers of a first request, or undefined where they are too long or not printable ASCII. */
export function readBuyer(get: GetHeader): Buyer | undefined {
  return buyerOf(get(X402.REFERRER_TOKEN_HEADER) ?? '', get(X402.REFERRER_BUYER_AGENT_ID_HEADER) ?? undefined)
}

export function buyerOf(attributionToken: string, buyerAgentId: string | undefined): Buyer | undefined {
  const isGood =
    isShort(attributionToken, AttributionToken.MAX_TOKEN_CHARS) &&
    isShort(buyerAgentId ?? '', MAX_AGENT_ID_CHARS)
  return isGood ? { attributionToken, ...(buyerAgentId !== undefined && { buyerAgentId }) } : undefined
}

const isShort = (text: string, max: number) => text.length <= max && PRINTABLE.test(text)

export async function makeOffer(
  settings: Settings,
  market: Market,
  { request, amount, buyer }: { request: Request; amount: bigint; buyer: Buyer },
): Promise<Offer> {
  const { network, setupUrl, description, mimeType } = settings
  const requirements: X402.PaymentRequirements.PaymentRequirements = {
    scheme: 'exact',
    network,
    asset: market.usdc,
    amount: amount.toString(),
    payTo: market.splitRouter,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: extraOf(settings, market, buyer.attributionToken),
  }
  const resource = {
    url: resourceUrl(settings, request.url),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
  }
  const extensions = { ...buyer, setup_url: setupUrl }
  const declared = fitting(
    { x402Version: X402.VERSION, resource, accepts: [requirements], extensions },
    await declarationsOf(settings, { request, resourceUrl: resource.url, requirements }),
  )

  function answer(refusal?: Refusal, error?: string): Response {
    const body = {
      x402Version: X402.VERSION,
      ...(error !== undefined && { error }),
      ...(refusal && refusalFields(refusal.message, refusal.reason)),
      ...takeBackFields(refusal?.takeBack),
      resource,
      accepts: [requirements],
      extensions: { ...extensions, ...declared },
    }
    const headers = new Headers({
      'cache-control': 'no-store',
      [X402.PAYMENT_REQUIRED_HEADER]: X402.encodeHeader(body, 'standard'),
    })
    if (refusal) {
      const { reason: errorReason, message: errorMessage } = refusal
      const failure = { success: false, errorReason, errorMessage, transaction: '', network }
      headers.set(X402.PAYMENT_RESPONSE_HEADER, X402.encodeHeader(failure, 'standard'))
    }
    return own(Response.json(body, { status: 402, headers }))
  }

  return { requirements, amount, answer, answerTo: (error) => answer(undefined, error) }
}

/** The token's domain, the preferred kind of authorisation, and the product sold where the link leads to another one. */
export function extraOf(
  { productId }: Pick<Settings, 'productId'>,
  { token }: Pick<Market, 'token'>,
  attributionToken: string,
): X402.PaymentRequirements.Extra {
  const linked = termsOf(attributionToken)?.productId
  const isOther = productId !== undefined && linked !== undefined && linked !== productId
  return { ...token, authorizationType: 'ReceiveWithAuthorization', ...(isOther && { productId }) }
}

/** Where buyers reach what they asked for. */
export function resourceUrl({ publicUrl }: Pick<Settings, 'publicUrl'>, requested: string): string {
  const { search } = new URL(requested)
  const url = new URL(publicUrl ?? requested)
  if (search) url.search = search
  url.hash = ''
  // The URL is sent in a header, so a long query is cut off.
  return url.href.length <= MAX_URL_CHARS ? url.href : `${url.origin}${url.pathname}`.slice(0, MAX_URL_CHARS)
}
