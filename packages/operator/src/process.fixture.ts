// The referrer command, or a program of a test, as a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { bundled } from '@referrer/database/testing'

export interface Child {
  output: { out: string; err: string }
  /** Resolves when the output contains the text, and rejects when the process ends before. */
  says(text: string | RegExp): Promise<RegExpExecArray>
  exited: Promise<{ code: number | null; out: string; err: string }>
  kill(signal: NodeJS.Signals): void
}

const MAIN = new URL('main.ts', import.meta.url)

export const startReferrer = async (args: string[], env: Record<string, string>): Promise<Child> =>
  startProcess([await bundled(MAIN), ...args], env)

/** From the sources, without a bundle. */
export const startAsWritten = (args: string[], env: Record<string, string>): Child =>
  startProcess([fileURLToPath(MAIN), ...args], env)

/** With nothing of our own environment but what a process needs. */
export function startProcess(args: string[], env: Record<string, string>): Child {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, args, {
    env: { PATH, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { out: '', err: '' }
  const heard = new Set<() => void>()
  const hear = (name: 'out' | 'err') => (text: Buffer) => {
    output[name] += text
    for (const look of heard) look()
  }
  child.stdout.on('data', hear('out'))
  child.stderr.on('data', hear('err'))
  const exited = once(child, 'close').then(([code]) => ({ code, ...output }))
  return {
    output,
    exited,
    kill: (signal) => void child.kill(signal),
    says(text) {
      const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
      const pattern =
        typeof text === 'string' ? new RegExp(text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')) : text
      const look = () => {
        const found = pattern.exec(output.out)
        if (found) resolve(found)
      }
      heard.add(look)
      look()
      exited.then(() => reject(new Error(`it ended and did not say ${pattern}: ${output.out}${output.err}`)))
      return promise.finally(() => heard.delete(look))
    },
  }
}
