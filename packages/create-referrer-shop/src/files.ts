// The project's files. What is there already is never overwritten: somebody may have edited it.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { networkNamed } from '@referrer/client/chain'
import { PROJECT_FILE, ShopError } from '@referrer/merchant/shop'
import { FRAMEWORKS } from './frameworks.ts'

export interface Contents {
  name: string
  slug: string
  price: string
  framework: string
  network: string
  port: number
  /** A folder of packed packages, instead of the registry. */
  packages: string | undefined
}

/** All our packages have one version. */
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

const TEMPLATES = fileURLToPath(new URL('../templates', import.meta.url))

/** An empty folder, or one that an earlier run began. */
export function requireUsable(directory: string): void {
  if (!existsSync(directory)) return
  if (!statSync(directory).isDirectory()) throw new ShopError(`${directory} is a file: name another folder`)
  const entries = readdirSync(directory).filter((name) => name !== '.git')
  if (entries.length > 0 && !entries.includes(PROJECT_FILE)) {
    throw new ShopError(`${directory} is not empty: name another folder, or empty it`)
  }
}

/** Written before the keys: a run can stop between the two, and what is there by then may be committed. */
export const writeGitignore = (directory: string): boolean =>
  writeOnce(join(directory, '.gitignore'), 'node_modules\n.env\n.referrer\n.next\npayments.log*\n')

/** Returns the names of those that were missing. */
export function writeProject(directory: string, contents: Contents): string[] {
  const files: [string, string][] = [
    ['package.json', `${JSON.stringify(manifest(directory, contents), null, 2)}\n`],
    ...filesOf('every', contents),
    ...filesOf(contents.framework, contents),
  ]
  return files.filter(([path, text]) => writeOnce(join(directory, path), text)).map(([path]) => path)
}

export function writeOnce(path: string, text: string, mode = 0o644): boolean {
  mkdirSync(dirname(path), { recursive: true })
  try {
    writeFileSync(path, text, { flag: 'wx', mode })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function filesOf(template: string, contents: Contents): [string, string][] {
  const root = join(TEMPLATES, template)
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(root, path)).isFile())
    .map((path) => [path, fill(readFileSync(join(root, path), 'utf8'), path, contents)])
}

const DEMO = 'On the sandbox, `npm run demo-sale` has somebody buy from the shop once, while it runs.\n\n'

function fill(template: string, path: string, { name, slug, price, network }: Contents): string {
  const values: Record<string, string> = {
    name: path.endsWith('.md') ? name.replace(/[\\`*_{}[\]<>#|]/g, '\\$&') : name,
    // Inside single quotes of JavaScript.
    description: name.replace(/[\\']/g, '\\$&'),
    slug,
    price,
    network,
    demo: networkNamed(network)?.isSandbox ? DEMO : '',
  }
  return template.replace(/\{\{(\w+)\}\}/g, (whole, key: string) => values[key] ?? whole)
}

function manifest(directory: string, { framework, port, packages }: Contents) {
  const { dependencies, dev, start, scripts } = FRAMEWORKS[framework] as (typeof FRAMEWORKS)[string]
  const folder = resolve(directory).split(/[\\/]/).at(-1) ?? ''
  return {
    name:
      folder
        .toLowerCase()
        .replace(/[^a-z0-9-]+/g, '-')
        .replace(/^-+|-+$/g, '') || 'shop',
    version: '0.0.0',
    private: true,
    type: 'module',
    engines: { node: '>=20.18' },
    scripts: {
      dev: dev(port),
      start: start(port),
      ...scripts,
      check: 'referrer-merchant check',
      stats: 'referrer-merchant stats',
      'demo-sale': 'referrer-merchant demo-sale',
    },
    dependencies: { ...libraries(directory, packages), ...dependencies },
  }
}

/** From a folder of tarballs, the packages that the library depends on must be named, too. */
function libraries(directory: string, packages: string | undefined): Record<string, string> {
  if (packages === undefined) return { '@referrer/merchant': `^${version}` }
  return Object.fromEntries(
    ['protocol', 'client', 'merchant'].map((name) => {
      const file = readdirSync(packages).find((entry) =>
        new RegExp(`^referrer-${name}-\\d.*\\.tgz$`).test(entry),
      )
      if (!file) throw new ShopError(`${packages} has no referrer-${name}-<version>.tgz: pack it first`)
      return [`@referrer/${name}`, `file:${relative(directory, join(packages, file))}`]
    }),
  )
}
