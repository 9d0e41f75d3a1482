import { setImmediate } from 'node:timers/promises'
import { QueryObserver } from '@tanstack/react-query'
import { expect, it } from 'vitest'
import { ApiError } from '../api/error.ts'
import { SESSION_PATH } from '../session/session.ts'
import { createQueries } from './queries.ts'

const refused = () => Promise.reject(new ApiError('unauthorized', { status: 401 }))
const TURNS = 100

it('asks for the session again when something else is refused for want of it, and not when it is refused itself', async () => {
  const queries = createQueries()
  let asked = 0
  const queryFn = () => {
    asked++
    // Asking for ever would leave the test no turn to fail in.
    return asked > 5 ? new Promise(() => {}) : refused()
  }
  const session = new QueryObserver(queries, { queryKey: [SESSION_PATH, {}], queryFn })
  const end = session.subscribe(() => {})
  for (let turn = 0; turn < TURNS; turn++) await setImmediate()
  expect(asked).toBe(1)
  await queries.fetchQuery({ queryKey: ['/v1/agent'], queryFn: refused }).catch(() => {})
  for (let turn = 0; turn < TURNS; turn++) await setImmediate()
  expect(asked).toBe(2)
  end()
})
