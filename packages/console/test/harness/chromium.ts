// Finds a Chromium on this machine, or installs Debian's package where that is possible.
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome']
const CACHED = 'ms-playwright/chromium-*/chrome-linux*/chrome'
const INSTALL = [
  ['update', '-q'],
  ['install', '-q', '-y', '--no-install-recommends', 'chromium'],
]

/** What to do where there is none and we cannot install it. */
export const NO_CHROMIUM =
  'NO BROWSER TESTS: there is no Chromium here. Install it (Debian: apt-get install chromium) or name one with CHROMIUM=/path/to/chromium.'

const isThere = (path: string): boolean => existsSync(path)

/** One that is named but does not exist is an error, not a reason to take another. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.CHROMIUM) {
    if (!isThere(env.CHROMIUM)) throw new Error(`CHROMIUM names ${env.CHROMIUM}, which does not exist`)
    return env.CHROMIUM
  }
  const folders = (env.PATH ?? '').split(delimiter)
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isThere)
  return onPath ?? cachedByPlaywright(env)
}

function cachedByPlaywright(env: NodeJS.ProcessEnv): string | undefined {
  const cache = env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  return globSync(CACHED, { cwd: cache })
    .sort()
    .map((path) => join(cache, path))
    .at(-1)
}

const succeeds = ({ status }: SpawnSyncReturns<Buffer>): boolean => status === 0

/** Whether this user can install packages of the system. */
const canInstall = (): boolean =>
  process.getuid?.() === 0 && succeeds(spawnSync('apt-get', ['--version'], { stdio: 'ignore' }))

/** Installs Debian's package where there is no Chromium yet. Undefined: none can be had here. */
export async function installChromium(): Promise<string | undefined> {
  if (!canInstall()) return findChromium()
  for (const args of INSTALL) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const [status] = await once(spawn('apt-get', args, { stdio: 'inherit', env }), 'close')
    if (status !== 0) return undefined
  }
  const installed = findChromium()
  // The package of some systems is only a note that the browser is elsewhere.
  return installed && succeeds(spawnSync(installed, ['--version'], { stdio: 'ignore' }))
    ? installed
    : undefined
}
