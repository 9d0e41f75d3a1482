import { afterEach, describe, expect, it } from 'vitest'
import { openPainter, type Painter, PainterBusy } from './painter.ts'

const thread = new URL('./painter.fixture.ts', import.meta.url)
let painter: Painter
afterEach(() => painter.close())

describe('a picture', () => {
  it('that takes too long fails alone, and those that waited for it are painted', async () => {
    painter = openPainter({ mostWaiting: 10, timeoutMs: 1_000, thread })
    const pictures = ['first', 'endless', 'second', 'endless', 'third'].map((svg) => painter.paint(svg))
    const told = (await Promise.allSettled(pictures)).map((picture) =>
      picture.status === 'fulfilled' ? String(picture.value) : picture.reason,
    )
    const late = new PainterBusy('a picture took longer than 1000 ms')
    expect(told).toEqual(['first', late, 'second', late, 'third'])
  })

  it('is refused while too many wait', async () => {
    painter = openPainter({ mostWaiting: 1, thread })
    const first = painter.paint('first')
    const second = painter.paint('second')
    expect(() => painter.paint('third')).toThrow(PainterBusy)
    expect(await Promise.all([first, second])).toEqual([Buffer.from('first'), Buffer.from('second')])
  })
})
