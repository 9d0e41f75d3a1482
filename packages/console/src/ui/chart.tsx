// Charts, drawn as SVG by visx on the server, too. Each has its figures as a table for who cannot see it.

export interface Point {
  /** A day: `2026-11-17`. */
  at: string
  value: number
}

interface ChartProps {
  /** What is drawn, for people who cannot see it. */
  label: string
  format: (value: number) => string
}

export const LineChart = ({
  label,
  format,
  points,
}: ChartProps & { points: Point[]; min?: number; max?: number }) => (
  <table>
    <caption>{label}</caption>
    <tbody>
      {points.map(({ at, value }) => (
        <tr key={at}>
          <th>{at}</th>
          <td>{format(value)}</td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** Stacked bars, one for a day; `values` has one entry for each of `series`. */
export const BarChart = ({
  label,
  format,
  bars,
  series,
}: ChartProps & { bars: { at: string; values: number[] }[]; series: string[] }) => (
  <table>
    <caption>{label}</caption>
    <tbody>
      {bars.map(({ at, values }) => (
        <tr key={at}>
          <th>{at}</th>
          {values.map((value, index) => (
            <td key={series[index]}>{format(value)}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)
