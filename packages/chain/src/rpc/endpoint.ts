import { numberToHex } from 'viem'
import { type ErrorAnswer, fromAnswer, RpcError } from './error.ts'

export interface RpcCall {
  method: string
  params: unknown[]
}

export interface RequestOptions {
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
}

/** One node. */
export interface RpcEndpoint {
  /** Host and port: the rest of a URL often holds a key. */
  readonly name: string
  request<T>(method: string, params: unknown[], options?: RequestOptions): Promise<T>
  /** Several calls in one HTTP request, answered by the same node. If one fails, the batch fails. */
  batch<T extends unknown[]>(calls: RpcCall[], options?: RequestOptions): Promise<T>
}

export interface EndpointOptions {
  url: string
  chainId: number
  timeoutMs: number
  fetch: typeof fetch
}

interface Answer {
  id?: unknown
  result?: unknown
  error?: ErrorAnswer
}

/** Providers refuse longer batches. */
const MAX_BATCH = 100

/** A JSON-RPC client of one node over HTTP. It checks once that the node serves the right chain. */
export function createEndpoint({ url, chainId, timeoutMs, fetch }: EndpointOptions): RpcEndpoint {
  const { name, target, headers } = addressOf(url)
  let isVerified = false

  async function verify(options: RequestOptions): Promise<void> {
    if (isVerified) return
    // Each concurrent caller makes its own check: with a shared one, the signal or time-out of one caller would end the others' calls.
    const [answer] = await post([{ method: 'eth_chainId', params: [] }], options)
    if (Number(answer) !== chainId)
      throw new RpcError(
        'wrong-chain',
        `${name} serves chain ${Number(answer)}, not ${chainId}: correct its URL in the chain's rpcUrls`,
      )
    isVerified = true
  }

  async function post(calls: RpcCall[], { timeoutMs: limit = timeoutMs, signal }: RequestOptions) {
    const time = AbortSignal.timeout(limit)
    const only = calls.length === 1 ? calls[0] : undefined
    const label = only?.method ?? `a batch of ${calls.length}`
    const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }))
    let text: string
    let response: Response
    try {
      response = await fetch(target, {
        method: 'POST',
        headers,
        body: JSON.stringify(only ? body[0] : body),
        signal: signal ? AbortSignal.any([time, signal]) : time,
      })
      text = await response.text()
    } catch (cause) {
      signal?.throwIfAborted()
      if (time.aborted)
        throw new RpcError('timeout', `${name} did not answer ${label} within ${limit} ms`, { cause })
      throw new RpcError('transport', `${name} cannot be reached for ${label}: ${reason(cause)}`, { cause })
    }
    if (response.status === 429) {
      const seconds = Number(response.headers.get('retry-after'))
      const retryAfterMs = seconds > 0 ? seconds * 1_000 : undefined
      throw new RpcError('rate-limited', `${name} limits the rate of ${label}`, { retryAfterMs })
    }
    return readAnswers(parse(text, response.status, label), calls)
  }

  function parse(text: string, status: number, label: string): Answer[] {
    try {
      const parsed: unknown = JSON.parse(text)
      return [parsed].flat().filter(isAnswer)
    } catch (cause) {
      throw new RpcError('transport', `${name} answered ${label} with HTTP ${status} and no JSON`, { cause })
    }
  }

  function readAnswers(answers: Answer[], calls: RpcCall[]): unknown[] {
    const byId = new Map(answers.map((answer) => [answer.id, answer]))
    return calls.map(({ method }, id) => {
      // A node that refuses a whole batch answers once, with no id.
      const answer = byId.get(id) ?? (answers.length === 1 && answers[0]?.error ? answers[0] : undefined)
      if (answer?.error) throw fromAnswer(name, method, answer.error)
      if (answer?.result === undefined)
        throw new RpcError('transport', `${name} left ${method} unanswered in its response`)
      return answer.result
    })
  }

  return {
    name,
    async request<T>(method: string, params: unknown[], options: RequestOptions = {}) {
      // Behind a URL there may be another node by now: whoever asks for the chain has it verified anew.
      if (method === 'eth_chainId') isVerified = false
      await verify(options)
      if (method === 'eth_chainId') return numberToHex(chainId) as T
      const [answer] = await post([{ method, params }], options)
      return answer as T
    },
    async batch<T extends unknown[]>(calls: RpcCall[], options: RequestOptions = {}) {
      await verify(options)
      const answers: unknown[] = []
      for (let at = 0; at < calls.length; at += MAX_BATCH)
        answers.push(...(await post(calls.slice(at, at + MAX_BATCH), options)))
      return answers as T
    },
  }
}

/** Moves the user name and password into a header: fetch refuses a URL with credentials, and its error message would show them. */
function addressOf(url: string) {
  const target = new URL(url)
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (target.username || target.password) {
    const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`
    target.username = ''
    target.password = ''
  }
  return { name: target.host, target: target.href, headers }
}

const isAnswer = (value: unknown): value is Answer => typeof value === 'object' && value !== null

function reason(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && cause.message) return cause.message
  return error instanceof Error ? error.message : String(error)
}
