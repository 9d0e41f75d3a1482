import type { Tried } from './print.ts'

const WIDTH = 720
const HEIGHT = 400
const LEFT = 48
const RIGHT = 190
const TOP = 24
const BOTTOM = 52
const LINE_HEIGHT = 16
const INK = '#3b4450'
const COLOURS = ['#5f6b7a', '#3566c9', '#b3261e', '#e07b00']
const RANKS = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]

type Point = { k: number; rank: number }
type Curve = { name: string; colour: string; points: Point[]; isBound: boolean }

/** Draws ranks by the number of helping owners, on a logarithmic scale, with the upper bound for any ring. */
export function drawGains(tried: readonly Tried[], bound: (k: number) => number): string {
  const sizes = tried[0]?.gains.map(({ k }) => k) ?? []
  const limit: Curve = {
    name: 'no ring gets higher',
    colour: INK,
    points: sizes.map((k) => ({ k, rank: bound(k) })),
    isBound: true,
  }
  const curves = tried.map(
    ({ attack, gains }, index): Curve => ({
      name: attack.name,
      colour: COLOURS[index % COLOURS.length] ?? INK,
      points: gains,
      isBound: false,
    }),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="${INK}" role="img">
<title>Review Rank that a ring reaches, by how many owners help</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${[...axes(sizes), ...[limit, ...curves].flatMap(draw(sizes)), ...labels([limit, ...curves])].join('\n')}
</svg>
`
}

const x = (k: number, sizes: readonly number[]) =>
  (LEFT + (Math.log(k) / Math.log(sizes.at(-1) ?? Math.E)) * (WIDTH - LEFT - RIGHT)).toFixed(1)
const height = (rank: number) => TOP + (1 - (rank - 0.4) / 0.6) * (HEIGHT - TOP - BOTTOM)
const y = (rank: number) => height(rank).toFixed(1)

const axes = (sizes: readonly number[]) => [
  ...RANKS.flatMap((rank) => [
    `<path d="M${LEFT} ${y(rank)} H${WIDTH - RIGHT}" stroke="#dfe3e8"/>`,
    `<text x="${LEFT - 8}" y="${(height(rank) + 4).toFixed(1)}" text-anchor="end">${rank.toFixed(1)}</text>`,
  ]),
  ...sizes.map(
    (k) => `<text x="${x(k, sizes)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${k}</text>`,
  ),
  `<text x="${LEFT}" y="${HEIGHT - 12}">k owners help; a newcomer has 0.5</text>`,
]

const draw =
  (sizes: readonly number[]) =>
  ({ colour, points, isBound }: Curve) => {
    const places = points.map(({ k, rank }) => ({ x: x(k, sizes), y: y(rank) }))
    const path = places.map((place) => `${place.x} ${place.y}`).join(' L')
    const style = isBound ? 'stroke-dasharray="5 4"' : 'stroke-width="2"'
    const dots = isBound
      ? []
      : places.map((place) => `<circle cx="${place.x}" cy="${place.y}" r="3" fill="${colour}"/>`)
    return [`<path d="M${path}" fill="none" stroke="${colour}" ${style}/>`, ...dots]
  }

/** Labels beside the ends of the curves, moved down where they would overlap. */
function labels(curves: readonly Curve[]): string[] {
  let last = Number.NEGATIVE_INFINITY
  return curves
    .map(({ name, colour, points }) => ({ name, colour, at: height(points.at(-1)?.rank ?? 0.5) + 4 }))
    .sort((a, b) => a.at - b.at)
    .map(({ name, colour, at }) => {
      last = Math.max(at, last + LINE_HEIGHT)
      return `<text x="${WIDTH - RIGHT + 10}" y="${last.toFixed(1)}" fill="${colour}">${name}</text>`
    })
}
