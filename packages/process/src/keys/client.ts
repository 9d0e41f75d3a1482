// HTTP to a remote signer. Node's `fetch` takes no client certificate, so this is `node:http`.
import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Secret } from '../secret.ts'
import { SignerError } from './error.ts'

export interface SignerDoor {
  /** Base URL, without a trailing slash. */
  url: string
  /** PEM texts: who may answer, and who we are. */
  ca: string | undefined
  cert: string | undefined
  key: Secret | undefined
  /** For one attempt. */
  timeoutMs: number
}

export interface SignerAnswer {
  status: number
  text: string
}

export interface SignerClient {
  /** Repeats what got no answer, because signing is idempotent. Throws a `SignerError`. */
  request(
    method: 'GET' | 'POST',
    path: string,
    options?: { headers?: Record<string, string>; body?: unknown },
  ): Promise<SignerAnswer>
}

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 50
const MOST_BYTES = 1_048_576
/** Requests at the same time; further ones wait for a connection. */
const MOST_SOCKETS = 16
/** Answers of a proxy or of a signer that starts, stops or is too busy. */
const BUSY = new Set([429, 502, 503, 504])

/** `name` is what messages call the signer. */
export function createSignerClient(
  name: string,
  { url, ca, cert, key, timeoutMs }: SignerDoor,
): SignerClient {
  const isSecure = url.startsWith('https:')
  const pool = { keepAlive: true, maxSockets: MOST_SOCKETS }
  const agent = isSecure ? new HttpsAgent({ ...pool, ca, cert, key: key?.reveal() }) : new HttpAgent(pool)
  const open = isSecure ? httpsRequest : httpRequest

  function ask(options: RequestOptions, path: string, body: string | undefined): Promise<SignerAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<SignerAnswer>()
    const request = open(`${url}${path}`, { ...options, agent, signal: AbortSignal.timeout(timeoutMs) })
    request.on('error', reject)
    request.on('response', (response) => {
      const parts: Buffer[] = []
      let size = 0
      response.on('data', (part: Buffer) => {
        size += part.length
        if (size > MOST_BYTES) request.destroy(new Error(`its answer exceeds ${MOST_BYTES} bytes`))
        parts.push(part)
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
      )
      response.on('error', reject)
    })
    request.end(body)
    return promise
  }

  return {
    async request(method, path, { headers = {}, body } = {}) {
      const sent = body === undefined ? undefined : JSON.stringify(body)
      const type = sent === undefined ? {} : { 'content-type': 'application/json' }
      const options = { method, headers: { ...headers, ...type } }
      let failure = ''
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        if (attempt > 1) await sleep(FIRST_PAUSE_MS * 2 ** (attempt - 2))
        try {
          const answer = await ask(options, path, sent)
          if (!BUSY.has(answer.status)) return answer
          failure = `answers ${answer.status}`
        } catch (error) {
          failure = `does not answer: ${reasonOf(error, timeoutMs)}`
        }
      }
      throw new SignerError(`${name} at ${new URL(url).host} ${failure}`)
    },
  }
}

function reasonOf(error: unknown, timeoutMs: number): string {
  const { code, message, cause } = error as NodeJS.ErrnoException
  if (code === 'ABORT_ERR') return `nothing came within ${timeoutMs} ms`
  return message || code || String(cause)
}
