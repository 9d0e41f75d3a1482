// Removes from node_modules what a running market does not load: what only builds contracts and console, the embedded Postgres,
// declarations of types, source maps.
import { existsSync, globSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

interface Manifest {
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** Of our own packages only these load others at run time that differ from what they name. */
const LOADED: Record<string, readonly string[]> = {
  // The built console needs no packages; pictures for previews are drawn by these.
  '@referrer/console': ['@resvg/resvg-js', 'dejavu-fonts-ttf'],
  // The contracts are compiled already.
  '@referrer/contracts': ['@referrer/protocol', 'viem', 'zod'],
  // In a container Postgres is somewhere else.
  '@referrer/database': ['postgres'],
}

const NEVER_LOADED = '**/*.{map,d.ts,d.mts,d.cts}'

const read = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Where Node finds a package from a folder; undefined if it is not installed. */
function find(name: string, from: string): string | undefined {
  for (let folder = from; folder.startsWith(ROOT); folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return found
  }
  return undefined
}

/** The folders of all packages that one loads, itself included. */
function reach(name: string, folder: string, reached: Map<string, string>): void {
  if (reached.has(folder)) return
  reached.set(folder, name)
  const { dependencies, optionalDependencies } = read(folder)
  for (const other of LOADED[name] ?? Object.keys({ ...dependencies, ...optionalDependencies })) {
    const found = find(other, folder)
    if (found) reach(other, found, reached)
    else if (!optionalDependencies?.[other]) throw new Error(`${name} needs ${other}, which is not installed`)
  }
}

/** Every package in a node_modules, and in those below it. */
function* installed(modules: string): Generator<string> {
  if (!existsSync(modules)) return
  for (const name of readdirSync(modules)) {
    if (name.startsWith('.')) continue
    const folders = name.startsWith('@') ? readdirSync(join(modules, name)).map((n) => join(name, n)) : [name]
    for (const folder of folders) {
      yield join(modules, folder)
      yield* installed(join(modules, folder, 'node_modules'))
    }
  }
}

const modules = join(ROOT, 'node_modules')
const reached = new Map<string, string>()
reach('@referrer/operator', join(modules, '@referrer/operator'), reached)
for (const folder of [...installed(modules)]) {
  if (!reached.has(folder)) rmSync(folder, { recursive: true, force: true })
}
for (const path of globSync(NEVER_LOADED, { cwd: modules })) rmSync(join(modules, path), { force: true })
rmSync(join(modules, '.cache'), { recursive: true, force: true })
rmSync(join(modules, '.bin'), { recursive: true, force: true })
console.log(`kept ${reached.size} packages: ${[...new Set(reached.values())].sort().join(', ')}`)
