// The service as a process of its own, as in a deployment.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundled } from '@referrer/database/testing'
import { until } from '../../src/machinery/workers/testing.ts'

export interface ServiceProcess {
  url: string
  /** Null while it runs. */
  exitCode(): number | null
  /** Stops it gracefully; returns its exit code and what it wrote to stderr. */
  stop(): Promise<{ code: number | null; complaints: string }>
  /** Kills the process at once, as a crash does. */
  kill(): Promise<void>
}

export async function startServiceProcess(env: Record<string, string>): Promise<ServiceProcess> {
  const program = await bundled(new URL('../../src/app/program.fixture.ts', import.meta.url))
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, PORT: '0', EMBEDDER: 'off', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  let complaints = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  child.stderr.on('data', (text) => {
    complaints += text
  })
  const exited = once(child, 'close')
  const url = await until(() => {
    if (child.exitCode !== null) throw new Error(`the service ended: ${complaints}`)
    return /ready on (\S+),/.exec(said)?.[1]
  }, 'the service')
  return {
    url,
    exitCode: () => child.exitCode,
    async stop() {
      child.kill('SIGTERM')
      await exited
      return { code: child.exitCode, complaints }
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
