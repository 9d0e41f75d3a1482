import { describe, expect, it } from 'vitest'
import { createEnds } from './ends.ts'

describe('what was started', () => {
  it('is ended in the opposite order, whatever goes wrong on the way', async () => {
    const ends = createEnds()
    const ended: string[] = []
    for (const name of ['chain', 'service', 'shop']) {
      const started = await ends.add(
        async () => name,
        async (which) => {
          ended.push(which)
          if (which === 'service') throw new Error('stuck')
        },
      )
      expect(started).toBe(name)
    }
    expect(await ends.all()).toEqual([new Error('stuck')])
    expect(ended).toEqual(['shop', 'service', 'chain'])
  })

  it('is ended also when it was still starting, and nothing starts any more', async () => {
    const ends = createEnds()
    const start = Promise.withResolvers<string>()
    const ended: string[] = []
    const adding = ends.add(
      () => start.promise,
      async (which) => ended.push(which),
    )
    const ending = ends.all()
    await expect(
      ends.add(
        async () => 'late',
        async () => {},
      ),
    ).rejects.toThrow('the sandbox is ending')
    start.resolve('slow')
    expect(await adding).toBe('slow')
    expect(await ending).toEqual([])
    expect(ended).toEqual(['slow'])
  })

  it('needs no end when its start failed', async () => {
    const ends = createEnds()
    const failing = ends.add(
      async () => {
        throw new Error('no port')
      },
      async () => expect.unreachable(),
    )
    await expect(failing).rejects.toThrow('no port')
    expect(await ends.all()).toEqual([])
  })
})
