import { describe, expect, it } from 'vitest'
import { coalesce, coalesceInTurns } from './coalesce.ts'

function questions(atOnce?: number) {
  const asked: { key: string; answer: (value: string) => void; fail: (error: Error) => void }[] = []
  const keyOf = (key: string) => key
  const ask = (key: string) => new Promise<string>((answer, fail) => asked.push({ key, answer, fail }))
  const read = atOnce === undefined ? coalesce(keyOf, ask) : coalesceInTurns(atOnce, keyOf, ask)
  return { asked, read, keys: () => asked.map(({ key }) => key) }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a shared question', () => {
  it('is asked again, once, for all who asked while it was under way', async () => {
    const { asked, read, keys } = questions()
    const first = read('a')
    const later = [read('a'), read('a')]
    expect(keys()).toEqual(['a'])
    asked[0]?.answer('old')
    expect(await first).toBe('old')
    await turn()
    expect(keys()).toEqual(['a', 'a'])
    asked[1]?.answer('new')
    expect(await Promise.all(later)).toEqual(['new', 'new'])
    const after = read('a')
    asked[2]?.answer('newest')
    expect(await after).toBe('newest')
  })

  it('does not wait for another one, and an answer that fails fails no later one', async () => {
    const { asked, read, keys } = questions()
    const [a, again, b] = [read('a'), read('a'), read('b')]
    expect(keys()).toEqual(['a', 'b'])
    asked[0]?.fail(new Error('gone'))
    await expect(a).rejects.toThrow('gone')
    await turn()
    asked[2]?.answer('back')
    asked[1]?.answer('b')
    expect(await Promise.all([again, b])).toEqual(['back', 'b'])
  })

  it('that is heavy waits for its turn, and is then asked once for all who wait', async () => {
    const { asked, read, keys } = questions(2)
    const answers = Promise.all([read('a'), read('b'), read('c'), read('c')])
    await turn()
    await turn()
    expect(keys()).toEqual(['a', 'b'])
    asked[0]?.answer('of a')
    await turn()
    await turn()
    expect(keys()).toEqual(['a', 'b', 'c'])
    asked[1]?.answer('of b')
    asked[2]?.answer('of c')
    expect(await answers).toEqual(['of a', 'of b', 'of c', 'of c'])
  })
})
