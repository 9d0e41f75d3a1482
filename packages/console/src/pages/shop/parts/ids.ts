import { ProductId } from '@referrer/protocol'
import { notFound } from '@tanstack/react-router'
import type { Hex } from 'viem'

/** The id of a merchant from an address; undefined when it is none. Zero is one. */
export const merchantIdOf = (value: unknown): number | undefined => {
  const text = String(value)
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** The id of a product from an address; undefined when it is none. */
export function productIdOf(value: unknown): Hex | undefined {
  try {
    return ProductId.parse(value)
  } catch {
    return undefined
  }
}

/** For loaders: an address with a wrong id has no page. */
export function requireIds(params: { merchantId: string; productId?: string }): void {
  if (merchantIdOf(params.merchantId) === undefined) throw notFound()
  if (params.productId !== undefined && productIdOf(params.productId) === undefined) throw notFound()
}
