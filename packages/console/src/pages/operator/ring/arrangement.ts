export interface Point {
  x: number
  y: number
}

export interface Line {
  key: string
  from: Point
  to: Point
  strength: number
}

const SIZE = 400
/** A circle with more members cannot be read. */
const MOST_MEMBERS = 40
const [THINNEST, THICKEST] = [1, 6]
const round = (value: number) => Math.round(value * 10) / 10

/** Places members on a circle, beginning at the top, and draws a line between those of whom one voted for the other. */
export function arrangement(
  owners: readonly string[],
  pairs: readonly { voter: string; author: string; votes: number }[],
) {
  const shown = owners.slice(0, MOST_MEMBERS)
  const radius = shown.length > 20 ? 11 : 15
  const distance = SIZE / 2 - radius - 4
  const nodes = shown.map((name, index) => {
    const angle = (2 * Math.PI * index) / shown.length - Math.PI / 2
    return {
      name,
      number: index + 1,
      x: round(SIZE / 2 + distance * Math.cos(angle)),
      y: round(SIZE / 2 + distance * Math.sin(angle)),
    }
  })
  const placeOf = new Map(nodes.map((node) => [node.name, node]))
  const sums = new Map<string, { from: Point; to: Point; votes: number }>()
  for (const { voter, author, votes } of pairs) {
    const [from, to] = [placeOf.get(voter), placeOf.get(author)]
    if (!from || !to) continue
    const key = [from.number, to.number].sort((a, b) => a - b).join('-')
    const known = sums.get(key)
    sums.set(key, { from, to, votes: (known?.votes ?? 0) + votes })
  }
  const most = Math.max(1, ...[...sums.values()].map(({ votes }) => votes))
  const lines = [...sums].map(
    ([key, { from, to, votes }]): Line => ({
      key,
      from,
      to,
      strength: round(THINNEST + ((THICKEST - THINNEST) * votes) / most),
    }),
  )
  return { size: SIZE, radius, nodes, lines }
}
