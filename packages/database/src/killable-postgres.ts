// A Postgres that can be killed, and stays dead until it is started again.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

export interface KillableServer {
  url: string
  /** All its processes at once, as when the power fails. */
  kill(): Promise<void>
  /** On the same directory. */
  start(): Promise<void>
  /** It lives, keeps its connections and takes new ones, but does not answer. */
  freeze(): void
  thaw(): void
}

export interface KillablePostgres extends KillableServer {
  remove(): Promise<void>
}

export async function startKillablePostgres(): Promise<KillablePostgres> {
  const directory = temporaryPlace()
  const server = await startServer(join(directory, 'postgres'))
  return {
    ...server,
    async remove() {
      await server.kill()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A directory that the server's user may enter, too. */
export function temporaryPlace(): string {
  const directory = mkdtempSync(join(tmpdir(), 'referrer-outage-'))
  chmodSync(directory, 0o711)
  return directory
}

/** The server of a directory. Its keeper, who would start it again at once, is a process of its own: it is killed first. */
export async function startServer(
  home: string,
  settings: Record<string, string> = {},
): Promise<KillableServer> {
  let keeper: ChildProcess | undefined
  let frozen: number[] = []

  async function start(): Promise<string> {
    const program = join(import.meta.dirname, 'killable-postgres.keeper.ts')
    keeper = spawn(process.execPath, [program, home, JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    if (!keeper.stdout) throw new Error('the keeper has no output')
    const [url] = await once(createInterface(keeper.stdout), 'line')
    return url
  }

  return {
    url: await start(),
    async kill() {
      keeper?.kill('SIGKILL')
      const pids = processesOf(home)
      for (const pid of pids) signal(pid, 'SIGKILL')
      while (pids.some(isRunning)) await sleep(10)
    },
    async start() {
      await start()
    },
    freeze() {
      frozen = processesOf(home)
      for (const pid of frozen) signal(pid, 'SIGSTOP')
    },
    thaw() {
      for (const pid of frozen) signal(pid, 'SIGCONT')
    },
  }
}

/** The postmaster first, so that it starts nobody anew. */
export function processesOf(home: string): number[] {
  const postmaster = Number.parseInt(readOr(join(home, 'data', 'postmaster.pid')), 10)
  if (Number.isNaN(postmaster) || !isRunning(postmaster)) return []
  const children = readOr(`/proc/${postmaster}/task/${postmaster}/children`)
  return [postmaster, ...children.split(' ').filter(Boolean).map(Number)]
}

/** A zombie's command line is empty. */
const isRunning = (pid: number) => readOr(`/proc/${pid}/cmdline`) !== ''

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
