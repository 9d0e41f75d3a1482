// Every chat with its messages, in memory.
import { badRequest, forbidden } from './api-error.ts'
import type { Chat, Message, User } from './types.ts'

/** A chat, and whether the bot may write to it. */
export interface Room {
  chat: Chat
  /** `new`: nobody has written to the bot here yet. */
  state: 'new' | 'open' | 'blocked' | 'kicked' | 'left'
  messages: Message[]
}

type Listener = (chatId: number) => void

export interface Chats {
  add(chat: Chat): Room
  find(id: number): Room
  /** Fails as Telegram does where the bot may not write. */
  writable(id: number): Room
  post(room: Room, from: User, content: Partial<Message>): Message
  message(room: Room, id: number): Message | undefined
  /** After a message was changed or removed in place. */
  changed(room: Room): void
  subscribe(listener: Listener): () => void
  /** Seconds. */
  now(): number
}

export function createChats(now: () => number): Chats {
  const rooms = new Map<number, Room>()
  const listeners = new Set<Listener>()
  let lastId = 0

  function find(id: number): Room {
    const room = rooms.get(id)
    if (!room) throw badRequest('chat not found')
    return room
  }

  const chats: Chats = {
    add(chat) {
      if (rooms.has(chat.id)) throw new Error(`there is a chat ${chat.id} already`)
      const room: Room = { chat, state: 'new', messages: [] }
      rooms.set(chat.id, room)
      return room
    },
    find,
    writable(id) {
      const room = find(id)
      if (room.state === 'new') throw forbidden("bot can't initiate conversation with a user")
      if (room.state === 'blocked') throw forbidden('bot was blocked by the user')
      if (room.state === 'kicked') throw forbidden(`bot was kicked from the ${room.chat.type} chat`)
      if (room.state === 'left') throw forbidden(`bot is not a member of the ${room.chat.type} chat`)
      return room
    },
    post(room, from, content) {
      const message: Message = { message_id: ++lastId, from, chat: room.chat, date: chats.now(), ...content }
      room.messages.push(message)
      chats.changed(room)
      return message
    },
    message: (room, id) => room.messages.find(({ message_id }) => message_id === id),
    changed({ chat }) {
      for (const listener of listeners) listener(chat.id)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    now: () => Math.floor(now() / 1_000),
  }
  return chats
}
