// The `@example` blocks of the published packages, and the names that a package exports.
import { readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

export const root = join(import.meta.dirname, '..')

export interface Exported {
  /** As one writes it after an import: `Money.parse`, `createReferralEndpoint`. */
  name: string
  /** Functions and classes need an example of their own. */
  isCallable: boolean
  file: string
  example: string | undefined
}

const STATEMENT =
  /^export (?:\* as (?<namespace>\w+) from '(?<whole>[^']+)'|(?:type )?\{(?<names>[^}]*)\} from '(?<part>[^']+)')/gm
const DECLARATION =
  /(?<doc>\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?export (?:async )?(?<kind>function|class|const|interface|type) (?<name>\w+)/g
const EXAMPLE = /@example\n \* ```ts\n(?<code>[\s\S]*?)\n \* ```/

/** All that one can import from a file, the namespaces that it makes of other files included. */
export function exportsOf(path: string, prefix = ''): Exported[] {
  const source = readFileSync(path, 'utf8')
  const other = (name = '') => join(dirname(path), name)
  return [
    ...[...source.matchAll(STATEMENT)].flatMap(({ groups = {} }) => {
      if (groups.namespace) return exportsOf(other(groups.whole), `${prefix}${groups.namespace}.`)
      const names = (groups.names ?? '').split(',').map((name) => name.trim().replace(/^type /, ''))
      return exportsOf(other(groups.part)).flatMap((found) =>
        names.includes(found.name) ? [{ ...found, name: prefix + found.name }] : [],
      )
    }),
    ...[...source.matchAll(DECLARATION)].map(({ groups = {} }) => ({
      name: prefix + groups.name,
      isCallable: groups.kind === 'function' || groups.kind === 'class',
      file: relative(root, path),
      example: groups.doc && codeOf(groups.doc),
    })),
  ]
}

function codeOf(doc: string): string | undefined {
  return EXAMPLE.exec(doc)?.groups?.code?.replace(/^ \* ?/gm, '')
}

/** The example as a module that throws where a value differs from what its comment says: `1 + 1 // → 2`. */
export function moduleOf(example: string): string {
  const lines = example.split('\n').map((line) => {
    const [, code, value] = /^(.+?) \/\/ → (.+)$/.exec(line) ?? []
    return code ? `expect(${code}).toEqual(${value})` : line
  })
  return ["import { expect } from 'vitest'", ...lines, 'export {}', ''].join('\n')
}

/** Uses what only its reader has: it is compiled, and not run. */
export const isComplete = (example: string) => !/^declare /m.test(example)

export const fileNameOf = ({ file, name }: Exported) =>
  `${file.split('/')[1]}-${basename(file, '.ts')}-${name.replaceAll('.', '-')}.ts`
