// The packages that are published. In the repository they run from their TypeScript; Node runs none that lies in node_modules,
// so each is built into a folder of its own, with a manifest that leads to JavaScript and declarations.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { build } from 'tsdown'
import { notices } from './notices.ts'

export const root = join(import.meta.dirname, '../..')
/** The oldest Node that the packages run on. */
const OLDEST = 'node20.18'

export interface Manifest {
  name: string
  version: string
  private?: boolean
  /** What is shipped beside the code and the licence. */
  files: string[]
  bin?: Record<string, string>
  exports?: Record<string, string>
  imports?: Record<string, Record<string, string>>
  dependencies?: Record<string, string>
}

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** The folders of the packages that are not private. */
export const PUBLISHED = readdirSync(join(root, 'packages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !readManifest(join(root, 'packages', entry.name)).private)
  .map(({ name }) => name)

/** Builds packages, each into a folder that can be published as it is. */
export async function buildPackages(folderOf: (name: string) => string, names = PUBLISHED): Promise<void> {
  await Promise.all(names.map((name) => buildPackage(join(root, 'packages', name), folderOf(name))))
}

async function buildPackage(source: string, target: string): Promise<void> {
  rmSync(target, { recursive: true, force: true })
  const manifest = readManifest(source)
  const { files, bin = {}, exports = {}, imports = {}, dependencies } = manifest
  const doors = Object.values(exports)
  const entry = [...doors, ...Object.values(bin), ...Object.values(imports).flatMap(Object.values<string>)]
  // A program without dependencies carries everything. Others keep their files, so that bundlers take what they need of them.
  const isWhole = dependencies === undefined
  await build({
    config: false,
    cwd: source,
    root: 'src',
    entry: Object.fromEntries(entry.map((path) => [path.replace(/^\.\/src\/|\.ts$/g, ''), path])),
    // As deep as the sources, so that paths relative to a file lead to the same place.
    outDir: join(target, 'lib'),
    // For `node` the bundler's own code would import `node:module`, which browsers have not.
    platform: isWhole ? 'node' : 'neutral',
    fixedExtension: false,
    target: OLDEST,
    unbundle: !isWhole,
    // What the manifest names stays an import. `#names` are decided by the conditions of whoever imports.
    deps: { neverBundle: [/^node:/, ...Object.keys(imports)], onlyBundle: false },
    plugins: isWhole ? [notices()] : [],
    tsconfig: join(root, 'packages/tsconfig.release.json'),
    dts: doors.length > 0 && { tsgo: true, cwd: source, entry: doors.map((path) => path.slice(2)) },
    // What is whole is not minified and can be read as it is: its maps would be twice its size.
    sourcemap: !isWhole,
    outputOptions: {
      // The same wherever it is built.
      sourcemapPathTransform: (path, map) => relative(root, resolve(dirname(map), path)),
    },
    checks: { pluginTimings: false },
    failOnWarn: true,
    suppressWarnings: /^TypeScript 7\.0 does not yet have a stable API/,
    logLevel: 'warn',
    report: false,
  })
  for (const path of ['LICENSE', ...files]) {
    cpSync(join(source, path), join(target, path), {
      recursive: true,
      filter: (file) => basename(file) !== 'node_modules',
    })
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`)
}

const ONLY_HERE = ['devDependencies', 'publishConfig', 'files', 'scripts', 'exports']

/** The manifest of what was built: its paths lead to JavaScript, and what only the repository needs is left out. */
function published(manifest: Manifest): unknown {
  const kept = Object.entries(manifest).filter(([field]) => !ONLY_HERE.includes(field))
  const doors = Object.entries(manifest.exports ?? {}).map(([path, file]) => [
    path,
    { types: file.replace('./src/', './lib/').replace(/\.ts$/, '.d.ts'), default: file },
  ])
  const exports = doors.length > 0 ? { exports: Object.fromEntries(doors) } : {}
  const text = JSON.stringify({ ...Object.fromEntries(kept), ...exports })
  return JSON.parse(text.replaceAll(/"\.\/src\/([^"]+)\.ts"/g, '"./lib/$1.js"'))
}
