import { type Product, readKey } from '@referrer/search'

/** The ids of products as columns for `unnest`. */
export const columns = (keys: readonly string[]) => {
  const ids = keys.map(readKey)
  return [ids.map(({ merchantId }) => merchantId), ids.map(({ productId }) => productId)] as const
}

/** The value that price filters compare: the price or, if unknown, the lowest possible price. */
export const costOf = ({ price, leastPrice }: Product): number => price ?? leastPrice
