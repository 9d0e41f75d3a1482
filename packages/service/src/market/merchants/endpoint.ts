import { type Fetched, guardedFetch } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import type { Context } from '../../kit/context.ts'
import { type Fields, fieldsOf, jsonOf } from '../../kit/loose-json.ts'

/** Sent in place of a ref link's token. */
const PROBE_TOKEN = 'referrer-readiness-probe'

/** Calls an endpoint once, as a buyer does before paying. Throws `HostNotAllowed` or `Unreachable`. */
export const askEndpoint = (
  { config: { allowPrivateHosts }, lookup }: Pick<Context, 'config' | 'lookup'>,
  url: URL,
  signal?: AbortSignal,
): Promise<Fetched> =>
  guardedFetch({ allowPrivateHosts, lookup }, url, {
    headers: { [X402.REFERRER_TOKEN_HEADER]: PROBE_TOKEN },
    ...(signal && { signal }),
  })

/** The payment requirements in an answer, from its body or, as the official middleware sends them, its header. They are not validated. */
export function requiredIn({ headers, body }: Fetched): Fields {
  const header = headers[X402.PAYMENT_REQUIRED_HEADER.toLowerCase()]
  const given = { header: typeof header === 'string' ? header : null, body: jsonOf(body) }
  return fieldsOf(X402.PaymentRequired.fromResponse(given))
}
