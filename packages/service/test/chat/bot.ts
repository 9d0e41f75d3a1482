// A Telegram bot of the service without a market: it polls, or is posted to, and answers by echo.
import type { Sql } from '@referrer/database'
import { Secret } from '@referrer/process'
import type { Telegram } from '@referrer/telegram-stand-in'
import type { Answerer, Messenger, Reception } from '../../src/doors/chat/reception.ts'
import { openTelegram } from '../../src/doors/chat/telegram/telegram.ts'
import { testConfig, testContext } from '../../src/doors/http/testing.ts'
import { startWorkers, type WorkerHealth } from '../../src/machinery/workers/frame.ts'

export const SECRET = 'a-secret-of-Telegram'
const MENU = [{ command: 'help', description: 'what I do' }]

export interface BotOptions {
  telegram: Telegram
  sql: Sql
  databaseUrl: string
  answer?: Answerer
  env?: Record<string, string>
  clock?: () => number
}

export interface Bot {
  messenger: Messenger
  hooks: Reception['hooks']
  logged: string[]
  health(): WorkerHealth
  stop(): Promise<void>
}

/** Answers a message with `echo: <text>`, with a button, and a press with what was pressed. */
export const echo: Answerer = async ({ text, pressed }) =>
  pressed === undefined
    ? { text: `echo: ${text}`, buttons: [[{ label: 'Press me', data: 'p:1' }]] }
    : { text: `pressed ${pressed}` }

export function startBot({ telegram, sql, databaseUrl, answer = echo, env = {}, clock }: BotOptions): Bot {
  const config = testConfig({
    TELEGRAM_BOT_TOKEN: telegram.token,
    TELEGRAM_BOT_NAME: telegram.botName,
    TELEGRAM_API_ROOT: telegram.url,
    ...env,
  })
  const { context, logged } = testContext(sql, {
    config,
    databaseUrl: new Secret(databaseUrl),
    ...(clock && { clock }),
  })
  if (!config.messenger?.telegram) throw new Error('the bot is configured')
  const messenger = openTelegram(config.messenger.telegram, { fetch, menu: MENU })
  const { workers, hooks } = messenger.receive(context, answer)
  const running = startWorkers({
    workers,
    onEvent: ({ type, ...rest }) => context.log.info('error' in rest ? { err: rest.error } : {}, type),
    backoff: { firstMs: 10, maxMs: 50 },
  })
  return {
    messenger,
    hooks,
    logged,
    health: () => running.health()[0] as WorkerHealth,
    async stop() {
      const { stuck } = await running.stop({ timeoutMs: 20_000 })
      if (stuck.length > 0) throw new Error('the bot did not stop')
    },
  }
}

export const callsOf = ({ calls }: Telegram, method: string) => calls.filter((call) => call.method === method)

/** What the bot has said to somebody. */
export const heard = (person: { messages(): { from: { is_bot: boolean }; text?: string }[] }) =>
  person.messages().flatMap(({ from, text }) => (from.is_bot ? [text ?? ''] : []))
