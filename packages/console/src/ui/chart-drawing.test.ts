import { describe, expect, it } from 'vitest'
import { BOTTOM, drawBars, drawLine, WIDTH } from './chart-drawing.ts'

const percent = (value: number) => `${value} %`

describe('charts', () => {
  it('say in words what a line shows, and hold a value until the next one', () => {
    const points = [
      { at: '2026-11-01', value: 20 },
      { at: '2026-11-03', value: 10 },
      { at: '2026-11-17', value: 30 },
    ]
    const line = drawLine({ points, isStep: true, format: percent })
    expect(line.summary).toBe('20 % on Nov 1, 2026, 30 % on Nov 17, 2026; lowest 10 %, highest 30 %')
    expect(line.points.map(({ x }) => x)).toEqual([0, WIDTH / 8, WIDTH])
    const [first, second, third] = line.points.map(({ y }) => y)
    expect(line.corners.map(({ y }) => y)).toEqual([first, first, second, second, third])
    expect(drawLine({ points, isStep: false, format: percent }).corners).toHaveLength(3)
  })

  it('stack bars to their sum on their days, and name only whole heights where all figures are whole', () => {
    const bars = [
      { at: '2026-11-16', values: [1, 1] },
      { at: '2026-11-17', values: [0, 1] },
    ]
    const drawing = drawBars({ bars, format: String })
    expect(drawing.summary).toBe('3 in all; the most on Nov 16, 2026: 2')
    expect(drawing.ticks.map(({ text }) => text)).toEqual(['0', '1', '2'])
    const [one, two] = drawing.bars
    expect(two && one && two.left - one.left).toBeCloseTo(drawing.width)
    expect(one?.parts[0]).toEqual({ y: (one?.parts[1]?.y ?? 0) + (one?.parts[1]?.height ?? 0), height: 87 })
    expect(two?.parts).toEqual([
      { y: BOTTOM, height: 0 },
      { y: BOTTOM - 87, height: 87 },
    ])
    expect(
      drawBars({ bars: [{ at: '2026-11-17', values: [0.5] }], format: String }).ticks.length,
    ).toBeGreaterThan(1)
  })

  it('does not stretch few days over the whole width, and takes the days that it is given', () => {
    const bars = [{ at: '2026-11-17', values: [1] }]
    expect(drawBars({ bars, format: String }).width).toBeLessThan(WIDTH / 10)
    const { days } = drawBars({ bars, format: String, from: '2026-01-01', to: '2026-12-31' })
    expect(days[1] - days[0]).toBe(364)
  })

  it('can be empty', () => {
    const empty = [
      drawLine({ points: [], isStep: true, format: String }),
      drawBars({ bars: [], format: String }),
    ]
    for (const drawing of empty) {
      expect(drawing.summary).toBe('no figures yet')
      expect(JSON.stringify(drawing)).not.toContain('null')
    }
  })
})
