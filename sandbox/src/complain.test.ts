import { expect, it, onTestFinished, vi } from 'vitest'
import { complain } from './complain.ts'

it('an error is shown with its causes', async () => {
  const shown = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => shown.mockRestore())
  complain(await fetch('http://127.0.0.1:10080').catch((error: unknown) => error))
  expect(shown.mock.calls).toEqual([['fetch failed'], ['bad port']])
})
