// A facilitator in a process of its own, which can be killed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { bundled } from '@referrer/database/testing'
import { type Answer, type Ask, send } from '../asking.ts'

/**
 * Where it dies: after the trial, after the rows and the intent are written, then as the sender tells; `ended`: the outcome is recorded and
 * nobody has been answered.
 */
export type Deadly = 'tried' | 'sending' | 'signed' | 'stored' | 'broadcast' | 'mined' | 'ended'

/** In the environment variable FIXTURE. */
export interface FixtureSettings {
  /** For an answer of a node; left out: as the facilitator has it. */
  patienceMs?: number
}

export interface FacilitatorProcess {
  url: string
  call(method: string, path: string, ask?: Ask): Promise<Answer>
  settle(body: unknown): Promise<Answer>
  dieAt(step: Deadly): Promise<void>
  isAlive(): boolean
  /** Resolves when it is dead; throws when it was not killed. */
  dead: Promise<void>
  kill(): Promise<void>
}

const PROGRAM = new URL('program.ts', import.meta.url)

/** Throws with what it said when it ends instead of getting ready. */
export async function startProcess(
  env: Record<string, string>,
  settings: FixtureSettings = {},
): Promise<FacilitatorProcess> {
  const child = spawn(process.execPath, [await bundled(PROGRAM)], {
    env: { ...process.env, ...env, FIXTURE: JSON.stringify(settings) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let complaints = ''
  child.stderr?.on('data', (text) => {
    complaints += text
  })
  const dead = once(child, 'close').then(([code, signal]) => {
    if (signal !== 'SIGKILL') throw new Error(`the facilitator ended with ${code ?? signal}: ${complaints}`)
  })
  dead.catch(() => {})
  if (!child.stdout) throw new Error('a spawned process has a standard output')
  const ready = once(createInterface(child.stdout), 'line') as Promise<[string]>
  const [line] = await Promise.race([ready, dead.then(() => ready)])
  const url = /ready on (\S+),/.exec(line)?.[1]
  if (url === undefined) throw new Error(`the facilitator said "${line}" instead of where it listens`)
  const call: FacilitatorProcess['call'] = (method, path, ask) => send(url, method, path, ask)
  return {
    url,
    call,
    settle: (body) => call('POST', '/settle', { body }),
    async dieAt(step) {
      child.send(step, () => {})
      await Promise.race([once(child, 'message'), dead])
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
    dead,
    async kill() {
      child.kill('SIGKILL')
      await dead
    },
  }
}
