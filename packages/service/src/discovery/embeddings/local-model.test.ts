import * as core from '@energetic-ai/core'
import { expect, it } from 'vitest'
import { embedTogether } from './local-model.ts'

const { memory } = core as unknown as { memory(): { numTensors: number; numBytes: number } }

it('leaves nothing behind of the texts that it embedded', async () => {
  const embedMany = async (from: number) => {
    for (let at = 0; at < 8; at += 1)
      await embedTogether([`text ${from + at}`, 'one of nine words that is a little longer'])
  }
  await embedMany(0)
  const before = memory()
  await embedMany(8)
  expect(memory()).toEqual(before)
})
