const DECIMALS = 6

/** USDC base units as decimal text: at least two places, and no digit is lost. `1234567` → `1.234567`, `2500000` → `2.50`. */
export function formatUsdc(baseUnits: number | bigint): string {
  const amount = BigInt(baseUnits)
  const digits = String(amount < 0n ? -amount : amount).padStart(DECIMALS + 1, '0')
  const whole = BigInt(digits.slice(0, -DECIMALS)).toLocaleString('en')
  const places = digits.slice(-DECIMALS).replace(/0{1,4}$/, '')
  return `${amount < 0n ? '−' : ''}${whole}.${places}`
}

/** As wide as a digit. */
const FIGURE_SPACE = '\u2007'

const placesOf = (text: string): number => text.length - text.indexOf('.')

/** For a column that ends at the right: places that another amount of it has are left free, so that the points are below each other. */
export function alignedUsdc(baseUnits: number | bigint, column: readonly (number | bigint)[]): string {
  const text = formatUsdc(baseUnits)
  const most = Math.max(...column.map((other) => placesOf(formatUsdc(other))))
  return text + FIGURE_SPACE.repeat(Math.max(0, most - placesOf(text)))
}

/** What a person typed as USDC, in base units. Undefined: it is not an amount. */
export function parseUsdc(text: string): bigint | undefined {
  const match = /^\s*(\d{1,12})(?:\.(\d{0,6}))?\s*$/.exec(text)
  if (!match) return undefined
  return BigInt(match[1] as string) * 1_000_000n + BigInt((match[2] ?? '').padEnd(DECIMALS, '0'))
}

export const formatUnits = (baseUnits: number | bigint): string => BigInt(baseUnits).toLocaleString('en')

/** Basis points as percent: `1250` → `12.5 %`. */
export const formatBps = (bps: number): string =>
  `${(bps / 100).toLocaleString('en', { maximumFractionDigits: 2 })} %`
