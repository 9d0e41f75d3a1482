import { type Product, readKey } from '@referrer/search'

/** The ids of products as columns. */
export const columns = (keys: readonly string[]) => {
  const ids = keys.map(readKey)
  return [ids.map(({ merchantId }) => merchantId), ids.map(({ productId }) => productId)] as const
}

/** What filters compare: the price, or where that is not known what it is at least. */
export const costOf = ({ price, leastPrice }: Product): number => price ?? leastPrice
