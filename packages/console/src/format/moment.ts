const STEPS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** `3 days ago`, `in 2 hours`. */
export function ago(moment: string, nowMs: number): string {
  const seconds = (Date.parse(moment) - nowMs) / 1_000
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit)
  }
  // The time that pages go by is up to ten seconds behind.
  return seconds > 10 ? 'in a moment' : 'just now'
}

const DAY = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
const FULL = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** `17 Nov 2026`, in UTC: the same for the server and every browser. */
export const day = (moment: string | number): string => DAY.format(new Date(moment))
export const full = (moment: string | number): string => `${FULL.format(new Date(moment))} UTC`
