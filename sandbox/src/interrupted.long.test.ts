// Ctrl-C while a sandbox starts, beside one that runs.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  freeOffset,
  PATIENCE_MS,
  runSandbox,
  startTestSandbox,
  type TestSandbox,
  until,
} from '../test/sandbox.ts'
import { readPorts } from './ports.ts'
import { databaseDirectory, statePath as defaultPath } from './state.ts'

describe('a second sandbox that starts', () => {
  let sandbox: TestSandbox

  beforeAll(async () => {
    sandbox = await startTestSandbox()
  }, PATIENCE_MS)
  afterAll(() => sandbox?.end())

  const statePath = () => join(sandbox.directory, 'state.json')
  const databaseOf = (offset: string) =>
    databaseDirectory(defaultPath({ PORT_OFFSET: offset }), readPorts({ PORT_OFFSET: offset }).service)

  it.each(['replaying the', 'starting the service', 'opening the shops'])(
    'ends everything on Ctrl-C while it is %s, and leaves the running one alone',
    async (moment) => {
      const other = await freeOffset()
      const { state } = sandbox
      const second = runSandbox({ PORT_OFFSET: other })
      await until(() => second.output.text.includes(moment), second)
      second.child.kill('SIGINT')
      expect(await second.ended).toEqual([0, null])
      expect(second.output.text).not.toContain('sandbox ready')
      expect(JSON.parse(readFileSync(statePath(), 'utf8'))).toEqual(state)
      expect(existsSync(databaseOf(other))).toBe(false)
      const { workers } = await (await fetch(`${state.baseUrl}/readyz`)).json()
      expect(workers).toEqual(workers.map((worker: object) => ({ ...worker, state: 'running', restarts: 0 })))
    },
    PATIENCE_MS,
  )
})
