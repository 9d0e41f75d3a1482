// Keys of records that several folders of the market use.

/** Key of an agent. The agent need not exist. */
export type AgentKey = { chainId: number; agentId: bigint }

/** Key of a product where the chain is known from elsewhere. */
export interface ProductOfChain {
  merchantId: bigint
  productId: Buffer
}

export interface ProductKey extends ProductOfChain {
  chainId: number
}
