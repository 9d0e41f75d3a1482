// The bot that Telegram posts to.
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Person, startTelegram, type Telegram } from '@referrer/telegram-stand-in'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMetrics } from '../../src/app/metrics.ts'
import { createApp } from '../../src/doors/http/app.ts'
import { testConfig, testContext } from '../../src/doors/http/testing.ts'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { type Bot, callsOf, heard, SECRET, startBot } from './bot.ts'
import { MALFORMED, STRANGE } from './updates.ts'

let database: TestDatabase
let telegram: Telegram
let alice: Person
let app: FastifyInstance
let url: string
let bot: Bot
let now = Date.now()

beforeAll(async () => {
  database = await freshDatabase(migrations)
  telegram = await startTelegram()
  alice = telegram.user({ firstName: 'Alice' })
  const config = testConfig({ RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' })
  const { context } = testContext(database.sql, { config })
  const hook = {
    path: '/telegram/webhook',
    handle: async (request: Parameters<Bot['hooks'][number]['handle']>[0]) => {
      const [own] = bot.hooks
      if (own?.path !== hook.path) throw new Error('the path of the hook')
      return own.handle(request)
    },
  }
  app = createApp(context, { routes: [], tools: [], hooks: [hook], metrics: createMetrics(context) })
  url = await app.listen({ port: 0 })
  // Telegram is away when the bot starts.
  telegram.fail('setWebhook', 'reset', 2)
  const env = { TELEGRAM_WEBHOOK_SECRET: SECRET, PUBLIC_URL: url }
  bot = startBot({ telegram, sql: database.sql, databaseUrl: database.url, env, clock: () => now })
})
afterAll(async () => {
  await bot.stop()
  await telegram.close()
  await app.close()
  await database.drop()
})

const says = (text: string) => (messages: { text?: string }[]) =>
  messages.some((message) => message.text === text)
const message = (text: string) => ({
  message_id: 1,
  date: 1_790_000_000,
  chat: { id: alice.id, type: 'private' },
  from: alice.user,
  text,
})
async function post(body: string, secret: string | undefined = SECRET) {
  const response = await fetch(`${url}/telegram/webhook`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      ...(secret && { 'x-telegram-bot-api-secret-token': secret }),
    },
  })
  return response.status
}

describe('a bot that Telegram posts to', () => {
  it('registers itself, as soon as Telegram can be reached, and answers', async () => {
    alice.say('hello')
    await alice.until(says('echo: hello'))
    expect(callsOf(telegram, 'setWebhook').at(-1)?.params).toEqual({
      url: `${url}/telegram/webhook`,
      secret_token: SECRET,
      allowed_updates: ['message', 'callback_query', 'my_chat_member'],
    })
    expect(callsOf(telegram, 'getUpdates')).toEqual([])
    await until(() => telegram.commands().length, 'the menu')
  })

  it('does nothing for whoever does not know the secret', async () => {
    const before = telegram.calls.length
    const update = JSON.stringify({ update_id: 1, message: message('hello') })
    for (const secret of ['', 'wrong', `${SECRET}x`, SECRET.slice(0, -1), SECRET.toUpperCase()]) {
      expect(await post(update, secret), secret).toBe(401)
    }
    expect(telegram.calls).toHaveLength(before)
    expect(await post(update)).toBe(200)
    await until(() => telegram.calls.length > before, 'the answer to the right secret')
  })

  it('survives every kind of update, malformed and huge ones, without a call', async () => {
    const before = telegram.calls.length
    for (const [kind, content] of Object.entries(STRANGE)) {
      expect(await post(JSON.stringify({ update_id: 1, [kind]: content })), kind).toBe(200)
    }
    for (const [what, update] of MALFORMED) expect(await post(JSON.stringify(update)), what).toBe(200)
    for (const body of ['', '{', 'hello', '\u0000']) expect(await post(body), body).toBe(400)
    expect(await post(JSON.stringify({ message: message('x'.repeat(1_048_576)) }))).toBe(413)
    expect(await post(' '.repeat(3_000_000))).toBe(413)
    expect(telegram.calls).toHaveLength(before)
  })

  it('lets Telegram post again what could not be handled', async () => {
    await database.sql`ALTER TABLE market.chat_links RENAME TO away`
    try {
      expect(await post(JSON.stringify({ update_id: 1, message: message('lost?') }))).toBe(503)
      alice.say('kept')
    } finally {
      await database.sql`ALTER TABLE market.away RENAME TO chat_links`
    }
    await alice.until(says('echo: kept'))
    expect(heard(alice)).not.toContain('echo: lost?')
  })

  it('takes a bounded number of updates at once, and lets Telegram post the others again', async () => {
    now += 60_000
    const update = JSON.stringify({ update_id: 1 })
    const statuses = await Promise.all(Array.from({ length: 120 }, () => post(update)))
    expect(statuses.filter((status) => status === 200)).toHaveLength(100)
    expect(statuses.filter((status) => status === 429)).toHaveLength(20)
  })
})
