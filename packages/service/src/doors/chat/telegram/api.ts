// Calls of the Bot API by grammY. Its errors hold the token, which is part of every URL, and the texts of messages: none of them leaves this
// file.
import { Api, type ApiClientOptions, GrammyError } from 'grammy'
import type { TelegramConfig } from '../../../kit/config.ts'
import { hasNeverLeft } from '../no-connection.ts'

/** Longer than the ten seconds that a connection may take, so that a call which never left is known as such. */
const TIMEOUT_MS = 20_000

/** What to do about answers that no retry changes. */
const ADVICE = new Map([
  [401, 'check TELEGRAM_BOT_TOKEN'],
  [404, 'check TELEGRAM_BOT_TOKEN and TELEGRAM_API_ROOT'],
  [409, 'another deployment uses the same token: stop it, or give this one a bot of its own'],
])

interface Failure {
  /** The code of Telegram's answer; undefined when there was none. */
  code?: number
  retryAfterMs?: number | undefined
  /** No connection could be made: Telegram has not got the call. */
  neverLeft?: boolean
}

/** A call that failed. The message holds neither the token nor what was sent. */
export class CallFailed extends Error {
  override name = 'CallFailed'
  readonly code: number | undefined
  readonly retryAfterMs: number | undefined
  readonly neverLeft: boolean

  constructor(message: string, { code, retryAfterMs, neverLeft = false }: Failure = {}) {
    super(message)
    this.code = code
    this.retryAfterMs = retryAfterMs
    this.neverLeft = neverLeft
  }
}

export interface CallOptions {
  timeoutMs?: number
  /** Gives up the call when it fires. */
  signal?: AbortSignal
}

/** Makes a call; rejects with `CallFailed` alone. */
export type Caller = <T>(call: (api: Api, signal: Signal) => Promise<T>, options?: CallOptions) => Promise<T>

/** grammY has types of its own for signals. */
type Signal = NonNullable<Parameters<Api['leaveChat']>[1]>

export function openApi({ token, apiRoot }: TelegramConfig, fetch: typeof globalThis.fetch): Caller {
  const api = new Api(token.reveal(), { apiRoot, fetch: fetchFor(fetch), sensitiveLogs: false })
  return async (call, { timeoutMs = TIMEOUT_MS, signal } = {}) => {
    const timeout = AbortSignal.timeout(timeoutMs)
    try {
      return await call(api, AbortSignal.any(signal ? [timeout, signal] : [timeout]) as unknown as Signal)
    } catch (error) {
      throw failureOf(error, (text) => text.replaceAll(token.reveal(), '[token]'))
    }
  }
}

/** grammY brings signals of its own making, which the fetch of Node does not take, and options for another fetch. */
function fetchFor(fetch: typeof globalThis.fetch): NonNullable<ApiClientOptions['fetch']> {
  const adapted = (url: string, { method, headers, body, signal }: RequestInit) => {
    const abort = new AbortController()
    if (signal?.aborted) abort.abort()
    signal?.addEventListener('abort', () => abort.abort(), { once: true })
    return fetch(url, { method, headers, body, signal: abort.signal, redirect: 'error' } as RequestInit)
  }
  return adapted as unknown as NonNullable<ApiClientOptions['fetch']>
}

function failureOf(error: unknown, withoutToken: (text: string) => string): CallFailed {
  if (error instanceof GrammyError && Number.isInteger(error.error_code)) {
    const { error_code: code, description, parameters, method } = error
    const advice = ADVICE.get(code)
    const text = `Telegram refused ${method}: ${code} ${description}${advice ? `; ${advice}` : ''}`
    const seconds = Number(parameters?.retry_after)
    return new CallFailed(withoutToken(text), {
      code,
      retryAfterMs: seconds > 0 ? seconds * 1_000 : undefined,
    })
  }
  const cause = causeOf(error)
  const code = (cause as { code?: unknown } | undefined)?.code
  const why = typeof code === 'string' ? ` (${withoutToken(code)})` : ''
  return new CallFailed(`Telegram gave no readable answer${why}`, { neverLeft: hasNeverLeft(cause) })
}

/** grammY wraps the error of fetch, which wraps that of the socket. */
const causeOf = (error: unknown): unknown =>
  (error as { error?: { cause?: unknown } } | undefined)?.error?.cause
