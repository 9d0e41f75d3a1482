import type { Tried } from './print.ts'

const WIDTH = 720
const HEIGHT = 400
const LEFT = 60
const RIGHT = 210
const TOP = 24
const BOTTOM = 52
const COLOURS = ['#b3261e', '#e07b00', '#3566c9', '#5f6b7a']

/** Ranks against how many owners help, which grow by powers. */
export function drawGains(lines: readonly Tried[], bound: (k: number) => number): string {
  const sizes = lines[0]?.gains.map(({ k }) => k) ?? []
  const last = Math.log(sizes.at(-1) ?? 1)
  const x = (k: number) => LEFT + (Math.log(k) / last) * (WIDTH - LEFT - RIGHT)
  const y = (rank: number) => TOP + (1 - (rank - 0.4) / 0.6) * (HEIGHT - TOP - BOTTOM)
  const path = (points: readonly (readonly [number, number])[]) =>
    points
      .map(([k, rank], index) => `${index === 0 ? 'M' : 'L'}${x(k).toFixed(1)} ${y(rank).toFixed(1)}`)
      .join(' ')
  const text = (at: readonly [number, number], words: string, more = '') =>
    `<text x="${at[0].toFixed(1)}" y="${at[1].toFixed(1)}" ${more}>${words}</text>`

  const grid = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1].flatMap((rank) => [
    `<path d="M${LEFT} ${y(rank).toFixed(1)} H${WIDTH - RIGHT}" stroke="#dfe3e8"/>`,
    text([LEFT - 8, y(rank) + 4], rank.toFixed(1), 'text-anchor="end"'),
  ])
  const ticks = sizes.map((k) => text([x(k), HEIGHT - BOTTOM + 18], String(k), 'text-anchor="middle"'))
  const limit = path(sizes.map((k) => [k, bound(k)]))
  const curves = lines.flatMap(({ attack, gains }, index) => {
    const colour = COLOURS[index % COLOURS.length]
    const end = gains.at(-1)
    return [
      `<path d="${path(gains.map(({ k, rank }) => [k, rank]))}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...gains.map(
        ({ k, rank }) =>
          `<circle cx="${x(k).toFixed(1)}" cy="${y(rank).toFixed(1)}" r="3" fill="${colour}"/>`,
      ),
      text(
        [WIDTH - RIGHT + 10, y(end?.rank ?? 0.5) + 4 + (index === 1 ? 10 : 0)],
        attack.name,
        `fill="${colour}"`,
      ),
    ]
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" fill="#3b4450" role="img">
<title>Review Rank that a ring reaches, by how many owners help</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
${[...grid, ...ticks].join('\n')}
${text([LEFT, HEIGHT - 12], 'owners who help (powers); a newcomer has 0.5')}
<path d="${limit}" fill="none" stroke="#3b4450" stroke-dasharray="5 4"/>
${text([WIDTH - RIGHT + 10, y(bound(sizes.at(-1) ?? 1)) - 8], 'no ring gets higher')}
${curves.join('\n')}
</svg>
`
}
