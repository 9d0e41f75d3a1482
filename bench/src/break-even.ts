// From which price on a payment is worth its gas, in USDC base units, for what gas and ETH may cost.

export const GWEI_PER_GAS = ['0.001', '0.005', '0.01', '0.05', '0.1'] as const
export const USD_PER_ETH = [2_000n, 3_000n, 3_500n, 4_000n, 5_000n] as const

/** Of the price, in millionths: 10 % commission × multiplier 0.65, of which 10 % is our fee. */
const FEE_MILLIONTHS = 6_500n
const MILLION = 1_000_000n
const WEI_PER_ETH = 10n ** 18n

/** What gas costs, rounded up. */
export function costOf(gas: bigint, gweiPerGas: string, usdPerEth: bigint): bigint {
  const [whole = '0', fraction = ''] = gweiPerGas.split('.')
  const weiPerGas = BigInt(whole + fraction.padEnd(9, '0'))
  return divideUp(gas * weiPerGas * usdPerEth * MILLION, WEI_PER_ETH)
}

/** The price whose fee alone pays for the gas. */
export const priceByFee = (cost: bigint): bigint => divideUp(cost * MILLION, FEE_MILLIONTHS)

const divideUp = (amount: bigint, by: bigint) => (amount + by - 1n) / by

/** A row for each price of gas, a column for each price of ETH. */
export function breakEven(gas: bigint, worth: (cost: bigint) => bigint): Record<string, string>[] {
  return GWEI_PER_GAS.map((gwei) => ({
    'gwei a gas': gwei,
    ...Object.fromEntries(
      USD_PER_ETH.map((usd) => [
        `ETH at ${usd.toLocaleString('en')}`,
        worth(costOf(gas, gwei, usd)).toLocaleString('en'),
      ]),
    ),
  }))
}
