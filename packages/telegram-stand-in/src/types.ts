// The objects of the Bot API, as far as the stand-in makes them.

export interface User {
  id: number
  is_bot: boolean
  first_name: string
  username?: string
  language_code?: string
}

export interface Chat {
  id: number
  type: 'private' | 'group' | 'supergroup'
  title?: string
  first_name?: string
  username?: string
}

export interface Entity {
  type: string
  /** Both count UTF-16 code units, as the length of a string does. */
  offset: number
  length: number
  url?: string
  language?: string
}

export interface Button {
  text: string
  callback_data?: string
  url?: string
}

export interface Keyboard {
  inline_keyboard: Button[][]
}

export interface Message {
  message_id: number
  date: number
  chat: Chat
  from: User
  text?: string
  entities?: Entity[]
  edit_date?: number
  reply_markup?: Keyboard
  reply_to_message?: Message
  new_chat_members?: User[]
  left_chat_member?: User
}

export interface CallbackQuery {
  id: string
  from: User
  message: Message
  chat_instance: string
  data: string
}

/** An update without its number, with exactly one kind of content. */
export type Content = Record<string, unknown>
export type Update = Content & { update_id: number }

export interface Command {
  command: string
  description: string
}
