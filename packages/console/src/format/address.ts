import { notFound } from '@tanstack/react-router'

/** An id in an address. There is no page at any other text. */
export function idIn(text: string, least: 0 | 1 = 0): number {
  if (!/^(0|[1-9]\d{0,14})$/.test(text) || Number(text) < least) throw notFound()
  return Number(text)
}
