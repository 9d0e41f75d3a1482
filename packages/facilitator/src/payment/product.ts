// The terms of a product, read from the chain and cached: thousands of payments need the same.
import { readContract } from '@referrer/chain'
import { createCache } from '@referrer/process'
import type { Attribution } from '@referrer/protocol'
import { merchantRegistryAbi } from '@referrer/protocol/abi'
import { type Chain, once } from '../context.ts'

export interface Product {
  type: 'repeat' | 'one_off'
  commissionBps: number
}

interface Question {
  chain: Chain
  merchantId: bigint
  productId: Attribution.Attribution['productId']
}

const PRODUCT_FOR_MS = 300_000
const MOST_PRODUCTS = 10_000

/** Fails when the product is not listed. */
export const productOf = once(({ clock }) =>
  createCache<Question, Product>({
    keyOf: ({ chain, merchantId, productId }) => `${chain.chainId}:${merchantId}:${productId}`,
    load: readProduct,
    ttlMs: () => PRODUCT_FOR_MS,
    max: MOST_PRODUCTS,
    clock,
  }),
)

export async function readProduct({ chain, merchantId, productId }: Question): Promise<Product> {
  const product = await readContract(chain, {
    address: chain.contracts.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'getProduct',
    args: [merchantId, productId],
  })
  if (!product.listed) throw new Error('the product is not listed')
  return {
    type: product.productType === 0 ? 'repeat' : 'one_off',
    commissionBps: product.commissionBps,
  }
}
