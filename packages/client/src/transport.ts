// One request: its URL, its credentials, repetitions where they are safe, and an answer that is what the document says or an error.
import { RequestSignature } from '@referrer/protocol'
import { createFinalURL, createQuerySerializer, defaultPathSerializer } from 'openapi-fetch'
import type { Credentials } from './credentials.ts'
import { ReferrerError } from './error.ts'
import { ROUTES } from './generated/routes.ts'
import { isIdempotent, readRetryAfter, sleep, waitBeforeRetry } from './retries.ts'
import type { Call } from './types.ts'

interface Transport {
  url: string
  chainId: number | undefined
  fetch: typeof fetch
  now: () => number
  retries: number
  timeoutMs: number
  /** Asked at the first request: opening a session is itself a request. */
  credentials: () => Credentials
}

interface Answer {
  status: number
  headers: Headers
  text: string
}

const serializeQuery = createQuerySerializer()

export function createCall(transport: Transport): Call {
  const { url, chainId, now, retries, timeoutMs } = transport

  async function exchange(target: string, init: RequestInit): Promise<Answer> {
    const timeout = AbortSignal.timeout(timeoutMs)
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout
    // A redirect would hand the credentials to whom it leads.
    const response = await transport.fetch(target, { ...init, signal, redirect: 'manual' })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  return async (method, path, { params = {}, body, signal, presented: chosen } = {}) => {
    const verb = method.toUpperCase()
    const route = `${verb} ${path}`
    const { auth, answers, takesChain, namesItself } = routeOf(route)
    const query = { ...(takesChain && chainId !== undefined && { chain_id: chainId }), ...params.query }
    requirePath(route, params.path)
    const target = createFinalURL(path, {
      baseUrl: url,
      params: { path: params.path ?? {}, query },
      querySerializer: serializeQuery,
      pathSerializer: defaultPathSerializer,
    })
    const naming = namesItself ? nameRequest(url, verb, path, params.path) : undefined
    const sent = naming ? { ...Object(body), ...naming } : body
    const text = sent === undefined ? undefined : JSON.stringify(sent)
    const isRepeatable = isIdempotent(verb, path)
    const credentials = transport.credentials()
    let replays = 0
    let isRenewed = false

    for (let attempt = 0; ; attempt++) {
      const presented =
        chosen ?? (await credentials.present(route, { auth, method: verb, target, body: text ?? '' }))
      const headers = {
        ...(answers === 'json' && { accept: 'application/json' }),
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...presented,
      }
      const init = {
        method: verb,
        headers,
        ...(text !== undefined && { body: text }),
        ...(signal && { signal }),
      }
      const answer = await exchange(target, init).catch((error: unknown) => error)
      signal?.throwIfAborted()
      if (!isAnswer(answer)) {
        const wait = attempt < retries ? waitBeforeRetry({ attempt, isRepeatable }) : undefined
        if (wait === undefined) throw noAnswer(route, url, answer)
        await sleep(wait, signal)
        continue
      }
      if (answer.status >= 200 && answer.status < 300) return read(route, answers, answer)

      const error = refusalOf(route, answer, now())
      // Neither was looked at: another process signed the same in the same second, or the session has ended.
      if (error.status === 401 && error.detail === 'replayed request' && replays < retries) {
        replays++
        continue
      }
      if (error.status === 401 && !isRenewed && !chosen && credentials.renews(presented)) {
        isRenewed = true
        continue
      }
      const wait = attempt < retries ? waitBeforeRetry({ attempt, isRepeatable }, error) : undefined
      if (wait === undefined) throw error
      await sleep(wait, signal)
    }
  }
}

function routeOf(route: string): (typeof ROUTES)[keyof typeof ROUTES] {
  if (!Object.hasOwn(ROUTES, route)) throw new TypeError(`the market has no route ${route}`)
  return ROUTES[route as keyof typeof ROUTES]
}

/** What a body says so that its signature is for this request alone. */
function nameRequest(url: string, method: string, path: string, values: Record<string, unknown> = {}) {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]))
  return RequestSignature.nameRequest(url, method, filled)
}

/** Dots stand for other folders in a URL, encoded or not, and what is empty or missing leads to another route. */
function requirePath(route: string, path: Record<string, unknown> = {}): void {
  for (const [, name = ''] of route.matchAll(/\{(\w+)\}/g)) {
    const value = path[name]
    const isText = typeof value === 'string' && !['', '.', '..'].includes(value)
    if (!isText && typeof value !== 'number' && typeof value !== 'bigint') {
      throw new TypeError(`${name} of ${route} cannot be ${JSON.stringify(value)}`)
    }
  }
}

const isAnswer = (value: unknown): value is Answer => value instanceof Object && 'text' in value

const noAnswer = (route: string, url: string, cause: unknown) =>
  new ReferrerError(route, {
    reason: `no answer from ${url}`,
    detail: cause instanceof Error ? cause.message : String(cause),
    cause,
  })

function read(
  route: string,
  answers: 'json' | 'text' | 'nothing',
  { status, headers, text }: Answer,
): unknown {
  if (answers === 'nothing') return undefined
  if (answers === 'text') return text
  try {
    return JSON.parse(text)
  } catch {
    const reason = `the answer is not JSON (content type ${headers.get('content-type') ?? 'none'})`
    throw new ReferrerError(route, { status, reason, detail: excerptOf(text) })
  }
}

function refusalOf(route: string, { status, headers, text }: Answer, now: number): ReferrerError {
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now)
  const told = { status, ...(retryAfterMs !== undefined && { retryAfterMs }) }
  if (status < 400) {
    const place = headers.get('location') ?? 'another place'
    return new ReferrerError(route, {
      ...told,
      reason: `the market redirects to ${place}: call that URL if you trust it`,
    })
  }
  const { error, detail } = parsed(text)
  if (typeof error !== 'string') {
    return new ReferrerError(route, {
      ...told,
      reason: 'the answer is not one of the market',
      detail: excerptOf(text),
    })
  }
  return new ReferrerError(route, { ...told, reason: error, ...(typeof detail === 'string' && { detail }) })
}

function parsed(text: string): { error?: unknown; detail?: unknown } {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

const excerptOf = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text || 'it is empty')
