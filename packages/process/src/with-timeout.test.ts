import { expect, it, vi } from 'vitest'
import { withTimeout } from './with-timeout.ts'

const never = new Promise<string>(() => {})

it('gives what comes of the work in time, failures too, and leaves no timer', async () => {
  vi.useFakeTimers()
  try {
    expect(await withTimeout(1_000, Promise.resolve('done'))).toBe('done')
    await expect(withTimeout(1_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed')
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

it('gives undefined, or what it is told to, when the work takes longer', async () => {
  expect(await withTimeout(1, never)).toBeUndefined()
  expect(await withTimeout(1, never, () => 'late')).toBe('late')
  expect(await withTimeout(1, never, async () => 'later')).toBe('later')
})

it('fails when that is what it is told to do, and work that fails afterwards harms nobody', async () => {
  const work = Promise.withResolvers<string>()
  const late = withTimeout(1, work.promise, () => {
    throw new Error('too late')
  })
  await expect(late).rejects.toThrow('too late')
  work.reject(new Error('nobody hears this'))
  await new Promise((resolve) => setImmediate(resolve))
})
