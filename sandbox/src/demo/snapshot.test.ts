import { expect, it } from 'vitest'
import { MAKE, planDigest, readSnapshot } from './snapshot.ts'

it('the demo market that npm start restores is of the plan as it is', () => {
  expect(readSnapshot().plan, `make it anew with ${MAKE}`).toBe(planDigest())
})
