import { expect, it } from 'vitest'
import { createTurns } from './turns.ts'

it('lets so many work at once and the others in their order, whether the work succeeds or fails', async () => {
  const inTurns = createTurns(2)
  const began: number[] = []
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  const all = gates.map((gate, at) =>
    inTurns(() => {
      began.push(at)
      return gate.promise
    }),
  )
  const settled = Promise.allSettled(all)
  expect(began).toEqual([0, 1])
  gates[1]?.reject(new Error('no'))
  await expect.poll(() => began).toEqual([0, 1, 2])
  gates[0]?.resolve()
  await expect.poll(() => began).toEqual([0, 1, 2, 3])
  for (const gate of gates) gate.resolve()
  const results = await settled
  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
  await expect(inTurns(async () => 'free again')).resolves.toBe('free again')
})
