/** An exact decimal number: `units` / 10^`scale`. */
export interface Decimal {
  units: bigint
  scale: number
}

const DECIMAL = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/
/** Length limit of a number; no measurement needs more. */
const MOST_CHARACTERS = 400

/** Parses a JSON number; returns undefined when the text is not a number or is too long. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, whole, fraction = '', exponent = '0'] =
    (text.length <= MOST_CHARACTERS && DECIMAL.exec(text)) || []
  if (whole === undefined) return undefined
  const units = BigInt(whole + fraction)
  const scale = fraction.length - Number(exponent)
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale }
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  return { units: unitsAt(a, scale) + unitsAt(b, scale), scale }
}

export const multiply = (a: Decimal, b: Decimal): Decimal => ({
  units: a.units * b.units,
  scale: a.scale + b.scale,
})

/** Negative, zero or positive, as `a` is less than, equal to or more than `b`. */
export function compare(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const [left, right] = [unitsAt(a, scale), unitsAt(b, scale)]
  return left < right ? -1 : left > right ? 1 : 0
}

const unitsAt = ({ units, scale }: Decimal, wanted: number) => units * 10n ** BigInt(wanted - scale)
