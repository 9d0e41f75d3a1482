const DURATION = /^([1-9]\d{0,5})([mhdw])$/
const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** The length of `30m`, `12h`, `3d` or `2w`; undefined for any other text. */
export function durationMs(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? []
  return (unit && Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]) || undefined
}
