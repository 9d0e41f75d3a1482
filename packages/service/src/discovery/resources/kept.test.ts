import { describe, expect, it } from 'vitest'
import { keepAnswers } from './kept.ts'

function createKeeper() {
  const clock = { now: 0 }
  const asked: string[] = []
  const keep = keepAnswers<string>({
    clock: () => clock.now,
    forMs: 1_000,
    most: 3,
    mostBytes: 10,
    bytesOf: (answer) => answer.length,
  })
  return {
    clock,
    asked,
    keep,
    ask: (name: string, answer: string | undefined = name) =>
      keep(name, async () => {
        asked.push(name)
        return answer
      }),
  }
}

describe('answers that are kept', () => {
  it('are given again for a while, and then asked for anew', async () => {
    const { ask, asked, clock } = createKeeper()
    expect([await ask('a', 'old'), await ask('a', 'new')]).toEqual(['old', 'old'])
    clock.now = 999
    expect(await ask('a', 'new')).toBe('old')
    clock.now = 1_000
    expect(await ask('a', 'new')).toBe('new')
    expect(asked).toEqual(['a', 'a'])
  })

  it('are asked for once by all who ask meanwhile', async () => {
    const { ask, asked } = createKeeper()
    expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['a', 'a', 'b'])
    expect(asked).toEqual(['a', 'b'])
  })

  it('are forgotten when there are too many, the oldest first', async () => {
    const { ask, asked } = createKeeper()
    for (const name of ['a', 'b', 'c', 'd', 'd', 'c', 'b', 'a']) await ask(name)
    expect(asked).toEqual(['a', 'b', 'c', 'd', 'a'])
  })

  it('are forgotten when they are too large together, and one that is too large by itself at once', async () => {
    const { ask, asked } = createKeeper()
    await ask('a', '12345')
    await ask('b', '12345')
    await ask('c', '1')
    expect(await ask('b')).toBe('12345')
    expect(await ask('a', '1234')).toBe('1234')
    expect(asked).toEqual(['a', 'b', 'c', 'a'])
    await ask('d', 'x'.repeat(11))
    await ask('d', 'x'.repeat(11))
    expect(asked.slice(4)).toEqual(['d', 'd'])
  })

  it('are not kept when there was none, or when asking failed', async () => {
    const { ask, asked, keep } = createKeeper()
    expect(await keep('a', async () => undefined)).toBeUndefined()
    await expect(keep('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await ask('a')).toBe('a')
    expect(asked).toEqual(['a'])
  })
})
