import { expect, it } from 'vitest'
import { readInBackground } from './read-in-background.ts'

it('answers at once with what it read last, reads again when that is old, and forgets it after a failure', async () => {
  const answers: PromiseWithResolvers<number>[] = []
  const failures: unknown[] = []
  const ask = (maxAgeMs: number) =>
    readInBackground(
      maxAgeMs,
      () => {
        const answer = Promise.withResolvers<number>()
        answers.push(answer)
        return answer.promise
      },
      (error) => failures.push(error),
    )
  const fresh = ask(0)
  expect([fresh(), fresh(), answers.length]).toEqual([{ failed: false }, { failed: false }, 1])
  answers[0]?.resolve(1)
  await expect.poll(() => fresh()).toEqual({ value: 1 })
  expect(answers.length).toBe(2)
  answers[1]?.reject(new Error('down'))
  await expect.poll(() => fresh()).toEqual({ failed: true })
  expect(failures).toEqual([new Error('down')])

  const lasting = ask(3_600_000)
  lasting()
  answers.at(-1)?.resolve(2)
  await expect.poll(() => lasting()).toEqual({ value: 2 })
  const asked = answers.length
  lasting()
  expect(answers.length).toBe(asked)
})
