// How records are named across nouns.

/** An agent of a chain; it need not exist. */
export type AgentKey = { chainId: number; agentId: bigint }

/** A product of one chain, which is named apart. */
export interface ProductOfChain {
  merchantId: bigint
  productId: Buffer
}

export interface ProductKey extends ProductOfChain {
  chainId: number
}
