import { expect, test } from 'vitest'
import { gather } from './gather.ts'

/** Whoever is asked answers when told to. */
function answerer(most = 10) {
  const asked: { keys: number[]; answer: () => void; fail: (error: Error) => void }[] = []
  const ask = gather<number, string>({
    keyOf: String,
    ask: (keys) =>
      new Promise((resolve, reject) => {
        asked.push({ keys, answer: () => resolve(keys.map((key) => `of ${key}`)), fail: reject })
      }),
    most,
  })
  return { asked, ask }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('what comes while a question is under way is asked next, together and each once', async () => {
  const { asked, ask } = answerer()
  const first = ask(1)
  const others = [ask(2), ask(3), ask(2), ask(1)]
  await turn()
  expect(asked.map(({ keys }) => keys)).toEqual([[1]])
  asked[0]?.answer()
  expect(await first).toBe('of 1')
  await turn()
  expect(asked.map(({ keys }) => keys)).toEqual([[1], [2, 3, 1]])
  asked[1]?.answer()
  expect(await Promise.all(others)).toEqual(['of 2', 'of 3', 'of 2', 'of 1'])
})

test('no question is larger than it may be', async () => {
  const { asked, ask } = answerer(2)
  const all = [1, 2, 3, 4].map(ask)
  for (let at = 0; at < 3; at += 1) {
    asked[at]?.answer()
    await turn()
  }
  expect(asked.map(({ keys }) => keys)).toEqual([[1], [2, 3], [4]])
  expect(await Promise.all(all)).toEqual(['of 1', 'of 2', 'of 3', 'of 4'])
})

test('what fails is told to those who asked it, and the next are asked all the same', async () => {
  const { asked, ask } = answerer()
  const failing = ask(1)
  const next = ask(2)
  asked[0]?.fail(new Error('no'))
  await expect(failing).rejects.toThrow('no')
  await turn()
  asked[1]?.answer()
  expect(await next).toBe('of 2')
  const again = ask(1)
  asked[2]?.answer()
  expect(await again).toBe('of 1')
})
