// Charts, drawn as SVG by visx on the server, too. Each has its figures as a table for who cannot see it.
import { Area, Bar, LinePath } from '@visx/shape'
import type { ReactNode } from 'react'
import { day } from '../format/moment.ts'
import {
  BOTTOM,
  type Drawing,
  dateOf,
  drawBars,
  drawLine,
  HEIGHT,
  type Point,
  WIDTH,
} from './chart-drawing.ts'

export type { Point } from './chart-drawing.ts'

interface ChartProps {
  /** What is drawn, for people who cannot see it. */
  label: string
  format: (value: number) => string
  /** The first and last day of the axis, where other days than those of the figures are wanted. */
  from?: string
  to?: string
}

/** A line from day to day; with `isStep` a value holds until the next one. */
export function LineChart({
  label,
  isStep = false,
  ...line
}: ChartProps & { points: Point[]; min?: number; max?: number; isStep?: boolean }) {
  const drawing = drawLine({ ...line, isStep })
  const { format } = line
  return (
    <Frame
      label={label}
      drawing={drawing}
      table={{ series: [label], rows: line.points.map(({ at, value }) => [day(at), format(value)]) }}
    >
      <Area
        data={drawing.corners}
        x={(point) => point.x}
        y0={BOTTOM}
        y1={(point) => point.y}
        className="chart-area"
      />
      <LinePath data={drawing.corners} x={(point) => point.x} y={(point) => point.y} className="chart-line" />
      {drawing.points.map(({ at, value, x, y, left, right }) => (
        <g key={at} className="chart-at">
          <title>{`${day(at)}: ${format(value)}`}</title>
          <Bar x={left} y={0} width={right - left} height={BOTTOM} />
          <path d={`M${x} ${y}h.01`} className="chart-dot" />
        </g>
      ))}
    </Frame>
  )
}

/** Stacked bars, one for a day; `values` has one entry for each of `series`. */
export function BarChart({
  label,
  series,
  ...chart
}: ChartProps & { bars: { at: string; values: number[] }[]; series: string[] }) {
  const drawing = drawBars(chart)
  const { bars, format } = chart
  const { width } = drawing
  const wordsOf = (values: number[]) =>
    values
      .map((value, part) => (series.length > 1 ? `${series[part]} ${format(value)}` : format(value)))
      .join(', ')
  return (
    <Frame
      label={label}
      drawing={drawing}
      series={series}
      table={{ series, rows: bars.map(({ at, values }) => [day(at), ...values.map(format)]) }}
    >
      {drawing.bars.map(({ at, left, parts }, index) => (
        <g key={at} className="chart-at">
          <title>{`${day(at)}: ${wordsOf(bars[index]?.values ?? [])}`}</title>
          <Bar x={left} y={0} width={width} height={BOTTOM} />
          {parts.map(({ y, height }, part) => (
            <Bar
              key={series[part]}
              className={`chart-bar chart-${part + 1}`}
              x={left + width * 0.12}
              y={y}
              width={width * 0.76}
              height={height}
            />
          ))}
        </g>
      ))}
    </Frame>
  )
}

/** Digits are the widest of what stands there. */
const DIGIT_WIDTH = 7.2

const widthOf = (ticks: Drawing['ticks']): number =>
  Math.ceil(DIGIT_WIDTH * Math.max(1, ...ticks.map(({ text }) => text.length)))

/** As high as a chart: nothing moves when it comes. */
export const ChartSkeleton = () => <div className="skeleton chart-waiting" aria-hidden="true" />

interface FrameProps {
  label: string
  drawing: Drawing
  series?: string[]
  table: { series: string[]; rows: string[][] }
  children: ReactNode
}

const Frame = ({
  label,
  drawing: {
    summary,
    days: [first, last],
    ticks,
  },
  series = [],
  table,
  children,
}: FrameProps) => (
  <figure className="chart">
    <div className="chart-row">
      <svg className="chart-scale" width={widthOf(ticks)} height={HEIGHT} aria-hidden="true">
        {ticks.map(({ y, text }) => (
          <text key={y} x="100%" y={y + 4} textAnchor="end" className="chart-text">
            {text}
          </text>
        ))}
      </svg>
      <svg className="chart-plot" height={HEIGHT} role="img" aria-label={`${label}: ${summary}.`}>
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
        <text x="0" y={HEIGHT - 4} className="chart-text">
          {dateOf(first)}
        </text>
        <text x="50%" y={HEIGHT - 4} textAnchor="middle" className="chart-text chart-middle">
          {dateOf(Math.round((first + last) / 2))}
        </text>
        <text x="100%" y={HEIGHT - 4} textAnchor="end" className="chart-text">
          {dateOf(last)}
        </text>
      </svg>
    </div>
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
