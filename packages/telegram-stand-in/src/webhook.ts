// Posts updates to the bot, those of one chat in their order and those of different chats at the same time, until each is accepted.
import { isRecord, type Params } from './params.ts'
import type { Update } from './types.ts'

const PATIENCE_MS = 60_000

export interface Webhook {
  /** Sends what is pending. */
  deliver(): void
  info(): object
  stop(): void
}

export interface WebhookOptions {
  url: string
  secret: string
  connections: number
  retryMs: number
  now: () => number
  call: (params: Params) => Promise<unknown>
  pending: () => Update[]
  delivered: (update: Update) => void
}

export function createWebhook({
  url,
  secret,
  connections,
  retryMs,
  now,
  call,
  ...queue
}: WebhookOptions): Webhook {
  const stopping = new AbortController()
  const busy = new Set<number>()
  let lastError: { last_error_date: number; last_error_message: string } | undefined

  function deliver() {
    for (const update of queue.pending()) {
      const chat = chatOf(update)
      if (stopping.signal.aborted || busy.size >= connections) return
      if (busy.has(chat)) continue
      busy.add(chat)
      void send(update).then((problem) => {
        if (problem === undefined) {
          queue.delivered(update)
          busy.delete(chat)
          return deliver()
        }
        lastError = { last_error_date: Math.floor(now() / 1_000), last_error_message: problem }
        const timer = setTimeout(() => {
          busy.delete(chat)
          deliver()
        }, retryMs)
        stopping.signal.addEventListener('abort', () => clearTimeout(timer))
      })
    }
  }

  /** What went wrong, if anything did. */
  async function send(update: Update): Promise<string | undefined> {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(secret && { 'x-telegram-bot-api-secret-token': secret }),
        },
        body: JSON.stringify(update),
        redirect: 'manual',
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(PATIENCE_MS)]),
      })
      const answer = await response.text()
      if (!response.ok)
        return `Wrong response from the webhook: ${response.status} ${response.statusText}`.trim()
      await callIn(answer)
      return undefined
    } catch (error) {
      const { cause } = error as { cause?: { code?: string } }
      return cause?.code === 'ECONNREFUSED' ? 'Connection refused' : 'Connection failed'
    }
  }

  /** A bot may put one call into its answer; it does not learn how that ends. */
  async function callIn(answer: string) {
    try {
      const params: unknown = JSON.parse(answer)
      if (isRecord(params) && typeof params.method === 'string') await call(params)
    } catch {
      // Most answers are no JSON, and nobody waits for the result of a call.
    }
  }

  return {
    deliver,
    info: () => ({ url, max_connections: connections, ...lastError }),
    stop: () => stopping.abort(),
  }
}

/** 0 where the update belongs to no chat. */
function chatOf({ update_id, ...content }: Update): number {
  const [value] = Object.values(content) as { chat?: { id: number }; message?: { chat?: { id: number } } }[]
  return (value?.chat ?? value?.message?.chat)?.id ?? 0
}
