// The 402: what is sold, for how much, and whom to pay.
import { AttributionToken, X402 } from '@referrer/protocol'
import type { Settings } from './config.ts'
import type { Market } from './market.ts'
import { termsOf } from './payment.ts'

/** What a buyer says about itself; it comes back with the payment. */
export interface Buyer {
  attributionToken: string
  buyerAgentId?: string
}

export interface Refusal {
  reason: string
  message: string
  /** Of what gave the money back, where some had moved. */
  transaction?: string
}

export interface Offer {
  requirements: X402.PaymentRequirements.PaymentRequirements
  amount: bigint
  /** The 402, with the reason where a payment was refused. */
  answer(refusal?: Refusal): Response
}

const MAX_TIMEOUT_SECONDS = 60
const MAX_AGENT_ID_CHARS = 256
const MAX_URL_CHARS = 2_048
const PRINTABLE = /^[\x20-\x7e]*$/

/** The headers of a first request, or undefined where they are longer or stranger than any honest ones. */
export function readBuyer(headers: Headers): Buyer | undefined {
  const token = headers.get(X402.REFERRER_TOKEN_HEADER) ?? ''
  const buyerAgentId = headers.get(X402.REFERRER_BUYER_AGENT_ID_HEADER)
  return buyerOf(token, buyerAgentId ?? undefined)
}

export function buyerOf(attributionToken: string, buyerAgentId: string | undefined): Buyer | undefined {
  const isGood =
    isShort(attributionToken, AttributionToken.MAX_TOKEN_CHARS) &&
    isShort(buyerAgentId ?? '', MAX_AGENT_ID_CHARS)
  return isGood ? { attributionToken, ...(buyerAgentId !== undefined && { buyerAgentId }) } : undefined
}

const isShort = (text: string, max: number) => text.length <= max && PRINTABLE.test(text)

export function makeOffer(
  settings: Settings,
  { splitRouter, usdc, token }: Market,
  { url, amount, buyer }: { url: string; amount: bigint; buyer: Buyer },
): Offer {
  const { network, setupUrl, description, mimeType } = settings
  const productId = soldUnder(settings, buyer.attributionToken)
  const requirements: X402.PaymentRequirements.PaymentRequirements = {
    scheme: 'exact',
    network,
    asset: usdc,
    amount: amount.toString(),
    payTo: splitRouter,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { ...token, authorizationType: 'ReceiveWithAuthorization', ...(productId && { productId }) },
  }
  const resource = {
    url: resourceUrl(settings, url),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
  }

  function answer(refusal?: Refusal): Response {
    const body = {
      x402Version: X402.VERSION,
      ...(refusal && { error: refusal.message, errorReason: refusal.reason }),
      resource,
      accepts: [requirements],
      extensions: { ...buyer, setup_url: setupUrl },
    }
    const headers = new Headers({
      'cache-control': 'no-store',
      [X402.PAYMENT_REQUIRED_HEADER]: X402.encodeHeader(body, 'standard'),
    })
    if (refusal) {
      const { reason, message, transaction = '' } = refusal
      const failure = { success: false, errorReason: reason, errorMessage: message, transaction, network }
      headers.set(X402.PAYMENT_RESPONSE_HEADER, X402.encodeHeader(failure, 'standard'))
    }
    return Response.json(body, { status: 402, headers })
  }

  return { requirements, amount, answer }
}

/** The product sold, where the link leads to another one. */
function soldUnder({ productId }: Settings, token: string) {
  const linked = termsOf(token)?.productId
  return linked === undefined || linked === productId ? undefined : productId
}

function resourceUrl({ publicUrl }: Settings, requested: string): string {
  const { search } = new URL(requested)
  const url = new URL(publicUrl ?? requested)
  if (search) url.search = search
  url.hash = ''
  // It travels in a header, which is no place for a long query.
  return url.href.length <= MAX_URL_CHARS ? url.href : `${url.origin}${url.pathname}`.slice(0, MAX_URL_CHARS)
}
