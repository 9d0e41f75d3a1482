import { expect } from 'vitest'

/** Polls until the check passes, however busy the machine is. */
export const eventually = <T>(read: () => T | Promise<T>) =>
  expect.poll(read, { interval: 5, timeout: 20_000 })
