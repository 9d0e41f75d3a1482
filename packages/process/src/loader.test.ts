import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createLoader } from './loader.ts'

/** A loader that records its batches; the test answers each of them. */
function questions({ concurrency, maxBatch }: { concurrency?: number; maxBatch?: number } = {}) {
  const asked: { keys: number[]; answer: (values?: string[]) => void; fail: (error: Error) => void }[] = []
  const read = createLoader<number, string>({
    keyOf: (key) => key,
    load: (keys) =>
      new Promise((resolve, fail) => {
        asked.push({ keys, answer: (values = keys.map((key) => `answer ${key}`)) => resolve(values), fail })
      }),
    ...(concurrency && { concurrency }),
    ...(maxBatch && { maxBatch }),
  })
  return { asked, read }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a loader', () => {
  it('asks one question for everything that is asked for in a turn, and for the same thing once', async () => {
    const { asked, read } = questions()
    const answers = Promise.all([read(1), read(2), read(1)])
    await turn()
    expect(asked.map(({ keys }) => keys)).toEqual([[1, 2]])
    asked[0]?.answer()
    expect(await answers).toEqual(['answer 1', 'answer 2', 'answer 1'])
  })

  it('gathers what is asked for while as many questions are under way as may be', async () => {
    const { asked, read } = questions({ concurrency: 2 })
    const answers = [read(1)]
    await turn()
    answers.push(read(2))
    await turn()
    answers.push(read(3))
    await turn()
    answers.push(read(4))
    await turn()
    expect(asked.map(({ keys }) => keys)).toEqual([[1], [2]])
    asked[1]?.answer()
    await turn()
    await turn()
    expect(asked.map(({ keys }) => keys)).toEqual([[1], [2], [3, 4]])
    asked[0]?.answer()
    asked[2]?.answer()
    expect(await Promise.all(answers)).toEqual(['answer 1', 'answer 2', 'answer 3', 'answer 4'])
  })

  it('gives no answer that is older than the question', async () => {
    const { asked, read } = questions({ concurrency: 2 })
    const before = read(7)
    await turn()
    const after = read(7)
    await turn()
    expect(asked).toHaveLength(2)
    asked[0]?.answer(['old'])
    asked[1]?.answer(['new'])
    expect(await before).toBe('old')
    expect(await after).toBe('new')
  })

  it('lets the next question wait for more when many waited for the one before', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
    try {
      const { asked, read } = questions()
      const answers = Array.from({ length: 16 }, () => read(1))
      await turn()
      asked[0]?.answer()
      await Promise.all(answers)
      const early = read(2)
      await turn()
      expect(asked).toHaveLength(1)
      const late = read(3)
      await vi.advanceTimersByTimeAsync(2)
      expect(asked[1]?.keys).toEqual([2, 3])
      asked[1]?.answer()
      expect(await Promise.all([early, late])).toEqual(['answer 2', 'answer 3'])
      const next = read(4)
      await turn()
      asked[2]?.answer()
      expect(await next).toBe('answer 4')
    } finally {
      vi.useRealTimers()
    }
  })

  it('lets a question that fails fail for those who asked it, and for nobody after them', async () => {
    const { asked, read } = questions({ concurrency: 1 })
    const failed = Promise.allSettled([read(1), read(2)])
    await turn()
    const later = read(1)
    asked[0]?.fail(new Error('the database is away'))
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await turn()
    asked[1]?.answer()
    expect(await later).toBe('answer 1')
  })

  it('goes on after a question that fails before it was asked', async () => {
    let isBroken = true
    const read = createLoader<number, number>({
      keyOf: (key) => key,
      load: (keys) => {
        if (isBroken) throw new Error('cannot even ask')
        return Promise.resolve(keys)
      },
      concurrency: 1,
    })
    await expect(read(1)).rejects.toThrow('cannot even ask')
    isBroken = false
    expect(await read(1)).toBe(1)
  })

  it('puts no more into a question than it may hold', async () => {
    const { asked, read } = questions({ concurrency: 2, maxBatch: 3 })
    const answers = Promise.all(Array.from({ length: 7 }, (_, key) => read(key)))
    await turn()
    await turn()
    expect(asked.map(({ keys }) => keys)).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ])
    asked[0]?.answer()
    await turn()
    await turn()
    expect(asked[2]?.keys).toEqual([6])
    asked[1]?.answer()
    asked[2]?.answer()
    expect((await answers).at(-1)).toBe('answer 6')
  })

  it('gives everybody their own answer, however the questions fall', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.nat(5), waits: fc.boolean() }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 4 }),
        async (asks, concurrency, maxBatch) => {
          const read = createLoader<number, number>({
            keyOf: (key) => key,
            load: async (keys) => {
              if (keys.length > maxBatch) throw new Error('too many keys')
              await turn()
              return keys.map((key) => key * 10)
            },
            concurrency,
            maxBatch,
          })
          const answers = []
          for (const { key, waits } of asks) {
            answers.push(read(key))
            if (waits) await turn()
          }
          expect(await Promise.all(answers)).toEqual(asks.map(({ key }) => key * 10))
        },
      ),
      { numRuns: 50 },
    ))
})
