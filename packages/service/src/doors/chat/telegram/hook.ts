// Telegram posts the updates. One that is answered with another status than 200 is posted again.
import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createLimiter, type Secret, withTimeout } from '@referrer/process'
import type { Reception } from '../reception.ts'
import { type Receiving, showMenu, untilDone, workerOf } from './set-up.ts'
import { ASKED_FOR } from './update.ts'

const PATH = '/telegram/webhook'
const MOST_BYTES = 1_048_576
/** Updates of all chats together that are taken; Telegram posts the others again. */
const PACE = { perSecond: 100, burst: 100 }
/** Telegram waits for the answer before it posts the chat's next update. What takes longer goes on after the answer. */
const PATIENCE_MS = 10_000

export function receiveByHook(receiving: Receiving, secret: Secret): Reception {
  const { context, call, handler } = receiving
  const paceOf = createLimiter(PACE)
  const stopping = new AbortController()
  const expected = digest(secret.reveal())
  const url = `${context.config.publicUrl}${PATH}`

  return {
    workers: [
      workerOf(async (signal, frame) => {
        signal.addEventListener('abort', () => stopping.abort(), { once: true })
        const hook = { secret_token: secret.reveal(), allowed_updates: ASKED_FOR }
        const register = () => call((api, aborted) => api.setWebhook(url, hook, aborted), { signal })
        await untilDone(register, signal, frame)
        await showMenu(receiving, signal)
        if (!signal.aborted) await once(signal, 'abort')
      }),
    ],
    hooks: [
      {
        path: PATH,
        bodyLimit: MOST_BYTES,
        async handle({ headers, body }) {
          const given = headers['x-telegram-bot-api-secret-token']
          if (typeof given !== 'string' || !timingSafeEqual(digest(given), expected))
            return { status: 401, body: { error: 'wrong secret token' } }
          const update = parsed(body)
          if (update === undefined) return { status: 400, body: { error: 'invalid JSON' } }
          if (paceOf('all', context.clock()) > 0) return { status: 429, body: { error: 'too many updates' } }
          const work = handler(update, stopping.signal)
          try {
            await withTimeout(PATIENCE_MS, work)
          } catch (err) {
            context.log.error({ err }, 'an update of Telegram was not handled')
            return { status: 503, body: { error: 'not handled; post it again' } }
          }
          return { status: 200, body: {} }
        },
      },
    ],
  }
}

/** Digests have one length, so that the time of the comparison tells nothing about the secret. */
const digest = (text: string) => createHash('sha256').update(text).digest()

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
