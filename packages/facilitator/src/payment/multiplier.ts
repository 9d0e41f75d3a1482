import { readContract } from '@referrer/chain'
import type { Attribution } from '@referrer/protocol'
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Chain, type Context, once } from '../context.ts'
import { askRank, type Rank } from '../market/rank.ts'
import { remember } from '../remember.ts'
import { within } from '../within.ts'

/** No payment waits longer to learn it. */
const PATIENCE_MS = 300
const RANK_FOR_MS = 30_000
/** While the marketplace does not answer, not every payment has to wait for it. */
const NO_RANK_FOR_MS = 5_000
const PRODUCT_FOR_MS = 300_000
const MOST_AGENTS = 10_000
const MOST_PRODUCTS = 10_000

interface Product {
  chain: Chain
  merchantId: bigint
  productId: Attribution.Attribution['productId']
}

const rankOf = once((context) =>
  remember<{ chain: Chain; agentId: bigint }, Rank | undefined>({
    keyOf: ({ chain, agentId }) => `${chain.chainId}:${agentId}`,
    ask: ({ chain, agentId }) => askRank(context, chain, agentId),
    forMs: (rank) => (rank ? RANK_FOR_MS : NO_RANK_FOR_MS),
    most: MOST_AGENTS,
    clock: context.clock,
  }),
)

const productTypeOf = once(({ clock }) =>
  remember<Product, keyof Rank>({
    keyOf: ({ chain, merchantId, productId }) => `${chain.chainId}:${merchantId}:${productId}`,
    ask: async ({ chain, merchantId, productId }) => {
      const product = await readContract(chain, {
        address: chain.contracts.MerchantRegistry,
        abi: merchantRegistryAbi,
        functionName: 'getProduct',
        args: [merchantId, productId],
      })
      if (!product.listed) throw new Error('a product that is not listed has no type yet')
      return product.productType === 0 ? 'repeat' : 'one_off'
    },
    forMs: () => PRODUCT_FOR_MS,
    most: MOST_PRODUCTS,
    clock,
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
    productTypeOf(context)({ chain, merchantId, productId }),
  ]).then(
    ([rank, type]) => rank?.[type],
    () => undefined,
  )
  return (await within(PATIENCE_MS, now)) ?? commissionMultiplierBps
}
