// What a merchant types about a product, as the chain takes it.
import { type Hex, keccak256, stringToBytes } from 'viem'

/**
 * A short name for files, commands and the product's id; empty when the name has neither a letter nor a digit.
 *
 * @example
 * ```ts
 * import { slugOf } from '@referrer/client/chain'
 *
 * slugOf('Jokes of the day') // → 'jokes-of-the-day'
 * ```
 */
export function slugOf(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
}

/**
 * The same name gives the same product, so that listing it twice lists one.
 *
 * @example
 * ```ts
 * import { productIdOf, slugOf } from '@referrer/client/chain'
 *
 * productIdOf(slugOf('Jokes')) === productIdOf('jokes') // → true
 * ```
 */
export function productIdOf(slug: string): Hex {
  return keccak256(stringToBytes(slug))
}

const PERCENT = /^(\d{1,3})(?:\.(\d{1,2}))?\s*%?$/
const ALL_BPS = 10_000

/**
 * A percentage from 0 to 100 with at most two decimals, in basis points; undefined when it is none.
 *
 * @example
 * ```ts
 * import { parsePercent } from '@referrer/client/chain'
 *
 * parsePercent('7.5 %') // → 750
 * ```
 */
export function parsePercent(text: string): number | undefined {
  const [, whole, hundredths = ''] = PERCENT.exec(text.trim()) ?? []
  const bps = whole === undefined ? ALL_BPS + 1 : Number(whole) * 100 + Number(hundredths.padEnd(2, '0'))
  return bps > ALL_BPS ? undefined : bps
}
