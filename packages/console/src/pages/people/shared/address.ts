import { notFound } from '@tanstack/react-router'

/** An id in an address. There is no page at any other text. */
export function idIn(text: string, least: 0 | 1 = 0): number {
  if (!/^(0|[1-9]\d{0,14})$/.test(text) || Number(text) < least) throw notFound()
  return Number(text)
}

const MOST_PAGES = 10_000

/** A page number in an address; anything else is the first page, which is left out of the address. */
export const pageIn = (given: unknown): number | undefined =>
  typeof given === 'number' && Number.isInteger(given) && given > 1 && given <= MOST_PAGES ? given : undefined

/** An object without its fields that are undefined. */
export const present = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
