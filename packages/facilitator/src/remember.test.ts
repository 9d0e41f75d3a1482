import { expect, test } from 'vitest'
import { remember } from './remember.ts'

function counted(most = 2) {
  const asked: string[] = []
  const clock = { now: 0 }
  let answer: (key: string) => Promise<string> = async (key) => key.toUpperCase()
  const ask = remember<string, string>({
    keyOf: (key) => key,
    ask: (key) => {
      asked.push(key)
      return answer(key)
    },
    forMs: (found) => (found === 'A' ? 100 : 10),
    most,
    clock: () => clock.now,
  })
  return { ask, asked, clock, answerWith: (next: typeof answer) => (answer = next) }
}

test('an answer holds for as long as it says', async () => {
  const { ask, asked, clock } = counted()
  expect([await ask('a'), await ask('b')]).toEqual(['A', 'B'])
  clock.now = 10
  expect([await ask('a'), await ask('b')]).toEqual(['A', 'B'])
  expect(asked).toEqual(['a', 'b', 'b'])
})

test('those who ask together share one question', async () => {
  const { ask, asked } = counted()
  expect(await Promise.all([ask('a'), ask('a')])).toEqual(['A', 'A'])
  expect(asked).toEqual(['a'])
})

test('a failure is everybody’s who asked, and nobody’s who asks later', async () => {
  const { ask, asked, answerWith } = counted()
  answerWith(async () => {
    throw new Error('silence')
  })
  await Promise.all([1, 2].map(() => expect(ask('a')).rejects.toThrow('silence')))
  answerWith(async () => 'A')
  expect(await ask('a')).toBe('A')
  expect(asked).toEqual(['a', 'a'])
})

test('no more than so many are kept: what was asked first goes first', async () => {
  const { ask, asked } = counted(2)
  for (const key of ['a', 'b', 'c', 'c', 'b', 'a']) await ask(key)
  expect(asked).toEqual(['a', 'b', 'c', 'a'])
})
