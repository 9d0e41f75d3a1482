// Makes the file tree of the image without a container engine: takes the steps of the Dockerfile in a folder.
// `node scripts/run.mjs deploy/image-tree.ts <folder>` puts it there.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { contextFilter, type Instruction, parseDockerfile } from './dockerfile.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8')

/** Returns the folder that is the root of the last stage. What the base images bring is not there, but for Node. */
export function makeImageTree(folder: string): string {
  const isSent = contextFilter(read('Dockerfile.dockerignore'))
  const node = process.execPath
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` }
  const rootOf = (stage: string) => join(folder, stage)
  let last = ''
  for (const [at, { name = String(at), instructions }] of parseDockerfile(read('Dockerfile')).entries()) {
    last = rootOf(name)
    let directory = '/'
    mkdirSync(last, { recursive: true })
    for (const instruction of instructions) {
      if (instruction.name === 'WORKDIR') {
        directory = instruction.text
        mkdirSync(join(last, directory), { recursive: true })
      } else if (instruction.name === 'COPY') copy(instruction, join(last, directory))
      else if (instruction.name === 'RUN') {
        execFileSync('sh', ['-ec', instruction.text], { cwd: join(last, directory), env, stdio: 'inherit' })
      }
    }
  }
  return last

  function copy({ text, flags: { from } }: Instruction, directory: string): void {
    const places = text.split(/\s+/)
    const target = places.pop() as string
    const to = target.startsWith('/') ? join(last, target) : join(directory, target)
    for (const place of places) {
      if (place === '/usr/local/bin/node') cpSync(node, join(last, place))
      else if (from) cpSync(join(rootOf(from), place), to, { recursive: true, verbatimSymlinks: true })
      else copyFromContext(place, target.endsWith('/') ? `${to}/` : to)
    }
  }

  /** A folder's content goes into the target, a file goes into it if it ends with a slash. */
  function copyFromContext(place: string, to: string): void {
    const isFolder = statSync(join(ROOT, place)).isDirectory()
    if (!isFolder) {
      if (!isSent(place))
        throw new Error(`the Dockerfile copies ${place}, which Dockerfile.dockerignore leaves out`)
      cpSync(join(ROOT, place), to.endsWith('/') ? join(to, basename(place)) : to)
      return
    }
    const exclude = (path: string) => path.endsWith('node_modules')
    for (const path of globSync('**/*', { cwd: join(ROOT, place), exclude })) {
      const from = join(ROOT, place, path)
      if (isSent(join(place, path)) && statSync(from).isFile()) cpSync(from, join(to, path))
    }
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean' } },
  })
  const [target] = positionals
  if (values.help || !target) {
    console.log(`Makes the tree of the image by the steps of the Dockerfile, without Docker. It takes a minute or two.

Usage: node scripts/run.mjs deploy/image-tree.ts <folder>`)
    process.exit(values.help ? 0 : 1)
  }
  if (existsSync(target) && !existsSync(join(target, 'app/packages/operator'))) {
    throw new Error(`${target} is there, and is no tree of an image: name another folder`)
  }
  const work = mkdtempSync(join(tmpdir(), 'referrer-image-'))
  try {
    const tree = makeImageTree(work)
    rmSync(target, { recursive: true, force: true })
    cpSync(tree, target, { recursive: true, verbatimSymlinks: true })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
