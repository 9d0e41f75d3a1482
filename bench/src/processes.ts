import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

export type Process = {
  /** Peak memory of the process and its children so far. */
  peakBytes(): number
  /** Processor time of the process and its children so far. */
  cpuSeconds(): number
  /** Tells the service to collect garbage. */
  collect(): void
  /** Rejects, with the last lines of its output, when the process ends before `stop` is called. */
  failed: Promise<never>
  stop(): Promise<void>
}

export type Command = { args: string[]; cwd?: string; env?: Record<string, string> }

const TICKS_PER_SECOND = 100
const running = new Set<ChildProcess>()
let wasInterrupted = false

/** Ends all processes that were started here: the benchmark then fails as if they had ended by themselves. */
export function interrupt(): void {
  wasInterrupted = true
  for (const child of running) child.kill('SIGTERM')
}

export const isInterrupted = () => wasInterrupted

export function endWhenInterrupted(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
}

/** Runs a program with this Node; its output goes to a file. */
export function run(name: string, { args, cwd, env }: Command, logFile: string): Process {
  const log = openSync(logFile, 'w')
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  endWhenInterrupted(child)
  let stopping = false
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  const failed = new Promise<never>((_, reject) => {
    child.on('error', (error) => reject(new Error(`cannot start ${name}: ${error.message}`)))
    child.on('exit', (code, signal) => {
      if (!stopping) reject(new Error(`${name} ended with ${signal ?? code}:\n${lastLines(logFile)}`))
    })
  })
  failed.catch(() => {})
  const peaks = new Map<number, number>()
  const sampling = setInterval(() => sample(child, peaks), 250)
  return {
    failed,
    peakBytes() {
      sample(child, peaks)
      return [...peaks.values()].reduce((sum, bytes) => sum + bytes, 0)
    },
    cpuSeconds: () => tree(child.pid).reduce((sum, pid) => sum + cpuTicks(pid), 0) / TICKS_PER_SECOND,
    collect: () => void child.kill('SIGUSR2'),
    async stop() {
      stopping = true
      clearInterval(sampling)
      child.kill('SIGTERM')
      await Promise.race([ended, sleep(10_000, undefined, { ref: false })])
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Runs a program and waits until a line of its output begins with "listening on <url>". */
export async function listening(
  name: string,
  command: Command,
  logFile: string,
): Promise<{ url: string; process: Process }> {
  const server = run(name, command, logFile)
  return { url: await Promise.race([addressIn(logFile), server.failed]), process: server }
}

async function addressIn(logFile: string): Promise<string> {
  for (;;) {
    const url = /^listening on (\S+)/m.exec(await readFile(logFile, 'utf8'))?.[1]
    if (url) return url
    // Unreferenced: polling for a program that has ended must not keep this process alive.
    await sleep(50, undefined, { ref: false })
  }
}

/** The kernel keeps the peak of each process; their sum is what the tree would need if all peaked at once. */
function sample(child: ChildProcess, peaks: Map<number, number>): void {
  for (const pid of tree(child.pid)) {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readOr(`/proc/${pid}/status`))?.[1]
    if (kilobytes) peaks.set(pid, Number(kilobytes) * 1_024)
  }
}

/** User and system time: the 14th and the 15th word, where the 2nd is the name in brackets and may hold spaces. */
function cpuTicks(pid: number): number {
  const [user = '0', system = '0'] =
    readOr(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ').slice(11, 13) ?? []
  return Number(user) + Number(system)
}

function tree(pid: number | undefined): number[] {
  if (pid === undefined) return []
  const children = readOr(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(tree)]
}

/** A process may end while one looks at it. */
function readOr(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-20).join('\n')
}
