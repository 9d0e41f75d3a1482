import { spawn } from 'node:child_process'
import { access } from 'node:fs/promises'
import type { Runner } from './runner.ts'

/** Nothing of the caller's environment (PGDATA, PGOPTIONS, LC_…) reaches the server. */
export const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC' }

export interface Outcome {
  ok: boolean
  /** All that it printed, or why it could not be run. */
  said: string
}

export function run(
  program: string,
  args: string[],
  options: { cwd: string; runner: Runner | undefined },
): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options.runner,
    })
    let said = ''
    child.stdout.on('data', (text) => {
      said += text
    })
    child.stderr.on('data', (text) => {
      said += text
    })
    child.on('error', (error) => resolve({ ok: false, said: error.message }))
    child.on('close', (code) => resolve({ ok: code === 0, said }))
  })
}

export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
