// The queue of updates, which the bot fetches, or which are posted to its webhook.
import { badRequest, conflict } from './api-error.ts'
import { flag, integer, list, type Params, text } from './params.ts'
import type { Content, Update } from './types.ts'
import { createWebhook, type Webhook } from './webhook.ts'

const MOST_UPDATES = 100
const LONGEST_POLL_S = 50
/** Not sent to a bot that does not ask for them by name. */
const UNASKED = ['chat_member', 'message_reaction', 'message_reaction_count']
const SECRET = /^[\w-]{1,256}$/

export interface Updates {
  push(content: Content): Update
  /** The next updates; waits for the first one as long as the call asks for. */
  poll(params: Params, gone: AbortSignal): Promise<Update[]>
  setWebhook(params: Params): true
  deleteWebhook(params: Params): true
  webhookInfo(): object
  close(): void
}

export interface UpdatesOptions {
  firstId: number
  retryMs: number
  now: () => number
  /** A call that the bot makes in its answer to an update. */
  call: (params: Params) => Promise<unknown>
}

export function createUpdates({ firstId, retryMs, now, call }: UpdatesOptions): Updates {
  let pending: Update[] = []
  let nextId = firstId
  let allowed: string[] = []
  let webhook: Webhook | undefined
  /** Ends the poll that waits: with what is pending, or with an error. */
  let waiting: ((error?: Error) => void) | undefined

  const isAllowed = (content: Content) => {
    const kind = Object.keys(content).find((key) => key !== 'update_id') ?? ''
    return allowed.length > 0 ? allowed.includes(kind) : !UNASKED.includes(kind)
  }

  function allow(params: Params) {
    allowed = (list(params, 'allowed_updates') as string[] | undefined) ?? allowed
  }

  function confirm(offset: number) {
    if (offset < 0) pending = pending.slice(offset)
    else pending = pending.filter(({ update_id }) => update_id >= offset)
  }

  function stopWebhook() {
    webhook?.stop()
    webhook = undefined
  }

  /** Resolves when there is an update, when the time is over, or when the caller has gone. */
  function arrival(seconds: number, gone: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (error?: Error) => {
        clearTimeout(timer)
        gone.removeEventListener('abort', onGone)
        if (waiting === end) waiting = undefined
        if (error) reject(error)
        else resolve()
      }
      const onGone = () => end()
      const timer = setTimeout(end, seconds * 1_000)
      gone.addEventListener('abort', onGone)
      waiting = end
    })
  }

  return {
    push(content) {
      const update = { ...structuredClone(content), update_id: nextId++ }
      if (isAllowed(content)) pending.push(update)
      webhook?.deliver()
      waiting?.()
      return update
    },
    async poll(params, gone) {
      if (webhook)
        throw conflict(
          "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        )
      waiting?.(
        conflict('terminated by other getUpdates request; make sure that only one bot instance is running'),
      )
      allow(params)
      confirm(integer(params, 'offset') ?? 0)
      const limit = Math.min(Math.max(integer(params, 'limit') ?? MOST_UPDATES, 1), MOST_UPDATES)
      const seconds = Math.min(integer(params, 'timeout') ?? 0, LONGEST_POLL_S)
      if (pending.length === 0 && seconds > 0 && !gone.aborted) await arrival(seconds, gone)
      return pending.slice(0, limit)
    },
    setWebhook(params) {
      const url = text(params, 'url')
      const secret = text(params, 'secret_token')
      // Plain HTTP and any port are taken, as by a Bot API server that one runs oneself with --local.
      if (url !== '' && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
        throw badRequest('bad webhook: An HTTPS URL must be provided for webhook')
      if (secret !== '' && !SECRET.test(secret))
        throw badRequest('secret token contains unallowed characters')
      stopWebhook()
      allow(params)
      if (flag(params, 'drop_pending_updates')) pending = []
      if (url === '') return true
      waiting?.(conflict('terminated by setWebhook request'))
      const connections = Math.min(Math.max(integer(params, 'max_connections') ?? 40, 1), 100)
      webhook = createWebhook({
        ...{ url, secret, connections, retryMs, now, call },
        pending: () => pending,
        delivered: ({ update_id }) => {
          pending = pending.filter((update) => update.update_id !== update_id)
        },
      })
      webhook.deliver()
      return true
    },
    deleteWebhook(params) {
      stopWebhook()
      if (flag(params, 'drop_pending_updates')) pending = []
      return true
    },
    webhookInfo: () => ({
      url: '',
      has_custom_certificate: false,
      pending_update_count: pending.length,
      ...(allowed.length > 0 && { allowed_updates: allowed }),
      ...webhook?.info(),
    }),
    close() {
      stopWebhook()
      waiting?.()
    },
  }
}
