// Draws what the best attack found brings for each USDC it costs, by the volume of the stars, with and without verified
// shops.
import { type Found, SIZES, VOLUMES } from './report.ts'

const WIDTH = 720
const HEIGHT = 380
const LEFT = 64
const RIGHT = 180
const TOP = 24
const BOTTOM = 52
const INK = '#3b4450'
const GRID = '#dfe3e8'
/** The decades that are shown: a thousandth to ten thousand. */
const LOWEST = -3
const HIGHEST = 4

const x = (at: number) => LEFT + (at / (VOLUMES.length - 1)) * (WIDTH - LEFT - RIGHT)
const y = (ratio: number) => {
  const decade = Math.min(Math.max(Math.log10(ratio), LOWEST), HIGHEST)
  return TOP + ((HIGHEST - decade) / (HIGHEST - LOWEST)) * (HEIGHT - TOP - BOTTOM)
}
const name = (power: number) => (power < 0 ? (10 ** power).toFixed(-power) : String(10 ** power))

type Curve = { label: string; colour: string; found: Found }

export function drawReturns(curves: readonly Curve[]): string {
  const decades = Array.from({ length: HIGHEST - LOWEST + 1 }, (_, at) => LOWEST + at)
  const grid = decades.flatMap((decade) => [
    `<path d="M${LEFT} ${y(10 ** decade).toFixed(1)} H${WIDTH - RIGHT}" stroke="${decade === 0 ? INK : GRID}"/>`,
    `<text x="${LEFT - 8}" y="${(y(10 ** decade) + 4).toFixed(1)}" text-anchor="end">${name(decade)}</text>`,
  ])
  const volumes = VOLUMES.map(
    (volume, at) =>
      `<text x="${x(at).toFixed(1)}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${name(Math.round(Math.log10(Number(volume))) - 6)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="${INK}" role="img">
<title>What the best attack brings for each USDC that it costs, by what the stars sell</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${[...grid, ...volumes, ...curves.flatMap(draw)].join('\n')}
<text x="${WIDTH - RIGHT + 10}" y="${(y(1) + 4).toFixed(1)}">above this line it pays</text>
<text x="${LEFT}" y="${HEIGHT - 12}">commission that the stars sell, in USDC; a line for each number of owners, 1 to 100</text>
</svg>
`
}

/** A line for each size of the ring, and the label beside the last point of the largest. */
function draw({ label, colour, found }: Curve): string[] {
  const lines = found.map((bests, size) => {
    const points = bests.flatMap((best, at) => {
      if (!best || best.cost === 0n) return []
      return `${x(at).toFixed(1)} ${y(Number(best.gain) / Number(best.cost)).toFixed(1)}`
    })
    const opacity = (0.35 + (0.65 * (size + 1)) / SIZES.length).toFixed(2)
    return `<path d="M${points.join(' L')}" fill="none" stroke="${colour}" stroke-width="1.5" opacity="${opacity}"/>`
  })
  const ends = found
    .flatMap((bests) => bests.at(-1) ?? [])
    .map((best) => Number(best.gain) / Number(best.cost))
  const middle = y(10 ** (ends.reduce((sum, ratio) => sum + Math.log10(ratio), 0) / ends.length))
  return [
    ...lines,
    `<text x="${WIDTH - RIGHT + 10}" y="${(middle + 4).toFixed(1)}" fill="${colour}">${label}</text>`,
  ]
}
