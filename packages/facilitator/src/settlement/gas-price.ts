// What gas is worth in USDC, at the prices of the configuration.
import type { Config } from '../config.ts'

export type Prices = Pick<Config, 'gasPriceWei' | 'ethPriceUsd'>

/** Wei in an ether, over base units in a dollar. */
const SCALE = 10n ** 12n

/** In base units, rounded up. */
export const costOf = ({ gasPriceWei, ethPriceUsd }: Prices, gas: bigint): bigint =>
  (gas * gasPriceWei * ethPriceUsd + SCALE - 1n) / SCALE
