// The answers of an endpoint, except its offers.
import { X402 } from '@referrer/protocol'
import type { Sale } from './sale.ts'

const RETRY_SECONDS = 5

/** The facilitator's message about a payment that was used begins with this. */
export const USED = 'authorization already used'

/** Why no payment was taken. Buyers who read the facilitator's answers look for `errorReason` and `errorMessage`. */
export const refusalFields = (message: string, reason: string) => ({
  error: message,
  errorReason: reason,
  errorMessage: message,
})

const owned = new WeakSet<Response>()

/** Marks an answer that this library made, and not `price` or `serve` of the merchant. */
export function own(response: Response): Response {
  owned.add(response)
  return response
}
export const isOwn = (response: Response) => owned.has(response)

export function jsonAnswer(status: number, body: { error: string; transaction?: string }): Response {
  return own(Response.json(body, { status, headers: { 'cache-control': 'no-store' } }))
}

/** The same request may be sent again. */
export function retryLater(
  status: 503 | 504,
  error: string,
  { seconds = RETRY_SECONDS, rest = {} }: { seconds?: number; rest?: object } = {},
): Response {
  const response = jsonAnswer(status, { ...refusalFields(error, 'settle_failed'), ...rest })
  response.headers.set('retry-after', String(seconds))
  return response
}

/** What `serve` gave, with the transaction in its body where it is JSON, and in the header always. */
export async function receipt(
  served: unknown,
  sale: Sale,
  network: X402.Network.Network,
  extensionsOf: (status: number) => Promise<object | undefined> = async () => undefined,
): Promise<Response> {
  const response = await withSale(served, sale)
  paid(response.headers, sale, network, await extensionsOf(response.status))
  return response
}

/** What `serve` gave, with the transaction in its body where it is JSON. */
export async function withSale(served: unknown, sale: Sale): Promise<Response> {
  const response = isResponse(served)
    ? await withTransaction(served, sale)
    : Response.json(joined(served, sale))
  const headers = new Headers(response.headers)
  headers.set('cache-control', privately(headers.get('cache-control')))
  const { status, statusText } = response
  return new Response(response.body, { status, statusText, headers })
}

export function paid(
  headers: Headers,
  { transaction, payer }: Sale,
  network: X402.Network.Network,
  extensions?: object,
): Headers {
  const settled = { success: true, transaction, network, payer, ...(extensions && { extensions }) }
  headers.set(X402.PAYMENT_RESPONSE_HEADER, X402.encodeHeader(settled, 'standard'))
  return headers
}

async function withTransaction(response: Response, sale: Sale): Promise<Response> {
  const type = response.headers.get('content-type') ?? ''
  if (response.body === null || !/^application\/(?:[^;]+\+)?json\b/i.test(type)) return response
  const text = await response.text()
  const headers = new Headers(response.headers)
  // These headers describe the body before it was changed.
  for (const name of ['content-length', 'content-encoding', 'etag']) headers.delete(name)
  const { status, statusText } = response
  return new Response(withTransactionIn(text, sale), { status, statusText, headers })
}

function withTransactionIn(text: string, sale: Sale): string {
  try {
    return JSON.stringify(joined(JSON.parse(text), sale))
  } catch {
    return text
  }
}

function joined(served: unknown, { transaction }: Sale): object {
  const isFields =
    typeof served === 'object' && served !== null && !Array.isArray(served) && !('toJSON' in served)
  return isFields ? { ...served, transaction } : { result: served, transaction }
}

/** A cache must not give to others what one buyer paid for. */
function privately(cacheControl: string | null): string {
  if (cacheControl === null) return 'private, no-store'
  return /\b(?:private|no-store)\b/i.test(cacheControl) ? cacheControl : `${cacheControl}, private`
}

/** Frameworks bring own classes that behave like `Response` and are not instances of it. */
export function isResponse(value: unknown): value is Response {
  return value instanceof Response || Object.prototype.toString.call(value) === '[object Response]'
}
