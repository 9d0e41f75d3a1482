// The import graph of the repository, and what is wrong with it: imports that go up, circles, and reaching into another package.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Import {
  /** Paths from the root of the repository. A package is stood for by the file that its `exports` name. */
  from: string
  to: string
  isRelative: boolean
}

/** From the bottom up. Packages of one floor do not import each other. */
export const FLOORS_OF_PACKAGES = [
  ['packages/protocol', 'packages/ranking', 'packages/search', 'packages/net', 'packages/telegram-stand-in'],
  ['packages/database', 'packages/client', 'contracts'],
  ['packages/process', 'packages/chain', 'packages/console'],
  ['packages/service', 'packages/facilitator', 'packages/merchant', 'packages/signer'],
  ['packages/create-referrer-shop', 'packages/operator'],
  ['sandbox', 'bench', 'sim'],
]

/** The folders of the service from the bottom up. */
export const FLOORS_OF_SERVICE = [
  'machinery',
  'kit',
  'market',
  'derived',
  'discovery',
  'views',
  'doors',
  'app',
].map((folder) => [`packages/service/src/${folder}`])

const IMPORT =
  /(?:^\s*(?:import|export)\b[^'"\n]*\bfrom\s*|^\s*import\s*|^\s*\}\s*from\s*|\bimport\()['"]([^'"\n]+)['"]/gm
const TEST =
  /\.(test|test-d|fixture|keeper)\.ts$|(^|\/)(test|testing)\/|(^|\/)(testing|test-server|killable-postgres)\.ts$/

/** Tests may import what they test against; the product may not. */
export const isTest = (file: string): boolean => TEST.test(file)

/** What a text imports, `import type` included: whoever needs another's types cannot be read without it. */
export const specifiersOf = (text: string): string[] =>
  [...text.matchAll(IMPORT)].map(([, specifier]) => specifier as string)

export function readImports(root: string): Import[] {
  const folders = '{packages/*,contracts,sandbox,bench,sim}'
  const exports = new Map<string, string>()
  for (const path of globSync(`${folders}/package.json`, { cwd: root })) {
    const manifest = JSON.parse(readFileSync(join(root, path), 'utf8'))
    for (const [name, target] of Object.entries<string>(manifest.exports ?? {})) {
      exports.set(join(manifest.name, name), join(dirname(path), target))
    }
  }
  const exclude = (path: string) => /(^|\/)(node_modules|artifacts|cache|dist)$/.test(path)
  return globSync(`${folders}/**/*.{ts,tsx}`, { cwd: root, exclude }).flatMap((from) =>
    specifiersOf(readFileSync(join(root, from), 'utf8')).flatMap((specifier) => {
      const isRelative = specifier.startsWith('.')
      const to = isRelative ? join(dirname(from), specifier) : exports.get(specifier)
      return to === undefined ? [] : [{ from, to, isRelative }]
    }),
  )
}

const packageOf = (file: string) => file.split('/', file.startsWith('packages/') ? 2 : 1).join('/')

/** Imports of another package's sources that are not by its name: its `exports` are its door. Tests may share what is in `test/`. */
export const reachingIn = (imports: Import[]): string[] =>
  imports
    .filter(({ from, to, isRelative }) => isRelative && packageOf(from) !== packageOf(to) && !isTest(to))
    .map(({ from, to }) => `${from} reaches into ${to}`)

/** Imports from a floor to a higher one, or to another part of the same floor. */
export function upward(imports: Import[], floors: string[][]): string[] {
  const partOf = (file: string) => floors.flat().find((part) => file.startsWith(`${part}/`))
  const floorOf = (part: string) => floors.findIndex((floor) => floor.includes(part))
  return imports
    .filter(({ from, to }) => {
      const [upper, lower] = [partOf(from), partOf(to)]
      if (upper === undefined || lower === undefined || upper === lower) return false
      return floorOf(lower) >= floorOf(upper)
    })
    .map(({ from, to }) => `${from} imports ${to}`)
}

/** Circles of files, of folders at every level of a package, and of packages. */
export function circles(imports: Import[]): string[] {
  const graph = new Map<string, Set<string>>()
  const connect = (from: string, to: string) => {
    if (from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to))
  }
  for (const { from, to } of imports) {
    connect(from, to)
    const [one, other] = partingOf(from, to)
    connect(one, other)
  }
  return stronglyConnected(graph).map((circle) => circle.sort().join(' ⇄ '))
}

/** The two packages; within one package the two places, folder or file, where the paths part. */
function partingOf(from: string, to: string): [string, string] {
  if (packageOf(from) !== packageOf(to)) return [packageOf(from), packageOf(to)]
  const [one, other] = [from.split('/'), to.split('/')]
  const depth = one.findIndex((part, at) => part !== other[at]) + 1
  return [one.slice(0, depth).join('/'), other.slice(0, depth).join('/')]
}

/** Tarjan's algorithm: groups of more than one node that all reach each other. */
function stronglyConnected(graph: Map<string, Set<string>>): string[][] {
  const found: string[][] = []
  const number = new Map<string, number>()
  const stack: string[] = []

  function visit(node: string): number {
    const own = number.size
    number.set(node, own)
    stack.push(node)
    let low = own
    for (const next of graph.get(node) ?? []) {
      if (!number.has(next)) low = Math.min(low, visit(next))
      else if (stack.includes(next)) low = Math.min(low, number.get(next) as number)
    }
    if (low === own) {
      const group = stack.splice(stack.indexOf(node))
      if (group.length > 1) found.push(group)
    }
    return low
  }
  for (const node of graph.keys()) if (!number.has(node)) visit(node)
  return found
}
