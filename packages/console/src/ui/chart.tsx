// Charts, drawn as SVG by visx on the server, too. Each has its figures as a table for who cannot see it.
import { scaleLinear } from '@visx/scale'
import { Area, Bar, LinePath } from '@visx/shape'
import type { ReactNode } from 'react'
import { day } from '../format/moment.ts'

export interface Point {
  /** A day: `2026-11-17`. */
  at: string
  value: number
}

interface ChartProps {
  /** What is drawn, for people who cannot see it. */
  label: string
  format: (value: number) => string
  /** The first and last day of the axis, where other days than those of the figures are wanted. */
  from?: string
  to?: string
}

/** The plot is stretched to the width of the page; lines and text are not. */
const WIDTH = 1_000
/** Where the first day is: left of it are the names of the heights. */
const LEFT = 80
const HEIGHT = 208
const TOP = 22
const BOTTOM = 184
const TICKS = 3
const FEWEST_DAYS = 14
const DAY_MS = 86_400_000

const dayNumber = (at: string): number => Math.floor(Date.parse(at) / DAY_MS)
const dateOf = (number: number): string => day(number * DAY_MS)

/** First and last day; few days are not stretched over the whole width. */
function daysOf(days: string[], from = days[0], to = days.at(-1)): [number, number] {
  if (from === undefined || to === undefined) return [0, FEWEST_DAYS]
  const last = dayNumber(to)
  return [Math.min(dayNumber(from), last - FEWEST_DAYS), last]
}

const heights = (min: number, max: number) =>
  scaleLinear<number>({ domain: [min, max > min ? max : min + 1], range: [BOTTOM, TOP], nice: TICKS })

/** A line from day to day; with `isStep` a value holds until the next one. */
export function LineChart({
  label,
  format,
  points,
  min,
  max,
  isStep = false,
  from,
  to,
}: ChartProps & { points: Point[]; min?: number; max?: number; isStep?: boolean }) {
  const values = points.map(({ value }) => value)
  const [first, last] = daysOf(
    points.map(({ at }) => at),
    from,
    to,
  )
  const x = scaleLinear<number>({ domain: [first, last], range: [LEFT, WIDTH] })
  const y = heights(min ?? Math.min(0, ...values), max ?? Math.max(0, ...values))
  const placed = points.map(({ at, value }) => ({ at, value, x: x(dayNumber(at)), y: y(value) }))
  const drawn = isStep ? steps(placed) : placed
  const [begin, end] = [points[0], points.at(-1)]
  const summary =
    begin && end
      ? `${format(begin.value)} on ${day(begin.at)}, ${format(end.value)} on ${day(end.at)}; lowest ${format(Math.min(...values))}, highest ${format(Math.max(...values))}`
      : 'no figures yet'
  return (
    <Frame
      label={label}
      summary={summary}
      days={[first, last]}
      ticks={y.ticks(TICKS).map((value) => ({ y: y(value), text: format(value) }))}
      table={{ series: [label], rows: points.map(({ at, value }) => [day(at), format(value)]) }}
    >
      <Area data={drawn} x={(point) => point.x} y0={BOTTOM} y1={(point) => point.y} className="chart-area" />
      <LinePath data={drawn} x={(point) => point.x} y={(point) => point.y} className="chart-line" />
      {placed.map((point, index) => {
        const before = placed[index - 1]?.x ?? point.x - WIDTH / 20
        const after = placed[index + 1]?.x ?? point.x + WIDTH / 20
        const left = (before + point.x) / 2
        return (
          <g key={point.at} className="chart-at">
            <title>{`${day(point.at)}: ${format(point.value)}`}</title>
            <Bar x={left} y={0} width={(point.x + after) / 2 - left} height={BOTTOM} />
            <path d={`M${point.x} ${point.y}h.01`} className="chart-dot" />
          </g>
        )
      })}
    </Frame>
  )
}

/** The corners of a line whose values hold until the next one. */
const steps = (placed: { x: number; y: number }[]): { x: number; y: number }[] =>
  placed.flatMap((point, index) => {
    const before = placed[index - 1]
    return before ? [{ x: point.x, y: before.y }, point] : [point]
  })

