import { AttributionToken, RequestSignature } from '@referrer/protocol'
import { z } from 'zod'
import type { Chain, Context } from '../context.ts'

const multiplier = z
  .int()
  .min(AttributionToken.MIN_COMMISSION_MULTIPLIER_BPS)
  .max(AttributionToken.MAX_COMMISSION_MULTIPLIER_BPS)
const ReviewRank = z
  .object({ commission_multiplier_bps: multiplier })
  .transform((rank) => rank.commission_multiplier_bps)
const Answer = z.object({ repeat: ReviewRank, one_off: ReviewRank })

/** An agent's commission multipliers by product type. */
export type Rank = z.output<typeof Answer>

/** Longer than a payment waits for it: a slow answer is cached for later payments. */
const PATIENCE_MS = 3_000

/** Asks the marketplace. Undefined: it could not tell. */
export async function askRank(
  { config: { marketUrl }, fetch, clock, log }: Context,
  { chainId, relayers: [signer] }: Chain,
  agentId: bigint,
): Promise<Rank | undefined> {
  try {
    const signature = await RequestSignature.sign(signer, '', Math.floor(clock() / 1_000))
    const response = await fetch(`${marketUrl}/v1/review-rank/${agentId}?chain_id=${chainId}`, {
      headers: RequestSignature.serialize(signature),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    if (!response.ok) throw new Error(`the marketplace answered with status ${response.status}`)
    return Answer.parse(await response.json())
  } catch (err) {
    log.warn(
      { err, chainId, agentId },
      'the rank of a reviewer cannot be read; the multiplier of the link is used',
    )
    return undefined
  }
}
