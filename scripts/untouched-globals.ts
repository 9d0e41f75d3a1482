// Test files share the globals of their worker: one that leaves a global replaced breaks a file that happens to run after it.
import { afterAll } from 'vitest'

const NAMES = ['Request', 'Response', 'Headers', 'fetch', 'Date', 'setTimeout'] as const
const before = NAMES.map((name) => globalThis[name])

afterAll(() => {
  const replaced = NAMES.filter((name, index) => globalThis[name] !== before[index])
  Object.assign(globalThis, Object.fromEntries(NAMES.map((name, index) => [name, before[index]])))
  if (replaced.length > 0) throw new Error(`this file left ${replaced.join(', ')} replaced: put it back`)
})
