import { expect } from 'vitest'

/** Waits for what will come, however busy the machine is. */
export const eventually = <T>(read: () => T | Promise<T>) =>
  expect.poll(read, { interval: 20, timeout: 50_000 })
