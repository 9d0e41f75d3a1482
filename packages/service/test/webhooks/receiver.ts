// A receiver of webhooks on this machine, which verifies what it gets with the official library.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

export interface Got {
  path: string
  id: string
  headers: IncomingHttpHeaders
  body: string
}

export interface Reply {
  status: number
  headers?: Record<string, string>
  body?: string
}

export interface Receiver {
  url: string
  got: Got[]
  /** How the next requests to a path are answered; afterwards with 204. */
  answer(path: string, ...replies: Reply[]): void
  /** Requests to a path are not answered until the returned function is called. */
  hold(path: string): () => void
  /** What arrived at a path. */
  at(path: string): Got[]
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const got: Got[] = []
  const replies = new Map<string, Reply[]>()
  const held = new Map<string, Promise<void>>()
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const body = await text(request)
    got.push({ path, id: String(request.headers['webhook-id']), headers: request.headers, body })
    await held.get(path)
    const { status, headers = {}, body: answer } = replies.get(path)?.shift() ?? { status: 204 }
    response.writeHead(status, headers).end(answer)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    answer: (path, ...next) => void replies.set(path, next),
    hold(path) {
      const { promise, resolve } = Promise.withResolvers<void>()
      held.set(path, promise)
      return () => {
        held.delete(path)
        resolve()
      }
    },
    at: (path) => got.filter((one) => one.path === path),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The message, when the official library accepts its signature. */
export const verified = (secret: string, { body, headers }: Got) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as {
    type: string
    timestamp: string
    // biome-ignore lint/suspicious/noExplicitAny: tests look into it
    data: any
  }
