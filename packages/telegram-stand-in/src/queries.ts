// Presses of buttons that wait for the bot's answer.
import { badRequest } from './api-error.ts'
import { flag, type Params, text } from './params.ts'
import type { Message, User } from './types.ts'
import type { Updates } from './updates.ts'

const LONGEST_ANSWER = 200

/** What the person is shown for a press, besides what the bot writes. */
export interface Answer {
  text: string
  isAlert: boolean
}

export interface Press {
  /** The id of the callback query. */
  id: string
  answered: Promise<Answer>
}

export interface Queries {
  press(from: User, message: Message, data: string): Press
  answer(params: Params): true
}

export function createQueries(updates: Updates): Queries {
  const open = new Map<string, (answer: Answer) => void>()
  let lastId = 4_382_000_000_000_000n
  return {
    press(from, message, data) {
      const id = String(++lastId)
      const { promise: answered, resolve } = Promise.withResolvers<Answer>()
      open.set(id, resolve)
      updates.push({ callback_query: { id, from, message, chat_instance: String(message.chat.id), data } })
      return { id, answered }
    },
    answer(params) {
      const id = text(params, 'callback_query_id')
      const resolve = open.get(id)
      if (!resolve) throw badRequest('query is too old and response timeout expired or query ID is invalid')
      if (text(params, 'text').length > LONGEST_ANSWER) throw badRequest('MESSAGE_TOO_LONG')
      open.delete(id)
      resolve({ text: text(params, 'text'), isAlert: flag(params, 'show_alert') })
      return true
    },
  }
}
