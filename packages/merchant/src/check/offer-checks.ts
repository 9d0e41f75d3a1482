import { isDeepStrictEqual } from 'node:util'
import { ProtocolError, X402 } from '@referrer/protocol'
import type { Market } from '../market.ts'
import { type Answer, type Answers, type Fields, fieldsOf, PROBE_AGENT, PROBE_TOKEN } from './probe.ts'
import { type Check, check } from './report.ts'

/** What the marketplace checks before it calls an endpoint ready. */
export function readinessChecks({ get }: Answers, market: Market | undefined): Check[] {
  const extensions = fieldsOf(get.offer.extensions)
  const checks = [
    check(
      'returns_402',
      get.status === 402,
      'status 402',
      `status ${get.status}: answer 402 to a request without PAYMENT-SIGNATURE`,
    ),
    check(
      'echoes_attribution',
      Object.hasOwn(extensions, 'attributionToken'),
      'extensions.attributionToken is there',
      'add extensions.attributionToken: what came in X-Referrer-Token',
    ),
  ]
  if (!market) return checks
  const router = market.splitRouter
  const isPaid = [get.offer, ...offersOf(get.offer)].some((offer) => isSame(offer.payTo, router))
  const fix = `no payTo is ${router}: read it from the address registry when you start, under keccak256("SPLIT_ROUTER")`
  return [...checks.slice(0, 1), check('payto_is_splitrouter', isPaid, router, fix), ...checks.slice(1)]
}

/** What else can keep a buyer from paying, or from being attributed. */
export function offerChecks(answers: Answers): Check[] {
  const { get, post, agent, unpaid } = answers
  const extensions = fieldsOf(get.offer.extensions)
  const named = fieldsOf(agent.offer.extensions).buyerAgentId
  const setupUrl = extensions.setup_url
  return [
    check(
      'post_returns_402',
      post.status === 402,
      'status 402',
      `POST got status ${post.status}: answer GET and POST alike`,
    ),
    check(
      'get_and_post_agree',
      isDeepStrictEqual(firstOffer(get.offer), firstOffer(post.offer)),
      'the same offer',
      'GET and POST make different offers: answer both alike',
    ),
    readable(get),
    check(
      'echoes_token_exactly',
      extensions.attributionToken === PROBE_TOKEN,
      'as it was sent',
      `extensions.attributionToken is ${shown(extensions.attributionToken)} and not ${shown(PROBE_TOKEN)} as was sent: echo the header unchanged`,
    ),
    check(
      'echoes_buyer_agent',
      named === PROBE_AGENT,
      'as a string',
      `extensions.buyerAgentId is ${shown(named)} and not ${shown(PROBE_AGENT)}: echo X-Referrer-Buyer-Agent-Id as a string`,
    ),
    check(
      'no_buyer_agent_unless_sent',
      !Object.hasOwn(extensions, 'buyerAgentId'),
      'absent',
      'leave extensions.buyerAgentId out when the header was not sent',
    ),
    check(
      'names_setup_url',
      isWebUrl(setupUrl),
      String(setupUrl),
      `extensions.setup_url is ${shown(setupUrl)}: set it to the URL of the market's manifest`,
    ),
    header(get),
    check(
      'names_resource',
      isWebUrl(fieldsOf(get.offer.resource).url),
      String(fieldsOf(get.offer.resource).url),
      'add resource: {url}, which official x402 clients need',
    ),
    check(
      'refuses_what_is_no_payment',
      unpaid.status === 402,
      'status 402',
      `a PAYMENT-SIGNATURE that is no payment got status ${unpaid.status}: serve only after /settle has answered success: true`,
    ),
  ]
}

/** The first offer, which is the one that buyers take, beside what the chain says. */
export function termsChecks({ get }: Answers, market: Market, chainId: number): Check[] {
  const { splitRouter, usdc, token } = market
  const { network, asset, amount, payTo, maxTimeoutSeconds, scheme, extra } = firstOffer(get.offer)
  const { name, version } = fieldsOf(extra)
  const expected = (field: string, value: unknown, wanted: string, ok = value === wanted): Check =>
    check(`offer_${field}`, ok, wanted, `accepts[0].${field} is ${shown(value)}: set it to ${shown(wanted)}`)
  return [
    expected('scheme', scheme, 'exact'),
    expected('network', network, `eip155:${chainId}`),
    expected('asset', asset, usdc, isSame(asset, usdc)),
    check(
      'offer_amount',
      typeof amount === 'string' && /^[1-9][0-9]*$/.test(amount),
      `${amount} base units`,
      `accepts[0].amount is ${shown(amount)}: set it to the price in base units of USDC, as decimal text`,
    ),
    expected('payTo', payTo, splitRouter, isSame(payTo, splitRouter)),
    check(
      'offer_maxTimeoutSeconds',
      maxTimeoutSeconds === 60,
      '60',
      `accepts[0].maxTimeoutSeconds is ${shown(maxTimeoutSeconds)}: set it to 60`,
    ),
    check(
      'offer_extra',
      name === token.name && version === token.version,
      `${token.name}, version ${token.version}`,
      `accepts[0].extra names ${shown(name)} and ${shown(version)}: set name to ${shown(token.name)} and version to ${shown(token.version)}, as the token's name() and version() say`,
    ),
  ]
}

export const priceOf = ({ get }: Answers): bigint | undefined => {
  const { amount } = firstOffer(get.offer)
  return typeof amount === 'string' && /^[0-9]{1,78}$/.test(amount) ? BigInt(amount) : undefined
}

function readable({ offer }: Answer): Check {
  const name = 'reads_as_an_offer'
  try {
    X402.PaymentRequired.parse(offer)
    return check(name, true, 'x402Version 2', '')
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return check(name, false, '', `buyers cannot read the 402: ${error.message}`)
  }
}

function header({ headers, body, offer }: Answer): Check {
  const name = 'payment_required_header'
  const text = headers.get(X402.PAYMENT_REQUIRED_HEADER)
  if (text === null) {
    return check(
      name,
      false,
      '',
      'add header PAYMENT-REQUIRED: the body as padded base64, which official x402 clients read',
    )
  }
  let read: unknown
  try {
    read = X402.decodeHeader(text)
  } catch {
    return check(
      name,
      false,
      '',
      'PAYMENT-REQUIRED is no base64 of JSON: encode the body as padded standard base64',
    )
  }
  const isPadded = text.length % 4 === 0 && !/[-_]/.test(text)
  const fix = isPadded
    ? 'PAYMENT-REQUIRED and the body differ: make both from one object'
    : 'PAYMENT-REQUIRED is base64url or unpadded: official clients read padded standard base64 only'
  const found = offer === body ? 'equals the body' : 'is the offer: the body makes none'
  return check(name, isPadded && isDeepStrictEqual(read, offer), found, fix)
}

const offersOf = (body: Fields): Fields[] => (Array.isArray(body.accepts) ? body.accepts.map(fieldsOf) : [])
const firstOffer = (body: Fields): Fields => offersOf(body)[0] ?? {}
const isSame = (value: unknown, address: string) =>
  typeof value === 'string' && value.toLowerCase() === address.toLowerCase()
const shown = (value: unknown) => (value === undefined ? 'missing' : JSON.stringify(value))

function isWebUrl(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}
