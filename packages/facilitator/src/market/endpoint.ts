import type { AttributionToken } from '@referrer/protocol'
import { z } from 'zod'
import type { Context } from '../context.ts'

const Resolved = z.object({ token: z.string(), merchant_endpoint: z.url({ protocol: /^https?$/ }) })

const PATIENCE_MS = 3_000

/** Where the merchant of a link sells now: a link outlives the address that it was made with. Its own where the marketplace cannot tell. */
export async function endpointOf(
  { config: { marketUrl }, fetch, log }: Pick<Context, 'config' | 'fetch' | 'log'>,
  token: string,
  { merchantEndpoint }: AttributionToken.Payload,
): Promise<string> {
  if (marketUrl === undefined) return merchantEndpoint
  try {
    const response = await fetch(`${marketUrl}/r/${token}`, {
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (!response.ok) throw new Error(`the marketplace answered with status ${response.status}`)
    const resolved = Resolved.parse(await response.json())
    return resolved.token === token ? resolved.merchant_endpoint : merchantEndpoint
  } catch (err) {
    log.warn(
      { err },
      'the endpoint of a link cannot be read from the marketplace; the one in the link is used',
    )
    return merchantEndpoint
  }
}
