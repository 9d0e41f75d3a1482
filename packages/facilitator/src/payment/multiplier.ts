import { createCache, withTimeout } from '@referrer/process'
import type { Attribution } from '@referrer/protocol'
import { type Chain, type Context, once } from '../context.ts'
import { askRank, type Rank } from '../market/rank.ts'
import { productOf } from './product.ts'

/** Time-out for the rank, after which the multiplier of the link counts. */
const PATIENCE_MS = 300
const RANK_FOR_MS = 30_000
/** A failure is cached too, so that not every payment waits for a marketplace that does not answer. */
const NO_RANK_FOR_MS = 5_000
const MOST_AGENTS = 10_000

const rankOf = once((context) =>
  createCache<{ chain: Chain; agentId: bigint }, Rank | undefined>({
    keyOf: ({ chain, agentId }) => `${chain.chainId}:${agentId}`,
    load: ({ chain, agentId }) => askRank(context, chain, agentId),
    ttlMs: (rank) => (rank ? RANK_FOR_MS : NO_RANK_FOR_MS),
    max: MOST_AGENTS,
    clock: context.clock,
  }),
)

/** The multiplier that the reviewer's rank gives now, or the one that came with the link where that cannot be told in time. */
export async function multiplierNow(
  context: Context,
  chain: Chain,
  { reviewerAgentId, merchantId, productId, commissionMultiplierBps }: Attribution.Attribution,
): Promise<number> {
  if (context.config.marketUrl === undefined) return commissionMultiplierBps
  const now = Promise.all([
    rankOf(context)({ chain, agentId: reviewerAgentId }),
    productOf(context)({ chain, merchantId, productId }),
  ]).then(
    ([rank, { type }]) => rank?.[type],
    () => undefined,
  )
  return (await withTimeout(PATIENCE_MS, now)) ?? commissionMultiplierBps
}
