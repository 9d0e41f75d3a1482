import { type Fetched, guardedFetch, HostNotAllowed, Unreachable } from '@referrer/net'
import { Attribution, type AttributionToken, ProtocolError, X402 } from '@referrer/protocol'
import type { Hex } from 'viem'
import type { Context } from '../context.ts'
import { endpointOf } from '../market/endpoint.ts'
import { forNow } from '../payment/refused.ts'
import type { ChargeRequest } from './request.ts'

/** The merchant's current offer. */
export interface Offer {
  amount: bigint
  /** Undefined: the product of the link. */
  productId: Hex | undefined
}

/** Asks the endpoint of the link as a buyer does before paying. Throws `Refused`: what is not offered now may be offered later. */
export async function askOffer(
  context: Context,
  { chain, token, buyerAgentId }: ChargeRequest,
  terms: AttributionToken.Payload,
): Promise<Offer> {
  const { config, lookup } = context
  const headers = {
    [X402.REFERRER_TOKEN_HEADER]: token,
    ...(buyerAgentId !== Attribution.AGENTLESS_BUYER_ID && {
      [X402.REFERRER_BUYER_AGENT_ID_HEADER]: String(buyerAgentId),
    }),
  }
  try {
    const { status, ...answer } = await guardedFetch(
      { allowPrivateHosts: config.allowPrivateHosts, lookup },
      new URL(await endpointOf(context, token, terms)),
      { headers },
    )
    if (status !== 402) throw noOffer(`it answered ${status} instead of 402`)
    const { network, asset, payTo, amount, extra } = X402.PaymentRequirements.parse(firstOffer(answer))
    const { SplitRouter, USDC } = chain.contracts
    if (network !== chain.network || asset !== USDC || payTo !== SplitRouter) {
      throw noOffer(`it does not offer to be paid in USDC at ${SplitRouter} on ${chain.network}`)
    }
    return { amount: BigInt(amount), productId: extra.productId }
  } catch (error) {
    if (error instanceof HostNotAllowed || error instanceof Unreachable) throw noOffer(error.message, error)
    if (error instanceof ProtocolError) throw noOffer('its offer cannot be read', error)
    throw error
  }
}

/** In the body or, as official middleware has it, in the header. */
function firstOffer({ headers, body }: Pick<Fetched, 'headers' | 'body'>): unknown {
  const header = headers[X402.PAYMENT_REQUIRED_HEADER.toLowerCase()]
  const given = { header: typeof header === 'string' ? header : null, body: jsonOf(body) }
  const { accepts } = Object(X402.PaymentRequired.fromResponse(given)) as { accepts?: unknown }
  return Array.isArray(accepts) ? accepts[0] : undefined
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

const noOffer = (why: string, cause?: unknown) =>
  forNow(
    `the merchant's endpoint does not tell the price now (${why}): the transfer is kept, ask again later`,
    cause,
  )
