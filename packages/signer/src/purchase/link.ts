// The ref link: who signed it, and whether it leads to the marketplace of the configuration.
import { AttestationKey, AttributionToken, RefLink } from '@referrer/protocol'
import { isAddressEqual } from 'viem'
import { z } from 'zod'
import type { Chain, Market } from '../chain/chain.ts'
import { need } from '../config.ts'
import type { Context } from '../context.ts'
import { explain, Refused } from '../refused.ts'

export interface Link {
  token: string
  terms: AttributionToken.Payload
}

const MAX_MANIFEST_BYTES = 256 * 1024
const Manifest = z.object({
  chains: z.array(z.object({ chainId: z.int(), attestationPubKey: z.string().optional() })),
})

/** The terms of a link, once they are seen to be signed by the marketplace. */
export async function openLink(context: Context, refLink: string): Promise<Link> {
  const { token } = RefLink.parse(refLink)
  const { kid, chainId } = AttributionToken.decodeUnverified(token)
  const { CHAIN_ID: ours } = need(context.config, 'CHAIN_ID')
  if (chainId !== ours) {
    throw new Refused(`wrong chain: the ref link is for chain ${chainId}, and the signer is set to ${ours}`)
  }
  const keys = context.config.ATTESTATION_PUB_KEYS ?? [await publishedKey(context, chainId)]
  const [first = ''] = keys
  const ring = await AttestationKey.keyRing(keys.find((key) => AttestationKey.kidOf(key) === kid) ?? first)
  try {
    return { token, terms: await AttributionToken.verify(token, ring) }
  } catch (error) {
    throw new Refused(`the ref link does not hold: ${explain(error)}; nothing was paid`)
  }
}

export function requireOurRouter({ terms }: Link, { chainId }: Chain, { router }: Market): void {
  if (isAddressEqual(terms.splitRouter, router)) return
  throw new Refused(
    `the ref link names the split router ${terms.splitRouter}, and that of chain ${chainId} is ${router}: get a fresh link; nothing was paid`,
  )
}

/** What the marketplace says that it signs with. */
async function publishedKey(context: Context, chainId: number): Promise<string> {
  const { REFERRER_AGENT_MCP_URL: mcp } = need(context.config, 'REFERRER_AGENT_MCP_URL')
  const url = new URL(`${mcp.replace(/\/mcp$/, '')}/.well-known/referrer-agent`)
  const options = { timeoutMs: context.timeouts.answer, maxBytes: MAX_MANIFEST_BYTES, isOurs: true }
  const { status, body } = await context.get(url, options).catch(() => ({ status: 0, body: Buffer.of() }))
  const manifest = status === 200 ? Manifest.safeParse(jsonOf(body)).data : undefined
  const key = manifest?.chains.find((entry) => entry.chainId === chainId)?.attestationPubKey
  if (key && /^[0-9a-f]{64}$/.test(key)) return key
  throw new Refused(
    `the marketplace does not tell which key signs the ref links of chain ${chainId}: try again later, or set ATTESTATION_PUB_KEYS`,
  )
}

export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
