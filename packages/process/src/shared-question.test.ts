import { expect, it } from 'vitest'
import { sharedQuestion } from './shared-question.ts'

it('those who ask at once share one question, and the next asks anew', async () => {
  let asked = 0
  const question = sharedQuestion(1_000, async () => ++asked)
  expect(await Promise.all([question(), question(), question()])).toEqual([1, 1, 1])
  expect(await question()).toBe(2)
})

it('a silent answerer is asked once however many give up waiting', async () => {
  let asked = 0
  const answer = Promise.withResolvers<string>()
  const question = sharedQuestion(5, () => {
    asked += 1
    return answer.promise
  })
  await expect(question()).rejects.toThrow('no answer within 5 ms')
  await expect(question()).rejects.toThrow('no answer within 5 ms')
  expect(asked).toBe(1)
  const late = question()
  answer.resolve('late')
  expect(await late).toBe('late')
})
