import { execFile } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { bundled } from './bundled.ts'

const run = promisify(execFile)
const PROGRAM = new URL('../test/children/places.ts', import.meta.url)
const MODULE = new URL('../test/children/place.ts', import.meta.url)

it('a bundled program is one file, whose modules know where they were and which of them is run', async () => {
  const path = await bundled(PROGRAM)
  const { stdout } = await run(process.execPath, [path])
  const filename = fileURLToPath(MODULE)
  expect(JSON.parse(stdout)).toEqual([
    PROGRAM.href,
    true,
    { url: MODULE.href, filename, dirname: dirname(filename), isMain: false },
  ])
  expect((await run(process.execPath, [fileURLToPath(PROGRAM)])).stdout).toBe(stdout)
  expect(await bundled(PROGRAM)).toBe(path)
})
