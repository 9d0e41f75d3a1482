// Where the lines and bars of a chart are, and what it shows in words.
import { scaleLinear } from '@visx/scale'
import { day } from '../format/moment.ts'

export interface Point {
  /** A day: `2026-11-17`. */
  at: string
  value: number
}

export interface Bar {
  at: string
  values: number[]
}

interface Axis {
  format: (value: number) => string
  /** The first and last day of the axis, where other days than those of the figures are wanted. */
  from?: string | undefined
  to?: string | undefined
}

/** The plot is stretched to the width of the page; lines and text are not. */
export const WIDTH = 1_000
export const HEIGHT = 208
export const BOTTOM = 184
const TOP = 10
const TICKS = 3
const FEWEST_DAYS = 14
const DAY_MS = 86_400_000

const dayNumber = (at: string): number => Math.floor(Date.parse(at) / DAY_MS)
export const dateOf = (number: number): string => day(number * DAY_MS)

export interface Drawing {
  /** First and last day, counted from 1970. */
  days: [first: number, last: number]
  ticks: { y: number; text: string }[]
  summary: string
}

/** First and last day; few days are not stretched over the whole width. */
function daysOf(days: string[], from = days[0], to = days.at(-1)): [number, number] {
  if (from === undefined || to === undefined) return [0, FEWEST_DAYS]
  const last = dayNumber(to)
  return [Math.min(dayNumber(from), last - FEWEST_DAYS), last]
}

function heights(min: number, max: number, format: Axis['format'], isWhole: boolean) {
  const y = scaleLinear<number>({
    domain: [min, max > min ? max : min + 1],
    range: [BOTTOM, TOP],
    nice: TICKS,
  })
  const values = y.ticks(TICKS).filter((value) => !isWhole || Number.isInteger(value))
  return { y, ticks: values.map((value) => ({ y: y(value), text: format(value) })) }
}

export interface Placed extends Point {
  x: number
  y: number
  /** The part of the width in which it is the nearest. */
  left: number
  right: number
}

interface Line extends Axis {
  points: Point[]
  min?: number | undefined
  max?: number | undefined
  /** A value holds until the next one. */
  isStep: boolean
}

export interface LineDrawing extends Drawing {
  points: Placed[]
  corners: { x: number; y: number }[]
}

export function drawLine({ points, min, max, isStep, format, from, to }: Line): LineDrawing {
  const values = points.map(({ value }) => value)
  const days = daysOf(
    points.map(({ at }) => at),
    from,
    to,
  )
  const x = scaleLinear<number>({ domain: days, range: [0, WIDTH] })
  const { y, ticks } = heights(min ?? Math.min(0, ...values), max ?? Math.max(0, ...values), format, false)
  const xs = points.map(({ at }) => x(dayNumber(at)))
  const placed = points.map((point, index): Placed => {
    const here = xs[index] as number
    const before = xs[index - 1] ?? here - WIDTH / 20
    const after = xs[index + 1] ?? here + WIDTH / 20
    return { ...point, x: here, y: y(point.value), left: (before + here) / 2, right: (here + after) / 2 }
  })
  const [begin, end] = [points[0], points.at(-1)]
  return {
    days,
    ticks,
    points: placed,
    corners: isStep ? steps(placed) : placed,
    summary:
      begin && end
        ? `${format(begin.value)} on ${day(begin.at)}, ${format(end.value)} on ${day(end.at)}; lowest ${format(Math.min(...values))}, highest ${format(Math.max(...values))}`
        : 'no figures yet',
  }
}

/** The corners of a line whose values hold until the next one. */
const steps = (placed: Placed[]): { x: number; y: number }[] =>
  placed.flatMap((point, index) => {
    const before = placed[index - 1]
    return before ? [{ x: point.x, y: before.y }, point] : [point]
  })

export interface BarsDrawing extends Drawing {
  /** Of one day. */
  width: number
  bars: { at: string; left: number; parts: { y: number; height: number }[] }[]
}

export function drawBars({ bars, format, from, to }: Axis & { bars: Bar[] }): BarsDrawing {
  const totals = bars.map(({ values }) => sum(values))
  const highest = Math.max(0, ...totals)
  const [first, last] = daysOf(
    bars.map(({ at }) => at),
    from,
    to,
  )
  const x = scaleLinear<number>({ domain: [first, last + 1], range: [0, WIDTH] })
  const { y, ticks } = heights(0, highest, format, totals.every(Number.isInteger))
  const best = bars[totals.indexOf(highest)]
  return {
    days: [first, last],
    ticks,
    width: WIDTH / (last + 1 - first),
    bars: bars.map(({ at, values }) => ({
      at,
      left: x(dayNumber(at)),
      parts: values.map((value, part) => {
        const below = sum(values.slice(0, part))
        return { y: y(below + value), height: Math.max(0, y(below) - y(below + value)) }
      }),
    })),
    summary: best
      ? `${format(sum(totals))} in all; the most on ${day(best.at)}: ${format(highest)}`
      : 'no figures yet',
  }
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)
