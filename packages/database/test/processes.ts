// Processes and directories that the tests make, and take away again.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

export const isRoot = process.getuid?.() === 0

/** A directory that every user may enter, removed after the test. */
export async function temporaryDirectory(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'referrer-db-'))
  await chmod(directory, 0o755)
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export interface Child {
  process: ChildProcess
  /** The next line it prints; fails when it ends instead. */
  line(): Promise<string>
  /** All it wrote to stderr so far. */
  complaints(): string
  kill(): Promise<void>
  /** Closes its stdin, at which it ends in order. */
  finish(): Promise<void>
}

/** Runs one of test/children with real process boundaries. */
export function startChild(
  script: string,
  args: string[],
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
): Child {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'children', script), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: '/',
    env: { ...process.env, ...options.env },
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  })
  const ended = once(child, 'exit')
  let complaints = ''
  child.stderr.on('data', (text) => {
    complaints += text
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return {
    process: child,
    complaints: () => complaints,
    async line() {
      const next = await lines.next()
      if (next.done) throw new Error(`${script} ended: ${complaints}`)
      return next.value
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async finish() {
      child.stdin.end()
      await ended
    },
  }
}

export function postmasterPid(directory: string): number {
  return Number.parseInt(readFileSync(join(directory, 'data', 'postmaster.pid'), 'utf8'), 10)
}

/** Whether another than `before` has taken the lock; in between there is none. */
export function hasNewPostmaster(directory: string, before: number): boolean {
  try {
    return postmasterPid(directory) !== before
  } catch {
    return false
  }
}

export function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== ''
  } catch {
    return false
  }
}

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(10)
}
