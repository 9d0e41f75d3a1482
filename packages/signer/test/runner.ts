// `referrer-signer run` as an owner starts it: a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bundled } from '@referrer/database/testing'
import { MAIN } from './signer.ts'

export interface TestRunner {
  /** All that it has said. */
  said(): string
  /** Resolves when it has said something that matches. */
  says(pattern: RegExp): Promise<void>
  kill(signal?: NodeJS.Signals): void
  /** The exit code; null when it was killed. */
  ended: Promise<number | null>
}

export async function startRunner(
  env: Record<string, string>,
  args: string[],
  program = MAIN,
): Promise<TestRunner> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(process.execPath, [await bundled(program), 'run', ...args], {
    env: { PATH, NODE_COMPILE_CACHE, ...env },
  })
  let text = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      for (const listener of listeners) listener()
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    said: () => text,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => pattern.test(text) && resolve()
        listeners.add(look)
        look()
        void ended.then(() => reject(new Error(`it ended without saying ${pattern}: ${text}`)))
      }),
    kill: (signal = 'SIGKILL') => void child.kill(signal),
    ended,
  }
}

export interface Relay {
  url: string
  /** Called with every message before it is passed on; `false`: it is answered with 503 instead. */
  before: ((body: string) => unknown) | undefined
  /** Changes what was answered. */
  after: ((path: string, text: string) => string) | undefined
  close(): Promise<void>
}

/** Stands between a signer and the marketplace, or its node. */
export async function startRelay(target: string): Promise<Relay> {
  const relay: Relay = { url: '', before: undefined, after: undefined, close: async () => {} }
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    if ((await relay.before?.(body.toString())) === false) return void outgoing.writeHead(503).end()
    const { host: _, connection: __, ...headers } = incoming.headers
    const answer = await fetch(`${target}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(body.length > 0 && { body }),
    })
    const { 'content-encoding': ___, 'content-length': ____, ...given } = Object.fromEntries(answer.headers)
    const text = await answer.text()
    outgoing.writeHead(answer.status, given).end(relay.after?.(incoming.url ?? '/', text) ?? text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  relay.close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return relay
}
