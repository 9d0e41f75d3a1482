import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Answer, Call } from './node-faults.ts'

export type { Answer, Call }

/** An HTTP response as it is, whatever JSON-RPC asks for. */
export interface PlainResponse {
  status?: number
  headers?: Record<string, string>
  body: string
}

/** A JSON-RPC server over HTTP that answers what a test says, for what no real node does on demand. */
export interface ScriptedNode {
  url: string
  /** What was asked, one entry per HTTP request. */
  requests: Call[][]
  /** Answers one call; may be replaced at any time. */
  answer: (call: Call) => Answer
  /** Goes before `answer`: a whole response, silence, or undefined to let the calls be answered. */
  respond: (calls: Call[]) => PlainResponse | 'silence' | undefined
  close(): Promise<void>
}

export async function startScriptedNode(answer: ScriptedNode['answer']): Promise<ScriptedNode> {
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy())
  })

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body: Call | Call[] = JSON.parse(await text(request))
    const calls = Array.isArray(body) ? body : [body]
    node.requests.push(calls)
    const plain = node.respond(calls)
    if (plain === 'silence') return
    if (plain) return void response.writeHead(plain.status ?? 200, plain.headers).end(plain.body)
    const answers = calls.map((call) => ({ jsonrpc: '2.0', id: call.id, ...node.answer(call) }))
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const node: ScriptedNode = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    answer,
    respond: () => undefined,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
  return node
}
