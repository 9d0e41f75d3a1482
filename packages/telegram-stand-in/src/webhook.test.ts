import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Bot, webhookCallback } from 'grammy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTelegram, type Telegram } from './index.ts'

const SECRET = 'only-Telegram_knows'

describe('a bot with a webhook', () => {
  let telegram: Telegram
  let bot: Bot
  let server: Server
  let url: string
  let headers: IncomingHttpHeaders[]
  let methods: (string | undefined)[]
  /** Statuses that the bot's server answers before it lets the bot answer. */
  let refusals: number[]

  beforeEach(async () => {
    telegram = await startTelegram({ webhookRetryMs: 1 })
    bot = new Bot(telegram.token, { client: { apiRoot: telegram.url, canUseWebhookReply: () => true } })
    headers = []
    methods = []
    refusals = []
    const handle = webhookCallback(bot, 'http', { secretToken: SECRET })
    server = createServer((request, response) => {
      headers.push(request.headers)
      methods.push(request.method)
      const status = refusals.shift()
      if (status) response.writeHead(status, { location: '/elsewhere' }).end()
      else void handle(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  })
  afterEach(async () => {
    await telegram.close()
    server.close()
    server.closeAllConnections()
  })

  const said = (text: string) => (messages: { text?: string }[]) =>
    messages.some((message) => message.text === text)
  const set = (options = {}) => bot.api.setWebhook(url, { secret_token: SECRET, ...options })

  it('gets updates with its secret, those that waited first, and may answer with a call', async () => {
    bot.on('message:text', (ctx) => ctx.reply(`you said ${ctx.msg.text}`))
    const alice = telegram.user({ firstName: 'Alice' })
    alice.say('early')
    await set()
    await alice.until(said('you said early'))
    alice.say('late')
    await alice.until(said('you said late'))
    for (const sent of headers) expect(sent['x-telegram-bot-api-secret-token']).toBe(SECRET)
    expect(await bot.api.getWebhookInfo()).toMatchObject({
      url,
      pending_update_count: 0,
      max_connections: 40,
    })
  })

  it('gets an update again until it accepts it, in the order of the chat', async () => {
    const heard: string[] = []
    bot.on('message:text', (ctx) => void heard.push(ctx.msg.text))
    refusals = [500, 302, 404]
    await set()
    const alice = telegram.user({ firstName: 'Alice' })
    alice.say('one')
    alice.say('two')
    await expect.poll(() => heard).toEqual(['one', 'two'])
    expect(methods).toEqual(['POST', 'POST', 'POST', 'POST', 'POST'])
    expect((await bot.api.getWebhookInfo()).last_error_message).toMatch(
      /^Wrong response from the webhook: 404/,
    )
  })

  it('hears one chat while another one waits', async () => {
    const slow = Promise.withResolvers<void>()
    bot.hears('slow', () => slow.promise)
    bot.hears('fast', (ctx) => ctx.reply('done'))
    await set()
    const [alice, bob] = [telegram.user({ firstName: 'Alice' }), telegram.user({ firstName: 'Bob' })]
    alice.say('slow')
    bob.say('fast')
    await bob.until(said('done'))
    slow.resolve()
  })

  it('cannot poll before it has removed the webhook', async () => {
    await set()
    await expect(bot.api.getUpdates()).rejects.toMatchObject({
      error_code: 409,
      description:
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    })
    refusals = Array(1_000).fill(500)
    const alice = telegram.user({ firstName: 'Alice' })
    alice.say('kept')
    await expect.poll(() => headers.length).toBeGreaterThan(0)
    await bot.api.deleteWebhook()
    expect(await bot.api.getUpdates()).toHaveLength(1)
    await bot.api.deleteWebhook({ drop_pending_updates: true })
    expect(await bot.api.getUpdates()).toEqual([])
  })

  it('is refused an address that is none, and a secret with other characters', async () => {
    await expect(bot.api.setWebhook('ftp://bot.example/')).rejects.toMatchObject({ error_code: 400 })
    await expect(set({ secret_token: 'two words' })).rejects.toMatchObject({
      description: 'Bad Request: secret token contains unallowed characters',
    })
  })
})
