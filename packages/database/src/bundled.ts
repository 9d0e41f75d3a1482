import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { DOOR_VARIABLE } from './test-server.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const DIRECTORY = join(ROOT, 'node_modules', '.cache', 'referrer-programs')

/** Loaded only where the console has to be built. A bundler cannot be a part of its own bundle. */
const LEFT_OUT = ['vite']

/** What a bundle was made of, and in which run of the tests. */
interface Origin {
  run: string
  /** When each of its files was last changed. */
  changed: Record<string, number>
}

const bundles = new Map<string, Promise<string>>()

/**
 * The path of a program as one file, made once per run of the tests. A process that a test starts spends most of its life on finding a
 * thousand modules otherwise; one test of each program still runs it as it is written.
 */
export function bundled(program: URL): Promise<string> {
  const file = fileURLToPath(program)
  const bundle = bundles.get(file) ?? find(file)
  bundles.set(file, bundle)
  return bundle
}

async function find(file: string): Promise<string> {
  const path = join(DIRECTORY, `${relative(ROOT, file).replaceAll('/', '+')}.mjs`)
  if (!(await isOfThisRun(path))) await make(file, path)
  return path
}

/** Whether another worker has made it in this run, and its files are still as they were: whoever watches the tests changes them. */
async function isOfThisRun(path: string): Promise<boolean> {
  const { run, changed }: Origin = JSON.parse(await readFile(originOf(path), 'utf8').catch(() => '{}'))
  if (run === undefined || run !== process.env[DOOR_VARIABLE]) return false
  const now = await changesOf(Object.keys(changed))
  return Object.entries(changed).every(([file, at]) => now[file] === at)
}

async function make(file: string, path: string): Promise<void> {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    input: file,
    platform: 'node',
    external: LEFT_OUT,
    logLevel: 'silent',
    plugins: [{ name: 'places', transform: (code, id) => withPlaces(code, id, id === file) }],
  })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false })
  const changed = await changesOf(await build.watchFiles)
  await build.close()
  const [{ code }] = output
  await write(path, code)
  const origin: Origin = { run: process.env[DOOR_VARIABLE] ?? '', changed }
  await write(originOf(path), JSON.stringify(origin))
}

const originOf = (path: string) => `${path}.json`

async function changesOf(files: readonly string[]): Promise<Origin['changed']> {
  const changeOf = async (file: string) => (await stat(file).catch(() => undefined))?.ctimeMs ?? 0
  return Object.fromEntries(await Promise.all(files.map(async (file) => [file, await changeOf(file)])))
}

/** A module finds the files beside it, and knows whether it is the program, also when it has moved. */
function withPlaces(code: string, id: string, isProgram: boolean): string | undefined {
  if (!code.includes('import.meta.')) return undefined
  const url = pathToFileURL(id).href
  return code
    .replaceAll(/\bimport\.meta\.url\b/g, JSON.stringify(url))
    .replaceAll(/\bimport\.meta\.filename\b/g, JSON.stringify(id))
    .replaceAll(/\bimport\.meta\.dirname\b/g, JSON.stringify(fileURLToPath(new URL('.', url)).slice(0, -1)))
    .replaceAll(/\bimport\.meta\.main\b/g, String(isProgram))
}

/** Workers that make the same bundle at once replace it by the same. */
async function write(path: string, code: string): Promise<void> {
  if (code === (await readFile(path, 'utf8').catch(() => undefined))) return
  await mkdir(DIRECTORY, { recursive: true })
  const draft = `${path}.${process.pid}`
  await writeFile(draft, code)
  await rename(draft, path)
}
