// The methods of the Bot API that a bot without pictures and payments needs.
import { isDeepStrictEqual } from 'node:util'
import { ApiError, badRequest } from './api-error.ts'
import type { Chats, Room } from './chats.ts'
import type { Commands } from './commands.ts'
import { readText } from './entities.ts'
import { readKeyboard } from './keyboard.ts'
import { integer, isRecord, json, type Params, text } from './params.ts'
import type { Queries } from './queries.ts'
import type { Keyboard, Message, User } from './types.ts'
import type { Updates } from './updates.ts'

export type Methods = (method: string, params: Params, gone: AbortSignal) => Promise<unknown>

export interface Parts {
  bot: User
  chats: Chats
  updates: Updates
  queries: Queries
  commands: Commands
}

type Method = (params: Params, gone: AbortSignal) => unknown

export function createMethods({ bot, chats, updates, queries, commands }: Parts): Methods {
  function chatId(params: Params): number {
    if (text(params, 'chat_id') === '') throw badRequest('chat_id is empty')
    // The other form is the name of a public channel, and there is none here.
    if (!/^-?\d+$/.test(text(params, 'chat_id'))) throw badRequest('chat not found')
    return integer(params, 'chat_id') as number
  }

  function messageIn(room: Room, params: Params, missing: string): Message {
    const message = chats.message(room, integer(params, 'message_id') ?? 0)
    if (!message) throw badRequest(missing)
    return message
  }

  function edit(params: Params, change: { text?: string; keyboard: Keyboard | undefined }): Message {
    const room = chats.writable(chatId(params))
    const message = messageIn(room, params, 'message to edit not found')
    if (message.from.id !== bot.id) throw badRequest("message can't be edited")
    const { reply_markup: _, ...rest } = message
    const edited: Message = { ...rest, ...(change.keyboard && { reply_markup: change.keyboard }) }
    if (change.text !== undefined) Object.assign(edited, contentOf(params))
    if (isDeepStrictEqual(message, edited))
      throw badRequest(
        'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
      )
    edited.edit_date = chats.now()
    room.messages[room.messages.indexOf(message)] = edited
    chats.changed(room)
    return edited
  }

  function contentOf(params: Params): Pick<Message, 'text' | 'entities'> {
    const { text: shown, entities } = readText(params)
    return { text: shown, ...(entities.length > 0 && { entities }) }
  }

  function repliedTo(room: Room, params: Params): Message | undefined {
    const reply = json(params, 'reply_parameters')
    if (!isRecord(reply)) return undefined
    const { reply_to_message: _, ...message } = chats.message(room, integer(reply, 'message_id') ?? 0) ?? {}
    if (!('message_id' in message)) throw badRequest('message to be replied not found')
    return message as Message
  }

  const methods: Record<string, Method> = {
    getMe: () => ({
      ...bot,
      can_join_groups: true,
      can_read_all_group_messages: false,
      supports_inline_queries: false,
      can_connect_to_business: false,
      has_main_web_app: false,
    }),
    getUpdates: (params, gone) => updates.poll(params, gone),
    setWebhook: (params) => updates.setWebhook(params),
    deleteWebhook: (params) => updates.deleteWebhook(params),
    getWebhookInfo: () => updates.webhookInfo(),
    sendMessage(params) {
      const content = contentOf(params)
      const keyboard = readKeyboard(params)
      const room = chats.writable(chatId(params))
      const reply = repliedTo(room, params)
      return chats.post(room, bot, {
        ...content,
        ...(keyboard && { reply_markup: keyboard }),
        ...(reply && { reply_to_message: reply }),
      })
    },
    sendChatAction(params) {
      if (text(params, 'action') === '') throw badRequest('wrong parameter action in request')
      chats.writable(chatId(params))
      return true
    },
    editMessageText: (params) => edit(params, { text: text(params, 'text'), keyboard: readKeyboard(params) }),
    editMessageReplyMarkup: (params) => edit(params, { keyboard: readKeyboard(params) }),
    deleteMessage(params) {
      const room = chats.writable(chatId(params))
      const message = messageIn(room, params, 'message to delete not found')
      if (room.chat.type !== 'private' && message.from.id !== bot.id)
        throw badRequest("message can't be deleted")
      room.messages.splice(room.messages.indexOf(message), 1)
      chats.changed(room)
      return true
    },
    answerCallbackQuery: (params) => queries.answer(params),
    getChat: (params) => ({
      ...chats.find(chatId(params)).chat,
      accent_color_id: 0,
      max_reaction_count: 11,
    }),
    leaveChat(params) {
      const room = chats.find(chatId(params))
      if (room.chat.type === 'private')
        throw badRequest("chat member status can't be changed in private chats")
      chats.writable(room.chat.id)
      chats.post(room, bot, { left_chat_member: bot })
      room.state = 'left'
      return true
    },
    setMyCommands: (params) => commands.set(params),
    getMyCommands: (params) => commands.get(params),
    deleteMyCommands: (params) => commands.delete(params),
  }
  // As Telegram does, whatever the letters' case.
  const byName = new Map(Object.entries(methods).map(([name, method]) => [name.toLowerCase(), method]))

  return async (name, params, gone) => {
    const method = byName.get(name.toLowerCase())
    if (!method) throw new ApiError({ error_code: 404, description: 'Not Found: method not found' })
    return method(params, gone)
  }
}
