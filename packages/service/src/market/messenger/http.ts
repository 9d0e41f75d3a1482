import { z } from 'zod'
import type { Config } from '../../kit/config.ts'
import { momentShown } from '../../kit/fields.ts'
import { time } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { confirmLink, linkStatus, mintForOwner, unlinkOwner } from './operations.ts'

const username = z
  .string()
  .optional()
  .meta({ about: 'The name in the messenger. Left out when there is none or the messenger does not answer.' })

/** Whatever else stands there is no naming, and ignored. */
const unread = z
  .unknown()
  .optional()
  .meta({ shown: { type: 'string' } })
const named = { action: unread, domain: unread }

/** How a chat that may buy is told from one that gets notices only. */
const RIGHTS =
  'Purchases can be asked for in that chat when the request names itself in the body (see `Naming`) or has a session; else it gets notices only, because the signature of any request will do here.'

const base = {
  method: 'POST',
  tag: 'Messenger',
  auth: 'caller',
  isBare: true,
  isServed: ({ messenger }: Config) => messenger !== undefined,
} as const

export const messengerRoutes: Route[] = [
  route({
    ...base,
    path: '/v1/messenger/link/start',
    summary: 'Get a code that links the calling wallet to a chat',
    about: `Open deep_link and press Start, or send /start and the code to the bot. The code works once. Codes that were made before stay valid. The wallet then gets purchase confirmations and review reminders in that chat. ${RIGHTS}`,
    response: z
      .object({
        deep_link: z.string().meta({ about: 'Opens the chat with the code.' }),
        code: z.string().meta({ about: 'For that chat; 43 letters, digits, _ and -.' }),
        expires_at: momentShown,
      })
      .meta({ id: 'MessengerCode' }),
    refusals: { 500: 'mint failed', 503: 'mint failed' },
    async handle({ context, caller, client, isNamed }) {
      const { deepLink, code, expiresAt } = await mintForOwner(context, caller, { mayBuy: isNamed, client })
      return { deep_link: deepLink, code, expires_at: time(expiresAt) }
    },
  }),
  route({
    ...base,
    path: '/v1/messenger/link/confirm',
    summary: 'Link the calling wallet to the chat in which a code was made',
    about: `The bot gives such a code when it is sent /start. A wallet that has a chat already is linked to the new one instead. ${RIGHTS}`,
    body: { schema: z.object({ code: z.string().min(1), ...named }), refusal: 'code required' },
    response: z
      .object({ linked: z.literal(true), messenger_username: username })
      .meta({ id: 'MessengerConfirmed' }),
    refusals: { 400: 'invalid or expired code' },
    async handle({ context, caller, body, isNamed }) {
      const { username } = await confirmLink(context, caller, { code: body.code, mayBuy: isNamed })
      return { linked: true, ...(username !== undefined && { messenger_username: username }) }
    },
  }),
  route({
    ...base,
    path: '/v1/messenger/link/status',
    summary: 'Whether the calling wallet is linked to a chat',
    changes: false,
    response: z
      .object({
        linked: z.boolean(),
        messenger_username: username,
        linked_at: momentShown.optional().meta({ about: 'Left out when it is not linked.' }),
      })
      .meta({ id: 'MessengerStatus' }),
    refusals: { 500: 'status failed', 503: 'status failed' },
    async handle({ context, caller }) {
      const link = await linkStatus(context, caller)
      if (!link) return { linked: false }
      const { linkedAt, username } = link
      return {
        linked: true,
        ...(username !== undefined && { messenger_username: username }),
        linked_at: time(linkedAt),
      }
    },
  }),
  route({
    ...base,
    path: '/v1/messenger/link/unlink',
    summary: 'End the link of the calling wallet to its chat',
    about:
      'The chat is told, and then gets no messages about this wallet. The answer is the same when there was no link.',
    response: z.object({ linked: z.literal(false) }).meta({ id: 'MessengerUnlinked' }),
    refusals: { 500: 'unlink failed', 503: 'unlink failed' },
    async handle({ context, caller }) {
      await unlinkOwner(context, caller)
      return { linked: false }
    },
  }),
]
