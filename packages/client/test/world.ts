import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { BASE_URL, type TestMarket } from '../../service/test/http/market.ts'
import { createReferrerClient, type ReferrerClient, type ReferrerClientOptions } from '../src/index.ts'

export interface Asked {
  method: string
  path: string
  headers: Record<string, string>
  body: string
}

export interface TestClient extends ReferrerClient {
  /** What it has sent, in order. */
  asked: Asked[]
}

/** A client of the market under its public URL, over real HTTP to where the service listens. */
export function clientOf(m: TestMarket, options: Partial<ReferrerClientOptions> = {}): TestClient {
  const asked: Asked[] = []
  const client = createReferrerClient({
    url: BASE_URL,
    now: () => Date.now() + m.clock.aheadMs,
    fetch: (input, init) => {
      const path = String(input).slice(BASE_URL.length)
      const headers = Object.fromEntries(new Headers(init?.headers))
      asked.push({ method: init?.method ?? 'GET', path, headers, body: String(init?.body ?? '') })
      return fetch(`${m.service.url}${path}`, init)
    },
    ...options,
  })
  return Object.assign(client, { asked })
}

export interface StandIn {
  url: string
  asked: Asked[]
  close(): Promise<void>
}

/** What answers in the place of a market: one answer after the other, and the last one again and again. */
export async function standIn(
  ...answers: ((response: ServerResponse, request: IncomingMessage) => void)[]
): Promise<StandIn> {
  const asked: Asked[] = []
  const server = createServer(async (request, response) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)]
    const { method = '', url: path = '', headers } = request
    asked.push({ method, path, headers: headers as Record<string, string>, body: await text(request) })
    answer?.(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** An answer of a stand-in. */
export const answering =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(sent)
  }

/** The connection ends without an answer. */
export const hangingUp = (response: ServerResponse): void => {
  response.destroy()
}

/** The error that a promise rejects with. */
export const thrown = (promise: Promise<unknown>): Promise<Error & Record<string, unknown>> =>
  promise.then(
    (value) => {
      throw new Error(`nothing was thrown; the answer is ${JSON.stringify(value)}`)
    },
    (error) => error,
  )
