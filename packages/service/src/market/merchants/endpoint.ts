import { type Fetched, guardedFetch } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import type { Context } from '../../kit/context.ts'
import { type Fields, fieldsOf, jsonOf } from '../../kit/loose-json.ts'

/** Stands where the token of a ref link would. */
const PROBE_TOKEN = 'referrer-readiness-probe'

/** Asks an endpoint once, as a buyer would before paying. Throws `HostNotAllowed` or `Unreachable`. */
export const askEndpoint = (
  { config: { allowPrivateHosts }, lookup }: Pick<Context, 'config' | 'lookup'>,
  url: URL,
  signal?: AbortSignal,
): Promise<Fetched> =>
  guardedFetch({ allowPrivateHosts, lookup }, url, {
    headers: { [X402.REFERRER_TOKEN_HEADER]: PROBE_TOKEN },
    ...(signal && { signal }),
  })

/** What an answer asks for, in its body or, as official middleware has it, in its header; nothing in it is checked. */
export function requiredIn({ headers, body }: Fetched): Fields {
  const header = headers[X402.PAYMENT_REQUIRED_HEADER.toLowerCase()]
  const given = { header: typeof header === 'string' ? header : null, body: jsonOf(body) }
  return fieldsOf(X402.PaymentRequired.fromResponse(given))
}
