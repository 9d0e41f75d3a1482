// Which Node runs the product: the one pinned in package.json where npm carries it for this platform, else the
// running one. npm puts node_modules/.bin first on PATH, so the pinned one is also what npm scripts get.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const OLDEST_RUNTIME = 24

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const modules = join(root, 'node_modules')

export const majorOf = (version) => Number(version.split('.')[0])
export const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** The pinned Node for this platform as { name, version }, or undefined where npm carries none. */
export function pinnedNode() {
  const name = `node-${process.platform}-${process.arch}`
  const version = readJson(join(root, 'package.json')).optionalDependencies?.[name]
  return version && { name, version }
}

/** The path of the Node to run under, or undefined when there is none that is new enough. */
export function runtimePath() {
  const pinned = join(modules, `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (existsSync(pinned)) return pinned
  return majorOf(process.versions.node) >= OLDEST_RUNTIME ? process.execPath : undefined
}
