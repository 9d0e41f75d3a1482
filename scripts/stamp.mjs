// The stamp tells a finished install from an interrupted or outdated one. It is written last.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { majorOf, modules, pinnedNode, readJson, root } from './runtime.mjs'

const STAMP = join(modules, '.bootstrap-stamp')
const INSTALLING = 'installing'

/** What an install depends on. Other fields of package.json (scripts, exports) may change without one. */
const FIELDS = [
  'name',
  'version',
  'workspaces',
  'bin',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
  'peerDependencies',
  'overrides',
  'allowScripts',
]

const read = (path) => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The folders, relative to the root, that hold a package.json: the root and its workspaces. */
export function packageFolders() {
  const folders = readJson(join(root, 'package.json')).workspaces.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern]
    const parent = pattern.slice(0, -2)
    return readdirSync(join(root, parent)).map((name) => `${parent}/${name}`)
  })
  return ['', ...folders.sort()].filter((folder) => read(join(root, folder, 'package.json')))
}

function wanted() {
  const hash = createHash('sha256')
  hash.update(
    `${process.platform} ${process.arch} ${majorOf(pinnedNode()?.version ?? process.versions.node)}\n`,
  )
  hash.update(read(join(root, 'package-lock.json')))
  for (const folder of packageFolders()) {
    const manifest = readJson(join(root, folder, 'package.json'))
    hash.update(JSON.stringify([folder, ...FIELDS.map((field) => manifest[field] ?? null)]))
  }
  // npm's own record of what lies in node_modules: it changes when someone installs by hand.
  hash.update(read(join(modules, '.package-lock.json')))
  return hash.digest('hex')
}

export const isInstalled = () => read(STAMP) === wanted()
export const wasInterrupted = () => read(STAMP) === INSTALLING
export const markInstalling = () => writeFileSync(STAMP, INSTALLING)
export const markInstalled = () => writeFileSync(STAMP, wanted())
