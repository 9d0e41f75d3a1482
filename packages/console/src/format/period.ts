// The days that a chart shows.
const DAY_MS = 86_400_000

export const PERIODS = [30, 90, 365] as const
export type Period = (typeof PERIODS)[number]

export const periodOf = (value: unknown): Period => PERIODS.find((days) => days === Number(value)) ?? 30

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** The first day and today, in UTC. */
export const daysOf = (period: Period, nowMs: number): { from: string; to: string } => ({
  from: dayOf(nowMs - (period - 1) * DAY_MS),
  to: dayOf(nowMs),
})
