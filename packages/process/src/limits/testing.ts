// Stores of rate limits for tests and benchmarks, and a Redis or Valkey server of their own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '@referrer/net/free-port'

export { createPostgresStore } from './postgres.ts'
export { createRedisStore } from './redis.ts'
export type { Store } from './store.ts'

/** What to do where there is no server and none can be downloaded. */
export const NO_REDIS =
  'NO REDIS TESTS: there is neither valkey-server nor redis-server here, and Debian’s package cannot be downloaded. Install one of them.'

const NAMES = ['valkey', 'redis']
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/referrer-redis', import.meta.url))

export interface RedisServer {
  url: string
  /** As a crash does; what it kept is lost. */
  kill(): Promise<void>
  /** On the same port. */
  start(): Promise<void>
  /** It lives and keeps its connections, but does not answer. */
  freeze(): void
  thaw(): void
}

interface Program {
  path: string
  /** Where its libraries are, if not among those of the system. */
  libraries?: string | undefined
}

/** Undefined: there is none. */
export function findRedis(env: NodeJS.ProcessEnv = process.env): Program | undefined {
  const folders = (env.PATH ?? '').split(delimiter)
  const path = NAMES.flatMap((name) => folders.map((folder) => join(folder, `${name}-server`))).find(
    existsSync,
  )
  return path ? { path } : (unpackedIn(CACHE) ?? download())
}

function unpackedIn(folder: string): Program | undefined {
  const [path] = globSync('usr/bin/{valkey,redis}-server', { cwd: folder })
  const [library] = globSync('usr/lib/*/*.so.*', { cwd: folder })
  return path ? { path: join(folder, path), libraries: library && join(folder, dirname(library)) } : undefined
}

/** Unpacks Debian's package beside the dependencies; that needs no rights on the machine. */
function download(): Program | undefined {
  mkdirSync(dirname(CACHE), { recursive: true })
  const folder = mkdtempSync(`${CACHE}-`)
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, args, { cwd: folder, encoding: 'utf8', timeout: 120_000 })
  const fetched = (name: string) => {
    const named = run('apt-cache', 'depends', `${name}-tools`).stdout?.match(/(?<=Depends: )lib\S+/g) ?? []
    const libraries = named.filter((library) => run('dpkg-query', '-W', library).status !== 0)
    return run('apt-get', 'download', `${name}-server`, `${name}-tools`, ...libraries).status === 0
  }
  try {
    const isFetched = () => NAMES.some(fetched)
    if (!isFetched() && (run('apt-get', 'update', '-q').status !== 0 || !isFetched())) return undefined
    for (const file of globSync('*.deb', { cwd: folder })) run('dpkg', '-x', file, 'unpacked')
    // Another worker may have been faster.
    if (!existsSync(CACHE)) renameSync(join(folder, 'unpacked'), CACHE)
    return unpackedIn(CACHE)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts a server that keeps nothing on disk. */
export async function startRedis({ path, libraries }: Program): Promise<RedisServer> {
  const port = await freePort()
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const settings = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no']
    child = spawn(path, [...settings, '--dir', tmpdir()], {
      env: { ...process.env, ...(libraries !== undefined && { LD_LIBRARY_PATH: libraries }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (!child.stdout) throw new Error('the server has no output')
    for await (const line of createInterface(child.stdout)) if (/ready to accept/i.test(line)) break
    if (child.exitCode !== null) throw new Error(`${path} ended at once`)
    child.stdout.resume()
  }

  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    async kill() {
      if (child?.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    start,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
  }
}
