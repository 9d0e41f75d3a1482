// Calls the endpoint of a product for a person's browser, whose pages may not call other origins. It is no open proxy: it calls endpoints
// of open products only, by a link that we signed, and hands on nothing of the caller but the payment and the query.
import { createTurns, type Fetched, guardedFetch, HostNotAllowed, siteOf, Unreachable } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import { type Context, oncePerProcess } from '../../kit/context.ts'
import { fieldsOf, jsonOf } from '../../kit/loose-json.ts'
import { MarketError, RateLimited } from '../../kit/market-error.ts'
import { resolveLink } from '../../market/links/operations.ts'

export const CHECKOUT_TIMEOUT_MS = 20_000
const MOST_BYTES = 256 * 1024
/** How many calls may wait for shops at once, so that slow shops do not use up our sockets. No client and no shop may take all of them. */
const MOST_AT_ONCE = 200
const OF_ONE = { client: 4, host: 20, site: 40 }

export interface Checkout {
  token: string
  /** The value of the PAYMENT-SIGNATURE header. */
  payment?: string | undefined
  query?: Record<string, string> | undefined
}

export interface Answered {
  status: number
  content_type: string | null
  body: string
  is_base64: boolean
  payment_required: string | null
  payment_response: string | null
}

/** Returns undefined when the shop gives no usable answer. */
export async function checkOut(
  context: Context,
  client: string,
  { token, payment, query = {} }: Checkout,
): Promise<Answered | { unreachable: string }> {
  const { merchant_endpoint: endpoint } = await resolveLink(context, token)
  const url = new URL(endpoint)
  for (const [name, value] of Object.entries(query)) {
    if (url.searchParams.has(name)) {
      throw new MarketError('invalid input', 'invalid request', {
        detail: `the endpoint has its own ${name} in its query`,
      })
    }
    url.searchParams.set(name, value)
  }
  const turn = turnsOf(context)
  const whom = { client, host: url.host, site: siteOf(url) }
  if (!turn.hasRoom(whom)) throw new RateLimited('too many calls wait for the answers of shops', 1)
  return turn(async () => {
    const { config, lookup } = context
    try {
      const fetched = await guardedFetch({ allowPrivateHosts: config.allowPrivateHosts, lookup }, url, {
        headers: {
          [X402.REFERRER_TOKEN_HEADER]: token,
          ...(payment !== undefined && { [X402.PAYMENT_SIGNATURE_HEADER]: payment }),
        },
        timeoutMs: CHECKOUT_TIMEOUT_MS,
        maxBytes: MOST_BYTES,
      })
      return answeredOf(fetched)
    } catch (error) {
      if (error instanceof HostNotAllowed) return { unreachable: 'its host is not on the public internet' }
      if (error instanceof Unreachable) return { unreachable: error.message }
      throw error
    }
  }, whom)
}

const turnsOf = oncePerProcess(() => createTurns(MOST_AT_ONCE, OF_ONE))

const TEXT = /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:json|xml)(?:$|\s*;)|image\/svg\+xml)/i
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function answeredOf({ status, headers, body }: Fetched): Answered {
  const contentType = headers['content-type'] ?? null
  const text = contentType === null || TEXT.test(contentType) ? textOf(body) : undefined
  return {
    status,
    content_type: contentType,
    body: text ?? body.toString('base64'),
    is_base64: text === undefined,
    payment_required: headerOf(headers, X402.PAYMENT_REQUIRED_HEADER) ?? firstVersion(status, body),
    payment_response: headerOf(headers, X402.PAYMENT_RESPONSE_HEADER) ?? null,
  }
}

function headerOf(headers: Fetched['headers'], name: string): string | undefined {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : undefined
}

/** Version 1 of x402 has the requirements in the body of the 402. */
const firstVersion = (status: number, body: Buffer): string | null =>
  status === 402 && Array.isArray(fieldsOf(jsonOf(body)).accepts) ? body.toString() : null

function textOf(body: Buffer): string | undefined {
  try {
    return UTF8.decode(body)
  } catch {
    return undefined
  }
}
