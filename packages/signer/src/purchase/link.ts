// The ref link: who signed it, and whether it leads to the marketplace of the configuration.
import { AttestationKey, AttributionToken, RefLink } from '@referrer/protocol'
import { isAddressEqual } from 'viem'
import { z } from 'zod'
import type { Chain, Market } from '../chain/chain.ts'
import { marketUrl, need } from '../config.ts'
import type { Context } from '../context.ts'
import { explain, Refused } from '../refused.ts'

export interface Link {
  token: string
  terms: AttributionToken.Payload
}

const MAX_MANIFEST_BYTES = 256 * 1024
const Manifest = z.object({
  chains: z.array(
    z.object({
      chainId: z.int(),
      attestationPubKey: z.string().optional(),
      /** Those that it signs and has signed with. */
      attestationPubKeys: z.array(z.string()).optional(),
    }),
  ),
})

/** The terms of a link, once they are seen to be signed by the marketplace. */
export async function openLink(context: Context, refLink: string): Promise<Link> {
  const { token } = RefLink.parse(refLink)
  const { kid, chainId } = AttributionToken.decodeUnverified(token)
  const { CHAIN_ID: ours } = need(context.config, 'CHAIN_ID')
  if (chainId !== ours) {
    throw new Refused(`wrong chain: the ref link is for chain ${chainId}, and the signer is set to ${ours}`)
  }
  const keys = context.config.ATTESTATION_PUB_KEYS ?? (await publishedKeys(context, chainId))
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

/** What the marketplace says that it signs with, and with what before. */
async function publishedKeys(context: Context, chainId: number): Promise<string[]> {
  const url = new URL(`${marketUrl(context.config)}/.well-known/referrer-agent`)
  const options = { timeoutMs: context.timeouts.answer, maxBytes: MAX_MANIFEST_BYTES, isOurs: true }
  const { status, body } = await context.get(url, options).catch(() => ({ status: 0, body: Buffer.of() }))
  const manifest = status === 200 ? Manifest.safeParse(jsonOf(body)).data : undefined
  const { attestationPubKey = '', attestationPubKeys = [] } =
    manifest?.chains.find((entry) => entry.chainId === chainId) ?? {}
  const usable = [attestationPubKey, ...attestationPubKeys].filter((key) => /^[0-9a-f]{64}$/.test(key))
  if (usable.length > 0) return usable
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
