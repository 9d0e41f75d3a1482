// A sandbox as its users start it: a process of its own.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connect, type Sql, startPostgres } from '@referrer/database'
import { type Chains, readPorts, requireFree } from '../src/ports.ts'
import type { Contents } from '../src/sandbox.ts'
import { databaseDirectory, type SandboxAccount, type SandboxState, statePath } from '../src/state.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** A start takes ten seconds, and many times that on a machine that does something else as well. */
export const PATIENCE_MS = 240_000

export type Started = ReturnType<typeof run>

/** Runs a program and collects what it says. */
export function run(file: string, env: Record<string, string>, args: string[] = []) {
  const child = spawn(process.execPath, [file, ...args], { env: { ...process.env, ...env } })
  const output = { text: '' }
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output.text += chunk
    })
  }
  return { child, output, ended: once(child, 'close') }
}

export const runSandbox = (env: Record<string, string>, args?: string[]) => run(MAIN, env, args)

export async function until(condition: () => boolean | Promise<boolean>, { child, output }: Started) {
  while (!(await condition())) {
    if (child.exitCode !== null) throw new Error(`the sandbox ended: ${output.text}`)
    await sleep(50)
  }
}

/** One at which all ports are free, below those of the documents' test and those that the system gives to connections: nobody takes them by chance meanwhile. */
export async function freeOffset(): Promise<string> {
  for (;;) {
    const offset = String(randomInt(2_000, 20_000))
    const isFree = await requireFree(readPorts({ PORT_OFFSET: offset }, 2)).then(
      () => true,
      () => false,
    )
    if (isFree) return offset
  }
}

export interface TestSandbox extends Started {
  offset: string
  /** Where its state file is. */
  directory: string
  state: SandboxState
  account(role: string): SandboxAccount
  /** Ends it, if that has not happened yet, and takes its files along. */
  end(): Promise<void>
}

/** The small one has a shop with three products, and five reviews of them. */
export async function startTestSandbox(
  contents: Contents = 'small',
  chains: Chains = 1,
): Promise<TestSandbox> {
  const offset = await freeOffset()
  const directory = dirname(statePath({ PORT_OFFSET: offset }))
  const args = [...(contents === 'demo' ? [] : [`--${contents}`]), '--chains', String(chains)]
  const started = runSandbox({ PORT_OFFSET: offset }, args)
  await until(() => started.output.text.includes('sandbox ready'), started)
  const state: SandboxState = JSON.parse(readFileSync(join(directory, 'state.json'), 'utf8'))
  return {
    ...started,
    offset,
    directory,
    state,
    account(role) {
      const found = state.accounts.find((entry) => entry.role === role)
      if (!found) throw new Error(`no account plays ${role}`)
      return found
    },
    async end() {
      started.child.kill('SIGINT')
      await started.ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Does something with the records of a sandbox that runs, of which its doors know nothing. */
export async function inDatabase<T>(
  { directory, state }: Pick<TestSandbox, 'directory' | 'state'>,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const port = Number(new URL(state.baseUrl).port)
  // Joins the server that runs there.
  const server = await startPostgres({ directory: databaseDirectory(join(directory, 'state.json'), port) })
  const url = new URL(server.url)
  url.pathname = '/market'
  const sql = connect(url.href, { max: 1, name: 'test' })
  try {
    return await work(sql)
  } finally {
    await sql.end()
    await server.stop()
  }
}
