// The people and groups that talk to the bot.
import type { Chats, Room } from './chats.ts'
import { detectEntities } from './entities.ts'
import type { Press, Queries } from './queries.ts'
import type { Chat, Message, User } from './types.ts'
import type { Updates } from './updates.ts'

/** Ids do not fit into 32 bits, as those of new accounts do not. */
const FIRST_USER = 7_000_000_001
const FIRST_GROUP = -1_002_000_000_001
const PATIENCE_MS = 30_000

export interface UserOptions {
  id?: number
  username?: string
  firstName: string
}

export interface GroupOptions {
  id?: number
  title: string
  type?: 'group' | 'supergroup'
}

interface Shown {
  id: number
  /** What the chat shows, oldest first, edits applied. */
  messages(): Message[]
  /** Waits until `found` finds something in the messages, and returns it. */
  until<T>(found: (messages: Message[]) => T | undefined | null | false, patienceMs?: number): Promise<T>
}

/** A person, in a private chat with the bot. */
export interface Person extends Shown {
  user: User
  say(text: string): Message
  /** Presses a button, named by its label or its data. */
  press(messageId: number, button: string): Press
  block(): void
  unblock(): void
}

/** A group that the bot is a member of. */
export interface Group extends Shown {
  say(from: Person, text: string): Message
  press(from: Person, messageId: number, button: string): Press
  /** Removes the bot. */
  kick(by: Person): void
}

export interface People {
  user(options: UserOptions): Person
  group(options: GroupOptions, addedBy: Person): Group
}

export function createPeople(parts: { bot: User; chats: Chats; updates: Updates; queries: Queries }): People {
  const { bot, chats, updates, queries } = parts
  let nextUser = FIRST_USER
  let nextGroup = FIRST_GROUP

  const membership = (status: string) => ({
    user: bot,
    status,
    ...(status === 'kicked' && { until_date: 0 }),
  })

  /** Telegram tells the bot when it is blocked, unblocked, added or removed. */
  function changeMembership(room: Room, by: User, from: string, to: string) {
    room.state = to === 'member' ? 'open' : room.chat.type === 'private' ? 'blocked' : 'kicked'
    const change = { old_chat_member: membership(from), new_chat_member: membership(to) }
    updates.push({ my_chat_member: { chat: room.chat, from: by, date: chats.now(), ...change } })
    chats.changed(room)
  }

  function say(room: Room, from: User, text: string): Message {
    if (room.state !== 'new' && room.state !== 'open')
      throw new Error(
        `chat ${room.chat.id} is closed to the bot (${room.state}): nothing said there reaches it`,
      )
    room.state = 'open'
    const entities = detectEntities(text)
    const message = chats.post(room, from, { text, ...(entities.length > 0 && { entities }) })
    updates.push({ message })
    return structuredClone(message)
  }

  function press(room: Room, from: User, messageId: number, name: string): Press {
    const message = chats.message(room, messageId)
    if (!message) throw new Error(`chat ${room.chat.id} has no message ${messageId}`)
    const buttons = message.reply_markup?.inline_keyboard.flat() ?? []
    const button = buttons.find(({ text, callback_data: data }) => data === name || text === name)
    if (button?.callback_data === undefined) {
      const labels = buttons.map(({ text }) => `"${text}"`).join(', ') || 'none'
      throw new Error(`message ${messageId} has no button "${name}" that can be pressed; buttons: ${labels}`)
    }
    return queries.press(from, message, button.callback_data)
  }

  const shown = (room: Room): Shown => ({
    id: room.chat.id,
    messages: () => structuredClone(room.messages),
    until: (found, patienceMs = PATIENCE_MS) =>
      new Promise((resolve, reject) => {
        const end = (settle: () => void) => {
          unsubscribe()
          clearTimeout(timer)
          settle()
        }
        const look = () => {
          try {
            const value = found(structuredClone(room.messages))
            if (value) end(() => resolve(value))
          } catch (error) {
            end(() => reject(error))
          }
        }
        const unsubscribe = chats.subscribe((id) => id === room.chat.id && look())
        const timer = setTimeout(() => {
          const lines = room.messages.map(({ from, text = '' }) => `  ${from.first_name}: ${text}`)
          end(() => reject(new Error(`not within ${patienceMs} ms; the chat shows:\n${lines.join('\n')}`)))
        }, patienceMs)
        look()
      }),
  })

  return {
    user({ id = nextUser++, username, firstName }) {
      const named = { first_name: firstName, ...(username !== undefined && { username }) }
      const user: User = { id, is_bot: false, ...named, language_code: 'en' }
      const room = chats.add({ id, type: 'private', ...named })
      return {
        ...shown(room),
        user,
        say: (text) => say(room, user, text),
        press: (messageId, button) => press(room, user, messageId, button),
        block: () => changeMembership(room, user, 'member', 'kicked'),
        unblock: () => changeMembership(room, user, 'kicked', 'member'),
      }
    },
    group({ id = nextGroup--, title, type = 'supergroup' }, addedBy) {
      const chat: Chat = { id, type, title }
      const room = chats.add(chat)
      changeMembership(room, addedBy.user, 'left', 'member')
      const joined = chats.post(room, addedBy.user, { new_chat_members: [bot] })
      updates.push({ message: joined })
      return {
        ...shown(room),
        say: (from, text) => say(room, from.user, text),
        press: (from, messageId, button) => press(room, from.user, messageId, button),
        kick: (by) => changeMembership(room, by.user, 'member', 'kicked'),
      }
    },
  }
}
