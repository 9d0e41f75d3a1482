// How messages come in. A messenger is a folder beside this file that implements `Messenger`.
import type { Channel, Message } from '../../kit/channel.ts'
import type { Context } from '../../kit/context.ts'
import type { Worker } from '../../machinery/workers/frame.ts'

/** A message, or a pressed button, that somebody sent in a private chat. */
export interface Incoming {
  channel: Channel
  chat: string
  /** Empty when a button was pressed. */
  text: string
  /** The data of the pressed button. */
  pressed?: string
}

/** Answers a message; without an answer nothing is sent. The answer to a pressed button replaces the message with the button. Never rejects. */
export type Answerer = (incoming: Incoming) => Promise<Message | undefined>

/** A path to which a messenger posts. It answers the raw request, because signatures cover the exact bytes. */
export interface Hook {
  path: string
  /** The most bytes of a body, where it is more than usual. */
  bodyLimit?: number
  handle(request: {
    headers: Readonly<Record<string, string | string[] | undefined>>
    body: Buffer
  }): Promise<{ status: number; body?: object }>
}

/** A worker that polls the messenger, or a path that the messenger posts to. */
export interface Reception {
  workers: readonly Worker[]
  hooks: readonly Hook[]
}

export interface Messenger extends Channel {
  receive(context: Context, answer: Answerer): Reception
}
