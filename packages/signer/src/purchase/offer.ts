// Requests the shop's price and validates it before anything is signed.
import { type Fetched, HostNotAllowed } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import { domainSeparator, isAddressEqual, parseAbi } from 'viem'
import type { Chain, Market } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import { explain, NotSold, Refused, ShopAway } from '../refused.ts'
import { jsonOf, type Link } from './link.ts'
import type { Order, Posted } from './order.ts'

export interface Offer {
  requirements: X402.PaymentRequirements.PaymentRequirements
  /** The offer unchanged: official middleware accepts a payment only for exactly what it offered. */
  accepted: X402.PaymentRequirements.PaymentRequirements
  resource: X402.PaymentRequired.ResourceInfo | undefined
  extensions: Record<string, unknown>
}

export const MAX_SHOP_BYTES = 1024 * 1024
const DOMAIN = parseAbi(['function DOMAIN_SEPARATOR() view returns (bytes32)'])

export async function askOffer(
  context: Context,
  url: URL,
  { token }: Link,
  { agentId, posted }: Order,
): Promise<Offer> {
  const answer = await context
    .get(url, {
      ...bodyOf(posted),
      headers: { ...headersOf(posted), ...referrerHeaders(token, agentId) },
      timeoutMs: context.timeouts.probe,
      maxBytes: MAX_SHOP_BYTES,
    })
    .catch((error: unknown) => {
      const text = `phase 1: the shop gives no answer (${reasonOf(error)}); nothing was paid`
      throw error instanceof HostNotAllowed ? new NotSold(text) : new ShopAway(text)
    })
  if (answer.status !== 402) {
    const text = `phase 1: expected 402, got ${answer.status}; nothing was paid`
    throw isTemporary(answer.status) ? new ShopAway(text) : new NotSold(text)
  }
  return readOffer(answer)
}

const isTemporary = (status: number) => status >= 500 || status === 408 || status === 425 || status === 429

/** The shop's URL with the query parameters of the buyer. */
export function urlOf(endpoint: string, { query }: Pick<Order, 'query'>): URL {
  const url = new URL(endpoint)
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.append(name, value)
  return url
}

export const bodyOf = (posted: Posted | null) => (posted ? { body: posted.body } : {})

export const headersOf = (posted: Posted | null) => ({
  accept: '*/*',
  ...(posted && { 'content-type': posted.type }),
})

/** Headers that name the ref link and the buying agent. */
export const referrerHeaders = (token: string, agentId: string | null | undefined) => ({
  [X402.REFERRER_TOKEN_HEADER]: token,
  ...(typeof agentId === 'string' && { [X402.REFERRER_BUYER_AGENT_ID_HEADER]: agentId }),
})

/** Why there is no answer; a private host is refused before any request. */
export function reasonOf(error: unknown): string {
  if (error instanceof HostNotAllowed) {
    return `${error.message}; ALLOW_PRIVATE_HOSTS lets shops be on this machine, for a sandbox`
  }
  return error instanceof Error ? error.message : 'unknown'
}

function readOffer(answer: Fetched): Offer {
  const { x402Version, accepts, resource, extensions } = offeredIn(answer)
  try {
    if (x402Version !== X402.VERSION) {
      throw new Refused(
        `the answer has no offer of x402 version ${X402.VERSION}, in its body or in PAYMENT-REQUIRED`,
      )
    }
    const [accepted] = Array.isArray(accepts) ? accepts : []
    return {
      requirements: X402.PaymentRequirements.parse(accepted),
      accepted,
      resource: resource === undefined ? undefined : X402.PaymentRequired.parseResource(resource),
      extensions: Object(extensions) as Record<string, unknown>,
    }
  } catch (error) {
    throw badOffer(explain(error))
  }
}

/** The offer of a 402 response: unvalidated JSON. */
export function offeredIn({ headers, body }: Fetched): Record<string, unknown> {
  const given = headers[X402.PAYMENT_REQUIRED_HEADER.toLowerCase()]
  const header = typeof given === 'string' ? given : null
  return Object(X402.PaymentRequired.fromResponse({ header, body: jsonOf(body) })) as Record<string, unknown>
}

/** The object in an x402 header; undefined when there is no valid one. */
export function headerOf(headers: Fetched['headers'], name: string): Record<string, unknown> | undefined {
  try {
    return Object(X402.decodeHeader(headers[name.toLowerCase()])) as Record<string, unknown>
  } catch {
    return undefined
  }
}

const badOffer = (why: string) => new NotSold(`the shop's offer is refused: ${why}; nothing was paid`)

/** Checks payee, token, network and link of the offer against the configuration and the order. */
export async function requireGoodOffer(
  chain: Chain,
  market: Market,
  link: Link,
  offer: Offer,
): Promise<void> {
  const { network, asset, payTo, extra } = offer.requirements
  const ours = X402.Network.from(chain.chainId)
  if (network !== ours) throw badOffer(`it is for ${network}, and the signer pays on ${ours}`)
  if (!isAddressEqual(asset, market.usdc))
    throw badOffer(`it asks for token ${asset}, and USDC is ${market.usdc}`)
  if (!isAddressEqual(payTo, market.router)) {
    throw badOffer(`it wants the money at ${payTo}, and the split router is ${market.router}`)
  }
  // A shop without support for ref links names none: the payment carries the link.
  if ((offer.extensions.attributionToken ?? link.token) !== link.token) {
    throw badOffer('it is for another ref link (extensions.attributionToken)')
  }
  const { name, version } = extra
  const claimed = domainSeparator({
    domain: { name, version, chainId: chain.chainId, verifyingContract: market.usdc },
  })
  const actual = await chain.client.readContract({
    address: market.usdc,
    abi: DOMAIN,
    functionName: 'DOMAIN_SEPARATOR',
  })
  if (claimed !== actual) throw badOffer('extra.name and extra.version are not those of the token')
}
