// Runs the tools that make up the test command, each with its log file, and prints their progress.
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'

export interface Step {
  name: string
  /** Arguments of Node: the tool's entry and its own arguments. */
  command: string[]
  cwd: string
  /** Beside what this process has. */
  env?: Record<string, string>
  /** One line about the output, when the tool is done; a throw fails the step. */
  summary(output: string): string
}

export interface StepResult {
  name: string
  ok: boolean
  seconds: number
  summary: string
  output: string
}

const TICK_MS = 15_000
const running = new Map<string, { child: ChildProcess; started: number }>()

export async function runStep(step: Step, logs: string): Promise<StepResult> {
  console.log(`· ${step.name}`)
  const started = Date.now()
  const { code, output } = await runTool(step, join(logs, `${step.name}.log`))
  const seconds = (Date.now() - started) / 1000
  const result: StepResult = { name: step.name, ok: code === 0, seconds, summary: '', output }
  try {
    result.summary = step.summary(output)
  } catch (error) {
    result.ok = false
    result.summary = error instanceof Error ? error.message : String(error)
  }
  console.log(describe(result))
  return result
}

export const describe = ({ name, ok, seconds, summary }: StepResult) =>
  `${ok ? '✓' : '✗'} ${name.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s  ${summary}`.trimEnd()

export const skipped = (name: string, summary: string): StepResult => ({
  name,
  ok: false,
  seconds: 0,
  summary,
  output: '',
})

/** Prints every 15 seconds which steps run. Returns the function that stops it. */
export function tick(): () => void {
  const timer = setInterval(() => {
    const long = [...running]
      .map(([name, { started }]) => ({ name, seconds: Math.round((Date.now() - started) / 1000) }))
      .filter(({ seconds }) => seconds >= 5)
    if (long.length) console.log(`… ${long.map(({ name, seconds }) => `${name} ${seconds} s`).join(', ')}`)
  }, TICK_MS)
  return () => clearInterval(timer)
}

export function stopAll(signal: NodeJS.Signals) {
  for (const { child } of running.values()) child.kill(signal)
}

function runTool(
  { name, command, cwd, env: own }: Step,
  logPath: string,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const log = createWriteStream(logPath)
    const { FORCE_COLOR: _, ...env } = process.env
    const child = spawn(process.execPath, command, {
      cwd,
      env: { ...env, ...own, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.set(name, { child, started: Date.now() })
    let output = ''
    const take = (chunk: string) => {
      output += chunk
      log.write(chunk)
    }
    child.stdout.setEncoding('utf8').on('data', take)
    child.stderr.setEncoding('utf8').on('data', take)
    child.on('error', (error) => take(`cannot start ${command[0]}: ${error.message}\n`))
    child.on('close', (code) => {
      running.delete(name)
      log.end(() => resolve({ code: code ?? 1, output }))
    })
  })
}
