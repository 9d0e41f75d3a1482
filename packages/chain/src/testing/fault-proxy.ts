import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Ask, type Call, concerns, faultyNode, type NodeFault } from './node-faults.ts'
import { int } from './random.ts'

/** Faults of the connection to the node. */
const LINE_FAULTS = ['hang', 'reset', 'http500', 'rateLimit', 'garbage', 'delay', 'loseAnswer'] as const
const NODE_FAULTS: NodeFault[] = ['dropTransaction', 'rangeTooLarge', 'truncateLogs', 'lieAboutLatest', 'lag']

/**
 * - `hang`: no answer until the client gives up
 * - `delay`: a late answer
 * - `reset`: the socket is destroyed before the node gets the request
 * - `loseAnswer`: the node executes the request, then the socket is destroyed
 * - `http500`, `rateLimit` (HTTP 429 or JSON-RPC -32005), `garbage` (JSON that breaks off)
 * - `lag`: the node answers as it was some blocks ago
 * - `lieAboutLatest`: it claims blocks that do not exist
 * - `rangeTooLarge`: it refuses logs of more than a few blocks
 * - `truncateLogs`: it leaves logs beyond the hundredth out and does not say so
 * - `dropTransaction`: it takes a transaction, gives its hash and forgets it
 */
export type FaultName = (typeof LINE_FAULTS)[number] | NodeFault
/** The probability of each fault per HTTP request to which it applies. */
export type FaultRates = Partial<Record<FaultName, number>>

export interface FaultProxy {
  url: string
  /** `fetch` for whoever runs in this process and asks by the URL: while there are no faults, the node is asked directly. */
  fetch: typeof fetch
  setFaults(faults: FaultRates): void
  /** How often each fault happened. */
  counts: Readonly<Record<FaultName, number>>
  close(): Promise<void>
}

export interface FaultProxyOptions {
  /** URL of the honest node. */
  target: string
  /** Reaches the honest node; left out: over HTTP. */
  fetch?: typeof fetch
  random: () => number
  faults?: FaultRates
}

/** A proxy that adds faults to an honest JSON-RPC node. At most one fault per HTTP request. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { target, random, fetch: reach = fetch } = options
  let faults = options.faults ?? {}
  const names: FaultName[] = [...LINE_FAULTS, ...NODE_FAULTS]
  const counts = Object.fromEntries(names.map((name) => [name, 0])) as Record<FaultName, number>
  const closing = new AbortController()

  const happens = (fault: FaultName) => random() < (faults[fault] ?? 0)

  function draw(calls: Call[]): FaultName | undefined {
    const fault =
      LINE_FAULTS.find(happens) ??
      NODE_FAULTS.find((name) => calls.some((call) => concerns(name, call)) && happens(name))
    if (fault) counts[fault] += 1
    return fault
  }

  async function forward(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    const response = await reach(target, { method: 'POST', headers, body, signal: closing.signal })
    return response.text()
  }

  const ask: Ask = async (method, params) => {
    const answer = await forward(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const { result, error }: Answer = JSON.parse(answer)
    return error ? { error } : { result }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request)
    const body: Call | Call[] = JSON.parse(raw)
    const calls = Array.isArray(body) ? body : [body]
    const fault = draw(calls)
    const send = (status: number, content: string, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(content)
    const encode = (answers: Answer[]) => {
      const full = answers.map((answer, at) => ({ jsonrpc: '2.0', id: calls[at]?.id ?? null, ...answer }))
      return JSON.stringify(Array.isArray(body) ? full : full[0])
    }
    switch (fault) {
      case undefined:
        return void send(200, await forward(raw))
      case 'hang':
        return
      case 'reset':
        return void request.socket.destroy()
      case 'http500':
        return void send(500, 'internal server error')
      case 'rateLimit': {
        if (random() < 0.5) return void send(429, '', { 'retry-after': String(int(random, 0, 1)) })
        const error = { code: -32005, message: 'limit exceeded' }
        return void send(200, encode(calls.map(() => ({ error }))))
      }
      case 'garbage': {
        const content = await forward(raw)
        return void send(200, content.slice(0, int(random, 0, content.length - 1)))
      }
      case 'delay':
        await sleep(int(random, 50, 500), undefined, { signal: closing.signal })
        return void send(200, await forward(raw))
      case 'loseAnswer':
        await forward(raw)
        return void request.socket.destroy()
      default: {
        const node = faultyNode(fault, ask, random)
        const answers = calls.map((call) =>
          (concerns(fault, call) ? node : ask)(call.method, call.params ?? []),
        )
        return void send(200, encode(await Promise.all(answers)))
      }
    }
  }

  const server = createServer((request, response) => {
    // A node that is gone looks like one: its proxy hangs up.
    serve(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}`,
    fetch(input, init) {
      const isHonest = !closing.signal.aborted && Object.values(faults).every((rate) => rate === 0)
      return (isHonest ? reach : fetch)(input, init)
    },
    setFaults(next) {
      faults = next
    },
    counts,
    async close() {
      closing.abort()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
