import { expect, test } from 'vitest'
import { detect, detectionOf } from './detection.ts'
import { runYear } from './run.ts'
import { scaled } from './world.ts'

const SMALL = { seed: 7, scale: scaled(0.1), days: 120 }

test.each(['quiet', 'loud'] as const)('agents of %s rings are found, and no honest one', async (style) => {
  const { precision, recall, wrong, rings, bySize } = detect(await runYear({ ...SMALL, style }))
  expect({ precision, wrong }).toEqual({ precision: 1, wrong: 0 })
  expect(recall).toBeGreaterThan(0.9)
  expect(bySize.find(({ size }) => size === 6)).toEqual({ size: 6, rings: 1, agents: 6, found: 6 })
  for (const { votes, spent } of rings) {
    expect(votes.inside).toBeLessThanOrEqual(votes.all)
    expect(spent.inside).toBeLessThanOrEqual(spent.all)
  }
})

test('also with few verified shops, nobody honest is found; without any, nobody is looked for', async () => {
  const few = detect(await runYear({ ...SMALL, trust: { verified: 0.1 } }))
  expect(few.wrong).toBe(0)
  expect(few.near.agents).toBeGreaterThan(50)
  expect(few.recall).toBeGreaterThan(0.9)
  const none = await runYear({ ...SMALL, days: 10, trust: { verified: 0 } })
  expect(detectionOf(none)).toContain('no shop is verified')
})
