import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endWhenInterrupted, isInterrupted } from '../processes.ts'

export type Kind = 'api' | 'workers' | 'facilitator'

/** A process of the cluster. Whatever ends it, it is started again, as systemd or Kubernetes would do. */
export interface Member {
  name: string
  kind: Kind
  url: string
  kills: number
  /** SIGKILL: the process gets no chance to tidy up. */
  kill(): void
  isReady(): Promise<boolean>
  stop(): Promise<void>
}

export interface MemberOptions {
  name: string
  kind: Kind
  port: number
  env: Record<string, string>
  logFile: string
}

const PROGRAM = fileURLToPath(new URL('../../../packages/operator/src/main.ts', import.meta.url))
const ROLES: Record<Kind, string> = { api: 'api', workers: 'indexer,workers', facilitator: 'facilitator' }
const RESTART_MS = 1_000
const STOP_MS = 15_000

export function startMember({ name, kind, port, env, logFile }: MemberOptions): Member {
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess
  let isStopping = false
  let ended: Promise<void>

  function start(): void {
    const log = openSync(logFile, 'a')
    child = spawn(process.execPath, [PROGRAM, 'serve', '--roles', ROLES[kind]], {
      env: { ...process.env, ...env, PORT: String(port) },
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    endWhenInterrupted(child)
    ended = new Promise((resolve) => child.once('exit', () => resolve()))
    void ended.then(async () => {
      await sleep(RESTART_MS)
      if (!isStopping && !isInterrupted()) start()
    })
  }

  const member: Member = {
    name,
    kind,
    url,
    kills: 0,
    kill() {
      member.kills += 1
      child.kill('SIGKILL')
    },
    async isReady() {
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(
        () => undefined,
      )
      return answer?.status === 200
    },
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })])
      child.kill('SIGKILL')
      await ended
    },
  }
  start()
  return member
}

/** Throws with the names of those that are not ready in time. */
export async function allReady(members: readonly Member[], withinMs: number): Promise<void> {
  const end = performance.now() + withinMs
  for (;;) {
    const states = await Promise.all(members.map((member) => member.isReady()))
    if (states.every(Boolean)) return
    if (performance.now() > end || isInterrupted()) {
      const missing = members.filter((_, at) => !states[at]).map(({ name }) => name)
      throw new Error(`not ready after ${withinMs / 1_000} s: ${missing.join(', ')}; --keep keeps their logs`)
    }
    await sleep(250)
  }
}

/** Ports that nothing listens on: a member keeps its port when it is started again. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return server
    }),
  )
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
