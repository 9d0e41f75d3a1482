// What gas is worth in USDC, at the prices of the configuration.
import type { Config } from '../config.ts'

export type Prices = Pick<Config, 'gasPriceWei' | 'ethPriceUsd'>

/** Wei in an ether, over base units in a dollar. */
const SCALE = 10n ** 12n

/** In base units, rounded up. */
export const costOf = ({ gasPriceWei, ethPriceUsd }: Prices, gas: bigint): bigint =>
  (gas * gasPriceWei * ethPriceUsd + SCALE - 1n) / SCALE

/** The gas that so many base units pay for. */
const gasFor = ({ gasPriceWei, ethPriceUsd }: Prices, units: bigint): bigint =>
  (units * SCALE) / (gasPriceWei * ethPriceUsd)

/** Of the gas that a fee pays for, one half is trust of its payer, and the other of the code that the payer runs. */
const TRUSTED = 2n
/** Where gas costs next to nothing, a fee pays for more of it than a column can hold; nobody needs more trust than this. */
const MOST_TRUST = 1_000_000_000_000n

export function trustFor(prices: Prices, fee: bigint): bigint {
  const trust = gasFor(prices, fee) / TRUSTED
  return trust < MOST_TRUST ? trust : MOST_TRUST
}
