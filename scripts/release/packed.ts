// The packages, built and packed, once for each state of the sources: whoever serves, installs or reads them shares what is there.
// As a program it prints the folder.
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { acquireLock } from '../lock.mjs'
import { npm } from '../npm.mjs'
import { buildPackages, PUBLISHED, root } from './packages.ts'

const CACHE = join(root, 'node_modules/.cache/referrer-packages')
/** What is made from other sources stays that long: somebody may serve it. */
const KEPT_MS = 86_400_000
const SOURCES = ['packages/*/**/*', 'packages/*.json', 'scripts/release/*.ts', 'package-lock.json']
/** Folders whose files are in no package. */
const LEFT_OUT = new Set(['node_modules', 'dist', 'test'])

/** The folder with the packages as `npm pack` made them. */
export async function packedPackages(): Promise<string> {
  const folder = join(CACHE, digest())
  if (existsSync(folder)) return folder
  const release = await acquireLock(`${CACHE}.lock`, () => {})
  try {
    if (!existsSync(folder)) await make(folder)
  } finally {
    release()
  }
  return folder
}

function digest(): string {
  const hash = createHash('sha256')
  const found = globSync(SOURCES, { cwd: root, exclude: (path) => LEFT_OUT.has(basename(path)) })
  for (const path of found.sort()) {
    const file = join(root, path)
    if (statSync(file).isFile() && !path.endsWith('.test.ts'))
      hash.update(`${path}\0`).update(readFileSync(file))
  }
  return hash.digest('hex').slice(0, 16)
}

async function make(folder: string): Promise<void> {
  const draft = `${folder}.new`
  rmSync(draft, { recursive: true, force: true })
  mkdirSync(draft, { recursive: true })
  await buildPackages((name) => join(draft, name))
  await npm(process.execPath, 'Packing', draft, ['pack', ...PUBLISHED.map((name) => `./${name}`)])
  renameSync(draft, folder)
  for (const path of readdirSync(CACHE).map((name) => join(CACHE, name))) {
    if (statSync(path).mtimeMs < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true })
  }
}

if (import.meta.main) console.log(await packedPackages())
