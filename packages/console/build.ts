// Builds what the browser loads and what the server renders with, once for each state of the sources.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const HERE = import.meta.dirname
const DIST = join(HERE, 'dist')
const SOURCES = [
  'packages/console/{src,public}/**/*',
  'packages/console/*.{ts,json}',
  'packages/{client,protocol}/src/**/*.ts',
  'package-lock.json',
]
const COMPRESSED = /\.(js|css|svg|json|txt|webmanifest)$/

/** Where the console lies that the present sources give; it may not be built yet. */
export function builtDirectory(): string {
  const root = join(HERE, '../..')
  const hash = createHash('sha256')
  for (const path of globSync(SOURCES, { cwd: root }).sort()) {
    if (/\.test\.tsx?$/.test(path) || !/\.\w+$/.test(path)) continue
    hash.update(`${path}\0`).update(readFileSync(join(root, path)))
  }
  return join(DIST, hash.digest('hex').slice(0, 16))
}

/** Builds the console unless it is built. Whoever builds at the same time does no harm: the first to end wins. */
export async function buildConsole({ onStart }: { onStart?: () => void } = {}): Promise<string> {
  const directory = builtDirectory()
  if (existsSync(directory)) return directory
  onStart?.()
  // In a process of its own: the libraries look at NODE_ENV, which is not ours to change, and Vite takes memory.
  const env = { ...process.env, NODE_ENV: 'production' }
  const { code, output } = await run(process.execPath, [import.meta.filename, directory], env)
  if (code !== 0 && !existsSync(directory)) throw new Error(`the console could not be built:\n${output}`)
  return directory
}

async function run(command: string, args: string[], env: NodeJS.ProcessEnv) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, output }
}

async function build(directory: string): Promise<void> {
  const { build } = await import('vite')
  const work = `${directory}.${process.pid}.${Date.now()}`
  const configFile = join(HERE, 'vite.config.ts')
  try {
    await build({ configFile, build: { outDir: join(work, 'client'), emptyOutDir: true } })
    await build({
      configFile,
      build: { outDir: join(work, 'server'), emptyOutDir: true, ssr: 'src/server.tsx' },
    })
    compress(join(work, 'client'))
    renameSync(work, directory)
  } catch (error) {
    rmSync(work, { recursive: true, force: true })
    if (!existsSync(directory)) throw error
  }
  removeOld(directory)
}

const KEPT_MS = 24 * 60 * 60 * 1_000

/** Removes what was built a day ago and before: a service that runs may still serve one. */
function removeOld(directory: string): void {
  for (const name of readdirSync(DIST)) {
    const path = join(DIST, name)
    if (path !== directory && Date.now() - statSync(path).mtimeMs > KEPT_MS) {
      rmSync(path, { recursive: true, force: true })
    }
  }
}

function compress(directory: string): void {
  for (const path of globSync('**/*', { cwd: directory })) {
    if (!COMPRESSED.test(path)) continue
    const bytes = readFileSync(join(directory, path))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(join(directory, `${path}.br`), brotliCompressSync(bytes, { params }))
    writeFileSync(join(directory, `${path}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

// With a directory: builds it. Without: what the sources give.
if (import.meta.main) {
  const [directory] = process.argv.slice(2)
  if (directory) await build(directory)
  else console.log(await buildConsole({ onStart: () => console.log('building the console …') }))
}
