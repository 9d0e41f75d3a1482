import { execFile } from 'node:child_process'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../test/processes.ts'
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

/** The module as another worker of this run has it: with nothing in its memory. */
async function inAnotherWorker(name: string): Promise<typeof bundled> {
  return (await import(`./bundled.ts?worker=${name}`)).bundled
}

it('the workers of a run share a bundle until one of its files changes', async () => {
  const directory = await temporaryDirectory()
  const program = pathToFileURL(join(directory, 'program.ts'))
  const part = join(directory, 'part.ts')
  await writeFile(program, "import { said } from './part.ts'\nconsole.log(said)\n")
  await writeFile(part, "export const said = 'one'\n")
  const said = async (path: string) => (await run(process.execPath, [path])).stdout.trim().split('\n')

  const path = await bundled(program)
  onTestFinished(async () => {
    for (const file of [path, `${path}.json`]) await rm(file)
  })
  await appendFile(path, "console.log('not made again')\n")
  expect(await (await inAnotherWorker('second'))(program)).toBe(path)
  expect(await said(path)).toEqual(['one', 'not made again'])

  await writeFile(part, "export const said = 'two'\n")
  await (await inAnotherWorker('third'))(program)
  expect(await said(path)).toEqual(['two'])
})
