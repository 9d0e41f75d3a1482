// What stands in addresses.
import { notFound } from '@tanstack/react-router'

/** A number in an address; anything else is no page. */
export function idIn(text: string): number {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text) || !Number.isSafeInteger(Number(text))) throw notFound()
  return Number(text)
}

/** A page number in an address; the first one is left out. */
export function pageIn(value: unknown): { page?: number } {
  const page = Number(value)
  return Number.isSafeInteger(page) && page > 1 ? { page } : {}
}

/** A number in the query of an address, when there is one. */
export function numberIn<K extends string>(name: K, value: unknown): { [N in K]?: number } {
  const number = typeof value === 'number' || (typeof value === 'string' && value !== '') ? Number(value) : -1
  return (Number.isSafeInteger(number) && number >= 0 ? { [name]: number } : {}) as { [N in K]?: number }
}
