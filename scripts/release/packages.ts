// Published packages hold JavaScript: Node runs no TypeScript that lies in node_modules.
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')
/** Each may import those before it. */
export const LIBRARIES = ['protocol', 'merchant']

type Manifest = Record<string, unknown>

/** Compiles the libraries, each into a folder that can be published as it is. */
export function buildLibraries(folderOf: (name: string) => string): void {
  const paths: Record<string, string[]> = {}
  for (const name of LIBRARIES) {
    const source = join(root, 'packages', name)
    const target = folderOf(name)
    rmSync(target, { recursive: true, force: true })
    mkdirSync(target, { recursive: true })
    compile(source, target, paths)
    const manifest = published(JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')))
    writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    for (const file of ['README.md', 'LICENSE']) copyFileSync(join(source, file), join(target, file))
    for (const [path, { types }] of Object.entries(manifest.exports as ReturnType<typeof typed>)) {
      paths[join(`@referrer/${name}`, path)] = [join(target, types)]
    }
  }
}

function compile(source: string, target: string, paths: Record<string, string[]>): void {
  const config = join(target, 'tsconfig.json')
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    rootDir: join(source, 'src'),
    outDir: target,
    typeRoots: [join(root, 'node_modules/@types')],
    paths,
  }
  const files = { include: [join(source, 'src')], exclude: [join(source, 'src/**/*.test.ts')] }
  writeFileSync(config, JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, ...files }))
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    execFileSync(process.execPath, [tsc, '-p', config], { stdio: ['ignore', 'inherit', 'inherit'] })
  } finally {
    rmSync(config)
  }
}

/** The manifest of what was compiled: its paths lead to JavaScript, and what only development needs is left out. */
function published({ devDependencies: _, publishConfig: __, files: ___, ...manifest }: Manifest): Manifest {
  const compiled = JSON.stringify({ ...manifest, exports: typed(manifest.exports as Record<string, string>) })
  return JSON.parse(compiled.replaceAll(/"\.\/src\/([^"]+)\.ts"/g, '"./$1.js"'))
}

const typed = (exports: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(exports).map(([path, file]) => [
      path,
      { types: file.replace('./src/', './').replace(/\.ts$/, '.d.ts'), default: file },
    ]),
  )
