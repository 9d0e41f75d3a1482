import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, link, lstat, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, DatabaseError } from './errors.ts'
import { type Home, SOCKET_NAME } from './home.ts'
import { ENVIRONMENT } from './run.ts'

const { O_APPEND, O_NOFOLLOW, O_WRONLY } = constants
const LOG_LIMIT = 10 * 1024 * 1024

const SETTINGS: Record<string, string> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '128MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Failed statements are the caller's to report, and would put its data into the log.
  log_min_messages: 'log',
  log_checkpoints: 'off',
  jit: 'off',
  // Parallel plans need /dev/shm, of which containers have little, and short queries do not gain by them.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
}

export interface Launch {
  /** Resolves when the process has ended, with what it wrote to the log. */
  ended: Promise<string>
}

/** Starts the server in a session of its own: a Ctrl-C at the terminal is for its owner, who stops it in order. */
export async function launch(
  postgres: string,
  home: Home,
  settings: Record<string, string>,
): Promise<Launch> {
  const options = Object.entries({
    ...SETTINGS,
    ...settings,
    cluster_name: home.cluster,
    unix_socket_directories: home.socketDirectory,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = await openLog(home)
  const { size } = await log.stat()
  const child = spawn(postgres, ['-D', home.data, ...options], {
    cwd: home.directory,
    env: ENVIRONMENT,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    ...home.runner,
  })
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', () => resolve(logSince(home, size)))
  })
  await log.close()
  child.unref()
  return { ended }
}

/** Fast shutdown; when that takes too long the immediate one, which the next start recovers from. */
export async function shutDown(home: Home): Promise<void> {
  const pid = await postmasterPid(home)
  if (pid === undefined || !(await isOurs(pid, home))) return
  for (const [signal, patience] of [
    ['SIGINT', 30_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error
    }
    for (let waited = 0; waited < patience; waited += 20) {
      if (!(await isOurs(pid, home))) return
      await sleep(20)
    }
  }
  throw new DatabaseError(`Postgres (process ${pid}) does not stop: end it with kill -9 ${pid}.`)
}

/** Removes the lock files of a dead server whose process number now belongs to somebody else. */
export async function removeStaleLocks(home: Home): Promise<void> {
  const before = await postmasterPid(home)
  for (const name of await readdir('/proc')) {
    if (/^\d+$/.test(name) && (await isOurs(Number(name), home))) return
  }
  if ((await postmasterPid(home)) !== before) return
  await rm(join(home.data, 'postmaster.pid'), { force: true })
  await rm(join(home.socketDirectory, `${SOCKET_NAME}.lock`), { force: true })
}

async function postmasterPid(home: Home): Promise<number | undefined> {
  const text = await readFile(join(home.data, 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  return Number.isNaN(pid) ? undefined : pid
}

/** A zombie's command line is empty, a stranger's does not name the cluster. */
async function isOurs(pid: number, home: Home): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return line.includes(`cluster_name=${home.cluster}`) || line.startsWith(`postgres: ${home.cluster}`)
}

/** Root opens it in a directory of the runner's, who may have put a link to any file in its place. */
async function openLog(home: Home): Promise<FileHandle> {
  const size = await lstat(home.log).then(
    (file) => file.size,
    () => undefined,
  )
  const isFull = size !== undefined && size > LOG_LIMIT
  // Who starts at the same time may have put it aside already.
  if (isFull) await rename(home.log, `${home.log}.old`).catch(unlessMissing)
  const fresh = isFull || size === undefined ? await createLog(home) : undefined
  if (fresh) return fresh
  const log = await open(home.log, O_WRONLY | O_APPEND | O_NOFOLLOW).catch((error: unknown) => {
    throw codeOf(error) === 'ELOOP' ? notItsOwn(home) : error
  })
  if (!home.runner || (await log.stat()).uid === home.runner.uid) return log
  await log.close()
  throw notItsOwn(home)
}

/** Gets its name when it has its owner: who starts at the same time never finds a log of root's. */
async function createLog(home: Home): Promise<FileHandle | undefined> {
  const draft = `${home.log}.${randomBytes(6).toString('hex')}.new`
  const log = await open(draft, 'ax', 0o600)
  try {
    if (home.runner) await log.chown(home.runner.uid, home.runner.gid)
    await link(draft, home.log)
    return log
  } catch (error) {
    await log.close()
    if (codeOf(error) !== 'EEXIST') throw error
    return undefined
  } finally {
    await rm(draft, { force: true })
  }
}

function unlessMissing(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error
}

function notItsOwn(home: Home): DatabaseError {
  return new DatabaseError(`${home.log} is not a file of Postgres's user: remove it and start again.`)
}

async function logSince(home: Home, offset: number): Promise<string> {
  const log = await readFile(home.log).catch(() => Buffer.alloc(0))
  return log.subarray(offset).toString('utf8')
}