/** Stacked bars, one for a day; `values` has one entry for each of `series`. */
export function BarChart({
  label,
  format,
  bars,
  series,
  from,
  to,
}: ChartProps & { bars: { at: string; values: number[] }[]; series: string[] }) {
  const totals = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const [first, last] = daysOf(
    bars.map(({ at }) => at),
    from,
    to,
  )
  const x = scaleLinear<number>({ domain: [first, last + 1], range: [LEFT, WIDTH] })
  const y = heights(0, Math.max(0, ...totals))
  const width = (WIDTH - LEFT) / (last + 1 - first)
  const highest = Math.max(0, ...totals)
  const isWhole = totals.every(Number.isInteger)
  const best = bars[totals.indexOf(highest)]
  const summary = best
    ? `${format(totals.reduce((sum, value) => sum + value, 0))} in all; the most on ${day(best.at)}: ${format(highest)}`
    : 'no figures yet'
  return (
    <Frame
      label={label}
      summary={summary}
      days={[first, last]}
      ticks={(isWhole ? y.ticks(TICKS).filter(Number.isInteger) : y.ticks(TICKS)).map((value) => ({
        y: y(value),
        text: format(value),
      }))}
      series={series}
      table={{ series, rows: bars.map(({ at, values }) => [day(at), ...values.map(format)]) }}
    >
      {bars.map(({ at, values }) => {
        const left = x(dayNumber(at))
        let below = 0
        return (
          <g key={at} className="chart-at">
            <title>
              {`${day(at)}: ${values.map((value, part) => (series.length > 1 ? `${series[part]} ${format(value)}` : format(value))).join(', ')}`}
            </title>
            <Bar x={left} y={0} width={width} height={BOTTOM} />
            {values.map((value, part) => {
              const bottom = y(below)
              below += value
              return (
                <Bar
                  key={series[part]}
                  className={`chart-bar chart-${part + 1}`}
                  x={left + width * 0.12}
                  y={y(below)}
                  width={width * 0.76}
                  height={Math.max(0, bottom - y(below))}
                />
              )
            })}
          </g>
        )
      })}
    </Frame>
  )
}

interface FrameProps {
  label: string
  summary: string
  days: [first: number, last: number]
  ticks: { y: number; text: string }[]
  series?: string[]
  table: { series: string[]; rows: string[][] }
  children: ReactNode
}

const Frame = ({ label, summary, days: [first, last], ticks, series = [], table, children }: FrameProps) => (
  <figure className="chart">
    <svg width="100%" height={HEIGHT} role="img" aria-label={`${label}: ${summary}.`}>
      {ticks.map(({ y }) => (
        <line key={y} x1="0" x2="100%" y1={y} y2={y} className="chart-grid" />
      ))}
      <svg
        width="100%"
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {children}
      </svg>
      {ticks.map(({ y, text }) => (
        <text key={y} x="0" y={y - 5} className="chart-text">
          {text}
        </text>
      ))}
      <text x={`${(100 * LEFT) / WIDTH}%`} y={HEIGHT - 4} className="chart-text">
        {dateOf(first)}
      </text>
      <text
        x={`${(50 * (LEFT + WIDTH)) / WIDTH}%`}
        y={HEIGHT - 4}
        textAnchor="middle"
        className="chart-text chart-middle"
      >
        {dateOf(Math.round((first + last) / 2))}
      </text>
      <text x="100%" y={HEIGHT - 4} textAnchor="end" className="chart-text">
        {dateOf(last)}
      </text>
    </svg>
    {series.length > 1 && (
      <ul className="chart-legend">
        {series.map((name, index) => (
          <li key={name}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect width="10" height="10" rx="2" className={`chart-${index + 1}`} />
            </svg>
            {name}
          </li>
        ))}
      </ul>
    )}
    <details className="chart-figures">
      <summary>Figures as a table</summary>
      <div className="table-frame">
        <table>
          <caption className="hidden-text">{label}</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {table.series.map((name) => (
                <th scope="col" key={name} className="amount">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map(([at, ...cells]) => (
              <tr key={at}>
                <th scope="row">{at}</th>
                {cells.map((cell, index) => (
                  <td key={table.series[index]} className="amount number">
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  </figure>
)
