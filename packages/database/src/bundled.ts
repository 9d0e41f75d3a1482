import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const DIRECTORY = join(ROOT, 'node_modules', '.cache', 'referrer-programs')

/** Loaded only where the console has to be built. A bundler cannot be a part of its own bundle. */
const LEFT_OUT = ['vite']

const bundles = new Map<string, Promise<string>>()

/**
 * The path of a program as one file, made once per worker. A process that a test starts spends most of its life on finding a thousand
 * modules otherwise; one test of each program still runs it as it is written.
 */
export function bundled(program: URL): Promise<string> {
  const file = fileURLToPath(program)
  const bundle = bundles.get(file) ?? make(file)
  bundles.set(file, bundle)
  return bundle
}

async function make(file: string): Promise<string> {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    input: file,
    platform: 'node',
    external: LEFT_OUT,
    logLevel: 'silent',
    plugins: [{ name: 'places', transform: (code, id) => withPlaces(code, id, id === file) }],
  })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false })
  await build.close()
  const [{ code }] = output
  const path = join(DIRECTORY, `${relative(ROOT, file).replaceAll('/', '+')}.mjs`)
  await write(path, code)
  return path
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
