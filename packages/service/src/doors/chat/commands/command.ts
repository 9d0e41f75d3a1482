import type { Message } from '../../../kit/channel.ts'
import type { Context } from '../../../kit/context.ts'
import type { Chat } from '../../../market/messenger/store.ts'

/** What a chat sent: `words` are what follows the command, or the rest of the button's data. */
export interface Asked {
  context: Context
  chat: Chat
  words: string
}

export type Answer = (asked: Asked) => Promise<Message>

export interface Command {
  /** Without the slash. */
  name: string
  /** What follows the name, for the help. */
  takes?: string
  /** One line for the menu and the help. */
  about: string
  answer: Answer
  /** Answers to the buttons of this command's messages, by the letter before the colon of the button's data. */
  buttons?: Readonly<Record<string, Answer>>
}
