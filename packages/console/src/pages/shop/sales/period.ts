// The days that the chart shows.
const DAY_MS = 86_400_000

export const PERIODS = [30, 90, 365] as const
export type Period = (typeof PERIODS)[number]

export const periodOf = (value: unknown): Period => PERIODS.find((days) => days === Number(value)) ?? 30

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** When the first day begins, in UTC; the last one is today. */
export const beginOf = (period: Period, nowMs: number): string =>
  `${dayOf(nowMs - (period - 1) * DAY_MS)}T00:00:00Z`

export interface DayOfSales {
  day: string
  net_usdc: number
  commission_usdc: number
}

/** One bar for each day, also for those without a sale; a year is shown by weeks, because 365 bars cannot be told apart. */
export function barsOf(days: readonly DayOfSales[], period: Period, nowMs: number) {
  const length = period === 365 ? 7 : 1
  const end = Date.parse(dayOf(nowMs))
  const bars = Array.from({ length: Math.ceil(period / length) }, (_, index) => ({
    at: dayOf(end - (index * length + length - 1) * DAY_MS),
    values: [0, 0] as [number, number],
  })).reverse()
  for (const { day, net_usdc, commission_usdc } of days) {
    const ago = Math.floor((end - Date.parse(day)) / DAY_MS / length)
    const bar = bars.at(-1 - ago)
    if (ago < 0 || !bar) continue
    bar.values[0] += net_usdc
    bar.values[1] += commission_usdc
  }
  return bars
}
