// Builds what the browser loads and what the server renders with, once for each state of the sources.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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
  for (const name of readdirSync(DIST)) {
    // Another process may be at work on one with a dot in its name.
    if (!name.includes('.') && join(DIST, name) !== directory)
      rmSync(join(DIST, name), { recursive: true, force: true })
  }
  return directory
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

if (import.meta.main)
  console.log(await buildConsole({ onStart: () => console.log('building the console …') }))
