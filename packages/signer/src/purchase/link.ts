// Verifies a ref link: its signature, and that it belongs to the configured marketplace.
import { AttestationKey, AttributionToken, ProtocolError, RefLink } from '@referrer/protocol'
import { isAddressEqual } from 'viem'
import { z } from 'zod'
import type { Chain, Market } from '../chain/chain.ts'
import { settingsOf } from '../chain/deployment.ts'
import { marketUrl } from '../config.ts'
import type { Context } from '../context.ts'
import { explain, NotBought, NotSold, Refused } from '../refused.ts'

export interface Link {
  token: string
  terms: AttributionToken.Payload
}

const MAX_ANSWER_BYTES = 256 * 1024
const Resolved = z.object({ token: z.string(), merchant_endpoint: z.url({ protocol: /^https?$/ }) })
const Closed = z.object({ error: z.literal('not found') })
const Manifest = z.object({
  chains: z.array(
    z.object({
      chainId: z.int(),
      attestationPubKey: z.string().optional(),
      /** The present and former signing keys of the marketplace. */
      attestationPubKeys: z.array(z.string()).optional(),
    }),
  ),
})

/** The terms of a link, after its signature was verified. */
export async function openLink(context: Context, refLink: string): Promise<Link> {
  const { token, kid, chainId } = readLink(refLink)
  const { CHAIN_ID: ours } = await settingsOf(context, 'CHAIN_ID')
  if (chainId !== ours) {
    throw new NotBought(`wrong chain: the ref link is for chain ${chainId}, and the signer is set to ${ours}`)
  }
  const keys = context.config.ATTESTATION_PUB_KEYS ?? (await publishedKeys(context, chainId))
  const [first = ''] = keys
  const ring = await AttestationKey.keyRing(keys.find((key) => AttestationKey.kidOf(key) === kid) ?? first)
  const terms = await AttributionToken.verify(token, ring).catch((error: unknown) => {
    throw new NotBought(`the ref link does not hold: ${explain(error)}; nothing was paid`)
  })
  return { token, terms }
}

function readLink(refLink: string): { token: string; kid: string; chainId: number } {
  try {
    const { token } = RefLink.parse(refLink)
    const { kid, chainId } = AttributionToken.decodeUnverified(token)
    return { token, kid, chainId }
  } catch (error) {
    throw error instanceof ProtocolError ? new NotBought(error.message) : error
  }
}

/**
 * The present endpoint of the product, for a new purchase: the endpoint may change after a link was made. It comes from the marketplace, or
 * from the link when the marketplace does not answer; either way the same merchant is paid.
 */
export async function endpointOf(
  context: Context,
  { token, terms: { merchantEndpoint } }: Link,
): Promise<string> {
  if (context.config.REFERRER_AGENT_MCP_URL === undefined) return merchantEndpoint
  const { status, body } = await askMarket(context, `/r/${token}`)
  if (status === 404 && Closed.safeParse(jsonOf(body)).success) {
    throw new NotSold(
      'the ref link is closed: its product or its merchant sells no more. Take another review; nothing was paid',
    )
  }
  const resolved = status === 200 ? Resolved.safeParse(jsonOf(body)).data : undefined
  return resolved?.token === token ? resolved.merchant_endpoint : merchantEndpoint
}

export function requireOurRouter({ terms }: Link, { chainId }: Chain, { router }: Market): void {
  if (isAddressEqual(terms.splitRouter, router)) return
  throw new NotBought(
    `the ref link names the split router ${terms.splitRouter}, and that of chain ${chainId} is ${router}: get a fresh link; nothing was paid`,
  )
}

/** Reads the present and former signing keys from the marketplace. */
async function publishedKeys(context: Context, chainId: number): Promise<string[]> {
  const { status, body } = await askMarket(context, '/.well-known/referrer-agent')
  const manifest = status === 200 ? Manifest.safeParse(jsonOf(body)).data : undefined
  const { attestationPubKey = '', attestationPubKeys = [] } =
    manifest?.chains.find((entry) => entry.chainId === chainId) ?? {}
  const usable = [attestationPubKey, ...attestationPubKeys].filter((key) => /^[0-9a-f]{64}$/.test(key))
  if (usable.length > 0) return usable
  throw new Refused(
    `the marketplace does not tell which key signs the ref links of chain ${chainId}: try again later, or set ATTESTATION_PUB_KEYS`,
  )
}

/** Status 0 means no answer. */
function askMarket(context: Context, path: string): Promise<{ status: number; body: Buffer }> {
  const options = { timeoutMs: context.timeouts.answer, maxBytes: MAX_ANSWER_BYTES, isOurs: true }
  return context
    .get(new URL(`${marketUrl(context.config)}${path}`), {
      ...options,
      headers: { accept: 'application/json' },
    })
    .catch(() => ({ status: 0, body: Buffer.of() }))
}

export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
