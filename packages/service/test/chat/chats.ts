// A market whose owners chat with its bot, on a stand-in of Telegram.
import { type Message, type Person, startTelegram, type Telegram } from '@referrer/telegram-stand-in'
import { type LocalAccount, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { must, naming } from '../http/caller.ts'
import { startTestMarket, type TestMarket } from '../http/market.ts'

export const BOT = 'referrer_test_bot'
export const CONSOLE = 'https://console.test'
/** The URL that the bot gives for a code. */
export const PAGE = /https:\/\/console\.test\/link\?code=([\w-]{43})/
/** A chat may send one message in this time. */
const BETWEEN_MESSAGES_MS = 1_000

export interface Chats {
  m: TestMarket
  telegram: Telegram
  close(): Promise<void>
}

export async function startChats(options: Parameters<typeof startTestMarket>[0] = {}): Promise<Chats> {
  const telegram = await startTelegram({ botName: BOT })
  const m = await startTestMarket({
    ...options,
    env: {
      TELEGRAM_BOT_TOKEN: telegram.token,
      TELEGRAM_BOT_NAME: telegram.botName,
      TELEGRAM_API_ROOT: telegram.url,
      CONSOLE_URL: CONSOLE,
      ...options.env,
    },
  })
  return {
    m,
    telegram,
    async close() {
      await m.close()
      await telegram.close()
    },
  }
}

let people = 0

/** Somebody who has not written to the bot yet. */
export function somebody({ telegram }: Pick<Chats, 'telegram'>, username = `person_${++people}`): Person {
  return telegram.user({ firstName: 'Ann', username })
}

let wallets = 0x5eed_0000

/** A wallet that was never used. */
export const newWallet = (): LocalAccount => privateKeyToAccount(numberToHex(++wallets, { size: 32 }))

/** Says something and waits for the bot's answer. */
export async function ask({ m }: Pick<Chats, 'm'>, person: Person, text: string): Promise<Message> {
  m.clock.aheadMs += BETWEEN_MESSAGES_MS
  const said = person.say(text)
  return person.until((messages) =>
    messages.find(({ message_id, from }) => message_id > said.message_id && from.is_bot),
  )
}

/** The text of the bot's answer. */
export const told = async (chats: Pick<Chats, 'm'>, person: Person, text: string): Promise<string> =>
  (await ask(chats, person, text)).text ?? ''

/** A code that the bot gives in this chat, for the web. */
export async function codeInChat(chats: Pick<Chats, 'm'>, person: Person): Promise<string> {
  const text = await told(chats, person, '/start')
  const [, code] = PAGE.exec(text) ?? []
  if (!code) throw new Error(`the bot gave no code: ${text}`)
  return code
}

/** A code of this wallet, for the chat. */
export async function codeOnWeb({ m }: Pick<Chats, 'm'>, owner: LocalAccount): Promise<string> {
  m.clock.aheadMs += BETWEEN_MESSAGES_MS
  const path = '/v1/messenger/link/start'
  return (await must(m.call('POST', path, { as: owner, body: naming('POST', path) }))).code
}

/** Links a wallet to the chat of a person, by a code of the wallet. */
export async function link(chats: Pick<Chats, 'm'>, owner: LocalAccount, person: Person): Promise<void> {
  const text = await told(chats, person, `/start ${await codeOnWeb(chats, owner)}`)
  if (!text.includes(owner.address)) throw new Error(`the chat was not linked: ${text}`)
}

/** What the route says of a wallet. */
export const statusOf = ({ m }: Pick<Chats, 'm'>, owner: LocalAccount) =>
  must(m.call('POST', '/v1/messenger/link/status', { as: owner }))
