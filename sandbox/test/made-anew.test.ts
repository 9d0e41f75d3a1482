import { expect, it } from 'vitest'
import { MAKE, readSnapshot } from '../src/demo/snapshot.ts'
import { makeDemo } from '../src/demo-maker.ts'
import { factsOf } from './demo-facts.ts'
import { freeOffset, PATIENCE_MS } from './sandbox.ts'

it('the demo market that npm start restores is what its plan makes through the doors', {
  timeout: 2 * PATIENCE_MS,
}, async () => {
  const made = await makeDemo({ env: { PORT_OFFSET: await freeOffset() }, say: () => {} })
  expect(factsOf(made), `make it anew with ${MAKE}`).toEqual(factsOf(readSnapshot()))
})
