import { createHash } from 'node:crypto'
import type { Secret } from '@referrer/process'
import { z } from 'zod'
import type { Channel } from '../../../kit/channel.ts'
import type { Context } from '../../../kit/context.ts'
import { clearBlocked } from '../../../market/messenger/store.ts'
import { firstSightOf } from '../../auth/replays.ts'
import type { Answerer, Hook } from '../reception.ts'
import { isSignedBy, SIGNATURE_HEADER, TIMESTAMP_HEADER } from './signature.ts'

const WINDOW_SECONDS = 300
/** For each chat, as in other messengers. */
const PER_CHAT = { perSecond: 1, burst: 10 }

/** Postgres stores neither NUL nor half a surrogate pair. */
const storable = (text: string) => text.isWellFormed() && !text.includes('\0')
const words = (least: number, most: number) => z.string().min(least).max(most).refine(storable)

/** No further fields: so a message that the service has signed itself, which has buttons, is not taken for one that came in. */
const Incoming = z
  .strictObject({
    /** Tells apart two equal messages of one second. */
    id: words(1, 128).optional(),
    chat: words(1, 128),
    text: words(0, 4_096).optional(),
    pressed: words(1, 64).optional(),
  })
  .refine(({ text, pressed }) => text === undefined || pressed === undefined)

const EXPECTED =
  'expected a JSON object with chat (1 to 128 characters), either text (up to 4096) or pressed (1 to 64), and optionally id (1 to 128)'

export interface HookOptions {
  context: Context
  channel: Channel
  secret: Secret
  answer: Answerer
}

/** Takes messages of people; the answer to the request holds the answer to the person. */
export function webhookHook({ context, channel, secret, answer }: HookOptions): Hook {
  const { sql, clock, limits } = context
  const isFirst = firstSightOf(context)
  const ofChat = limits.limiter('webhook chats', PER_CHAT)
  const refuse = (status: number, error: string) => ({ status, body: { error } })

  return {
    path: '/chat/webhook',
    async handle({ headers, body }) {
      const timestamp = String(headers[TIMESTAMP_HEADER])
      const signature = String(headers[SIGNATURE_HEADER])
      if (!/^\d{1,12}$/.test(timestamp) || !isSignedBy(secret, timestamp, body, signature))
        return refuse(401, 'bad signature')
      const seconds = Number(timestamp)
      if (Math.abs(clock() / 1_000 - seconds) > WINDOW_SECONDS)
        return refuse(
          401,
          `${TIMESTAMP_HEADER} must be within ${WINDOW_SECONDS} seconds of the server's clock`,
        )
      const { data } = Incoming.safeParse(parsed(body))
      if (!data) return refuse(400, EXPECTED)
      const digest = createHash('sha256').update(`chat webhook ${signature}`).digest()
      if (!(await isFirst({ digest, forgetAt: seconds + 2 * WINDOW_SECONDS + 1 })))
        return refuse(401, 'replayed request')
      const { chat, text = '', pressed } = data
      if ((await ofChat(chat)) > 0) return refuse(429, 'too many messages of this chat')
      await clearBlocked(sql, { channel: channel.name, chat })
      const message = await answer({ channel, chat, text, ...(pressed !== undefined && { pressed }) })
      if (!message) return { status: 200, body: {} }
      const { text: answered, buttons = [] } = message
      return {
        status: 200,
        body: {
          text: answered,
          buttons,
          ...(pressed !== undefined && !message.isApart && { replaces: true }),
        },
      }
    },
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
