const MOST_BPS = 4_000

/** A share in percent that a person typed, in basis points. Undefined: it is none, or too much. */
export function bpsOf(text: string): number | undefined {
  const match = /^\s*(\d{1,2})(?:[.,](\d{1,2}))?\s*%?\s*$/.exec(text)
  if (!match) return undefined
  const bps = Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'))
  return bps <= MOST_BPS ? bps : undefined
}
