import { Agent, request as ask, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Request } from './request.ts'

/** Answers by method and path. */
export type Recording = Record<string, Answer>
export type Answer = {
  status: number
  /** Names and values in turn, as they came; without those that Node's server sends by itself. */
  headers: string[]
  body: string
}

const AT_ONCE = 16
const OF_NODE = new Set(['date', 'connection', 'keep-alive'])

/** Asks each request once. */
export async function record(url: string, requests: readonly Request[]): Promise<Recording> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const recording: Recording = {}
  const left = requests.values()
  const work = async () => {
    for (const request of left) {
      recording[`${request.method} ${request.path}`] = await answerTo(url, request, agent)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  agent.destroy()
  return recording
}

async function answerTo(
  url: string,
  { method, path, headers, body }: Request,
  agent: Agent,
): Promise<Answer> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    ask(`${url}${path}`, { agent, method, headers: { ...headers } }, resolve)
      .on('error', reject)
      .end(body)
  })
  const answer = await text(response)
  const { statusCode: status = 0, rawHeaders } = response
  if (status !== 200 && status !== 201) throw new Error(`${method} ${path} answers ${status}: ${answer}`)
  return { status, headers: withoutNodes(rawHeaders), body: answer }
}

function withoutNodes(raw: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = raw.slice(at, at + 2)
    if (!OF_NODE.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}
