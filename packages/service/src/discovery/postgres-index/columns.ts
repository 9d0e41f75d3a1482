import { readKey } from '@referrer/search'

/** The ids of products as columns for `unnest`. */
export const columns = (keys: readonly string[]) => {
  const ids = keys.map(readKey)
  return [ids.map(({ merchantId }) => merchantId), ids.map(({ productId }) => productId)] as const
}

/** An array of integers as Postgres reads it, for an array of arrays in `unnest`. */
export const integers = (numbers: readonly number[]): string => `{${numbers.join()}}`
