import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createParts } from './parts.ts'
import { failedRows, table } from './report.ts'

const exitCode = process.exitCode
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))
afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = exitCode
})

it('a part that fails is printed and marked, the others are measured, and the benchmark exits with 1', async () => {
  const parts = createParts()
  const rows: Record<string, string | number>[] = []
  const measure = (name: string, requests: number) =>
    parts.run(name, async () => {
      if (requests === 0) throw new Error('canceling statement due to statement timeout')
      rows.push({ case: name, 'requests/s': requests })
      return requests
    })
  expect(await measure('reads', 500)).toBe(500)
  expect(process.exitCode).toBe(exitCode)
  expect(await measure('writes', 0)).toBeUndefined()
  expect(await measure('pages', 20)).toBe(20)
  expect(process.exitCode).toBe(1)
  expect(vi.mocked(console.error).mock.calls).toEqual([
    ['writes failed: canceling statement due to statement timeout'],
  ])
  expect(table([...rows, ...failedRows(rows, parts.failed)])).toBe(
    ['case     requests/s', 'reads           500', 'pages            20', 'writes       FAILED'].join('\n'),
  )
})

it('a table of which every part failed still names them', async () => {
  const parts = createParts()
  await parts.run('reads', () => Promise.reject(new Error('no')))
  expect(table(failedRows([], parts.failed))).toBe(['part    result', 'reads   FAILED'].join('\n'))
})
