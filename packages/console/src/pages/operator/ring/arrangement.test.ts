import { describe, expect, it } from 'vitest'
import { arrangement } from './arrangement.ts'

describe('the drawing of a ring', () => {
  it('has one line for each pair, thicker the more votes went between them', () => {
    const { nodes, lines } = arrangement(
      ['a', 'b', 'c'],
      [
        { voter: 'a', author: 'b', votes: 3 },
        { voter: 'b', author: 'a', votes: 3 },
        { voter: 'b', author: 'c', votes: 3 },
        { voter: 'x', author: 'a', votes: 9 },
      ],
    )
    expect(nodes.map(({ number }) => number)).toEqual([1, 2, 3])
    expect(lines.map(({ key, strength }) => [key, strength])).toEqual([
      ['1-2', 6],
      ['2-3', 3.5],
    ])
  })

  it('begins at the top, stays inside, and shows forty members at most', () => {
    const { size, radius, nodes } = arrangement(
      Array.from({ length: 50 }, (_, index) => String(index)),
      [],
    )
    expect(nodes).toHaveLength(40)
    expect(nodes[0]?.x).toBe(size / 2)
    for (const { x, y } of nodes) {
      for (const place of [x, y]) {
        expect(place - radius).toBeGreaterThanOrEqual(0)
        expect(place + radius).toBeLessThanOrEqual(size)
      }
    }
  })
})
