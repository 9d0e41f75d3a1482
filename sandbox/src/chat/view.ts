// What the page is told of a message.
import type { Button, Entity, Message } from '@referrer/telegram-stand-in'

export interface ShownMessage {
  id: number
  isMine: boolean
  from: string
  text: string
  entities: Entity[]
  /** Milliseconds. */
  at: number
  isEdited: boolean
  buttons: Button[][]
  /** Whether it asks to confirm a link between this chat and a wallet. */
  asksToLink: boolean
}

const LINK_PATH = '/link'

export function shownMessage(message: Message, serviceUrl: string): ShownMessage {
  const { message_id: id, from, text = '', entities = [], date, edit_date, reply_markup } = message
  return {
    id,
    isMine: !from.is_bot,
    from: from.first_name,
    text,
    entities,
    at: date * 1_000,
    isEdited: edit_date !== undefined,
    buttons: reply_markup?.inline_keyboard ?? [],
    asksToLink: linkCode(message, serviceUrl) !== undefined,
  }
}

/** The one-time code in a bot's message that leads to the console of this service, in its text or behind a button. */
export function linkCode(message: Message, serviceUrl: string): string | undefined {
  if (!message.from.is_bot) return undefined
  const { text = '', entities = [], reply_markup } = message
  const addresses = [
    ...(reply_markup?.inline_keyboard.flat() ?? []).map(({ url }) => url),
    ...entities.map(({ type, url, offset, length }) =>
      type === 'url' ? text.slice(offset, offset + length) : url,
    ),
  ]
  for (const address of addresses) {
    const url = URL.parse(address ?? '')
    const code = url?.searchParams.get('code')
    if (code && url?.origin === new URL(serviceUrl).origin && url.pathname === LINK_PATH) return code
  }
  return undefined
}
