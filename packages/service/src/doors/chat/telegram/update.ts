// What an update of the Bot API means to us. Most kinds mean nothing, and one that is not as documented means nothing either.
import { z } from 'zod'

const LONGEST_TEXT = 4_096
const LONGEST_DATA = 64

export type Event =
  | { kind: 'message'; chat: string; text: string }
  /** `messageId` is left out where the message with the button is too old to be changed. */
  | { kind: 'pressed'; chat: string; queryId: string; data: string; messageId?: number }
  /** In a private chat. */
  | { kind: 'blocked' | 'unblocked'; chat: string }
  /** The bot was added to a group or channel. */
  | { kind: 'joined'; group: number }

/** The kinds that Telegram is asked for. */
export const ASKED_FOR = ['message', 'callback_query', 'my_chat_member'] as const

const chat = z.object({ id: z.int(), type: z.string() })
const person = z.object({ is_bot: z.literal(false) })

const Update = z.object({
  message: z.looseObject({ chat, from: person, text: z.string().optional() }).optional().catch(undefined),
  callback_query: z
    .object({
      id: z.string(),
      from: person,
      data: z.string(),
      message: z.object({ chat, message_id: z.int(), date: z.int() }),
    })
    .optional()
    .catch(undefined),
  my_chat_member: z
    .object({ chat, new_chat_member: z.object({ status: z.string() }) })
    .optional()
    .catch(undefined),
})

/** What people send besides text. Other messages report a change of the chat, and nobody expects an answer to them. */
const CONTENTS = [
  'animation',
  'audio',
  'checklist',
  'contact',
  'dice',
  'document',
  'game',
  'location',
  'paid_media',
  'photo',
  'poll',
  'sticker',
  'story',
  'venue',
  'video',
  'video_note',
  'voice',
]

/** Statuses of a member; `restricted` is one, too. */
const PRESENT = ['administrator', 'creator', 'member', 'restricted']

export function readUpdate(update: unknown): Event | undefined {
  const { data: read } = Update.safeParse(update)
  if (read?.message) return readMessage(read.message)
  if (read?.callback_query) return readPress(read.callback_query)
  if (read?.my_chat_member) return readMembership(read.my_chat_member)
  return undefined
}

type Read = z.infer<typeof Update>

function readMessage(message: NonNullable<Read['message']>): Event | undefined {
  if (message.chat.type !== 'private') return undefined
  const event = { kind: 'message', chat: String(message.chat.id) } as const
  // The words of a forwarded message are somebody else's, and no command of this person.
  if ('forward_origin' in message || 'via_bot' in message) return { ...event, text: '' }
  if (message.text !== undefined) return { ...event, text: cut(message.text, LONGEST_TEXT) }
  return CONTENTS.some((content) => content in message) ? { ...event, text: '' } : undefined
}

function readPress({ id, data, message }: NonNullable<Read['callback_query']>): Event | undefined {
  if (message.chat.type !== 'private') return undefined
  // A message that the bot can no longer reach has the date 0.
  const isReachable = message.date !== 0
  return {
    kind: 'pressed',
    chat: String(message.chat.id),
    queryId: id,
    data: cut(data, LONGEST_DATA),
    ...(isReachable && { messageId: message.message_id }),
  }
}

function readMembership({ chat, new_chat_member }: NonNullable<Read['my_chat_member']>): Event | undefined {
  const isPresent = PRESENT.includes(new_chat_member.status)
  if (chat.type !== 'private') return isPresent ? { kind: 'joined', group: chat.id } : undefined
  return { kind: isPresent ? 'unblocked' : 'blocked', chat: String(chat.id) }
}

/** Postgres stores neither NUL nor half a surrogate pair. */
const cut = (text: string, most: number) => text.slice(0, most).replaceAll('\0', '').toWellFormed()
