import { type Fetched, guardedFetch } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import type { Context } from '../context.ts'

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
