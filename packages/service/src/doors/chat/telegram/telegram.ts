// Telegram, through a bot.
import { createCache } from '@referrer/process'
import type { Message } from '../../../kit/channel.ts'
import type { TelegramConfig } from '../../../kit/config.ts'
import type { Messenger } from '../reception.ts'
import { type CallFailed, openApi } from './api.ts'
import { deliveryOf } from './delivery.ts'
import { createHandler } from './handler.ts'
import { receiveByHook } from './hook.ts'
import { pollingWorker } from './polling.ts'
import type { Menu } from './set-up.ts'

/** In characters, as Telegram counts them. */
const LONGEST_TEXT = 4_096
const IDENTIFY_MS = 3_000
const USERNAME_TTL_MS = 5 * 60_000
const MOST_USERNAMES = 10_000

export interface TelegramOptions {
  fetch: typeof globalThis.fetch
  /** What the app shows when one types a slash. */
  menu: Menu
}

export function openTelegram(config: TelegramConfig, { fetch, menu }: TelegramOptions): Messenger {
  const call = openApi(config, fetch)
  const username = createCache({
    keyOf: (chat: string) => chat,
    load: (chat) => call((api, signal) => api.getChat(chat, signal), { timeoutMs: IDENTIFY_MS }),
    ttlMs: () => USERNAME_TTL_MS,
    clock: Date.now,
    max: MOST_USERNAMES,
  })

  const telegram: Messenger = {
    name: 'telegram',
    deduplicates: false,
    // Nothing is lost while Telegram is away.
    mostAttempts: Number.POSITIVE_INFINITY,
    deepLink: (code) => `https://t.me/${config.botName}?start=${code}`,
    async send(chat, message) {
      try {
        await call((api, signal) => api.sendMessage(chat, textOf(message), optionsOf(message), signal))
        return { state: 'sent' }
      } catch (error) {
        return deliveryOf(error as CallFailed)
      }
    },
    identify: (chat) =>
      username(chat).then(
        (found) => found.username,
        () => undefined,
      ),
    receive(context, answer) {
      async function replace(chat: string, messageId: number, message: Message) {
        try {
          await call((api, signal) =>
            api.editMessageText(chat, messageId, textOf(message), optionsOf(message), signal),
          )
          return { state: 'sent' } as const
        } catch (error) {
          const failure = error as CallFailed
          if (failure.code !== 400) return deliveryOf(failure)
          if (failure.message.includes('message is not modified')) return { state: 'sent' } as const
          // It was deleted, or is too old to be changed.
          return telegram.send(chat, message, '')
        }
      }
      const handler = createHandler({ context, channel: telegram, call, answer, replace })
      const receiving = { context, call, menu, handler }
      const { webhookSecret } = config
      if (webhookSecret) return receiveByHook(receiving, webhookSecret)
      return { workers: [pollingWorker(receiving)], hooks: [] }
    },
  }
  return telegram
}

/** Plain text: without a parse mode nothing in it is markup. */
function textOf({ text }: Message): string {
  return text.length > LONGEST_TEXT
    ? `${text.slice(0, LONGEST_TEXT - 1).replace(/[\ud800-\udbff]$/, '')}…`
    : text
}

/** Without previews, because a link with a code would be fetched for one. */
const optionsOf = ({ buttons }: Message) => ({
  link_preview_options: { is_disabled: true },
  ...(buttons && {
    reply_markup: {
      inline_keyboard: buttons.map((row) =>
        row.map(({ label, data }) => ({ text: label, callback_data: data })),
      ),
    },
  }),
})
