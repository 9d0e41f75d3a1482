import { expect, test } from 'vitest'
import { createCache } from './cache.ts'

function counted({ max = 2, maxBytes }: { max?: number; maxBytes?: number } = {}) {
  const asked: string[] = []
  const clock = { now: 1 }
  let answer: (key: string) => Promise<string | undefined> = async (key) => key.toUpperCase()
  const ask = createCache<string, string | undefined>({
    keyOf: (key) => key,
    load: (key) => {
      asked.push(key)
      return answer(key)
    },
    ttlMs: (found) => (found === undefined ? 0 : found === 'A' ? 100 : 10),
    max,
    ...(maxBytes && { maxBytes, bytesOf: (found = '') => found.length }),
    clock: () => clock.now,
  })
  return { ask, asked, clock, answerWith: (next: typeof answer) => (answer = next) }
}

test('a value is kept for as long as it says, and then loaded anew', async () => {
  const { ask, asked, clock, answerWith } = counted()
  expect([await ask('a'), await ask('b')]).toEqual(['A', 'B'])
  clock.now += 10
  expect([await ask('a'), await ask('b')]).toEqual(['A', 'B'])
  expect(asked).toEqual(['a', 'b'])
  clock.now += 1
  answerWith(async () => 'new')
  expect([await ask('a'), await ask('b')]).toEqual(['A', 'new'])
  expect(asked).toEqual(['a', 'b', 'b'])
})

test('those who ask together share one question', async () => {
  const { ask, asked } = counted()
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['A', 'A', 'B'])
  expect(asked).toEqual(['a', 'b'])
})

test('concurrent calls share a load however long it takes', async () => {
  const { ask, asked, clock, answerWith } = counted()
  const slow = Promise.withResolvers<string>()
  answerWith(() => slow.promise)
  const first = ask('a')
  clock.now += 1_000
  const second = ask('a')
  slow.resolve('A')
  expect(await Promise.all([first, second])).toEqual(['A', 'A'])
  clock.now += 100
  expect(await ask('a')).toBe('A')
  expect(asked).toEqual(['a'])
})

test('a failed load fails for all who wait for it, and the next call loads again', async () => {
  const { ask, asked, answerWith } = counted()
  answerWith(async () => {
    throw new Error('silence')
  })
  await Promise.all([1, 2].map(() => expect(ask('a')).rejects.toThrow('silence')))
  answerWith(async () => 'A')
  expect(await ask('a')).toBe('A')
  expect(asked).toEqual(['a', 'a'])
})

test('a value with a time to live of 0 is loaded again', async () => {
  const { ask, asked, answerWith } = counted()
  answerWith(async () => undefined)
  expect([await ask('a'), await ask('a')]).toEqual([undefined, undefined])
  expect(asked).toEqual(['a', 'a'])
})

test('keeps at most max entries and evicts the least recently used first', async () => {
  const { ask, asked } = counted({ max: 2 })
  for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await ask(key)
  expect(asked).toEqual(['a', 'b', 'c', 'a'])
  await ask('b')
  await ask('c')
  expect(asked).toEqual(['a', 'b', 'c', 'a', 'c'])
})

test('keeps at most maxBytes, and no value that is larger by itself', async () => {
  const { ask, asked, answerWith } = counted({ max: 10, maxBytes: 10 })
  const sizes: Record<string, number> = { a: 5, b: 5, c: 1, d: 11 }
  answerWith(async (key) => 'x'.repeat(sizes[key] ?? 0))
  for (const key of ['a', 'b', 'c', 'b']) await ask(key)
  expect(asked).toEqual(['a', 'b', 'c'])
  sizes.a = 4
  await ask('a')
  for (const key of ['b', 'c', 'a']) await ask(key)
  expect(asked).toEqual(['a', 'b', 'c', 'a'])
  await ask('d')
  await ask('d')
  expect(asked.slice(4)).toEqual(['d', 'd'])
})
