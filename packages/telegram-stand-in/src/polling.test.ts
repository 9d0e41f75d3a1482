import { Bot } from 'grammy'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTelegram, type Telegram } from './index.ts'

describe('a bot that polls', () => {
  let telegram: Telegram
  const bots: Bot[] = []

  beforeEach(async () => {
    telegram = await startTelegram({ botName: 'trial_bot' })
  })
  afterEach(async () => {
    await Promise.all(bots.splice(0).map((bot) => bot.stop()))
    await telegram.close()
  })

  function connect(token = telegram.token) {
    return new Bot(token, { client: { apiRoot: telegram.url } })
  }
  function start(bot: Bot) {
    bots.push(bot)
    const ended = bot.start()
    // Whoever expects it to fail awaits it.
    ended.catch(() => {})
    return ended
  }
  const last = (text: string) => (messages: { text?: string }[]) => messages.at(-1)?.text === text

  it('learns who it is', async () => {
    const me = await connect().api.getMe()
    expect(me).toMatchObject({
      is_bot: true,
      username: 'trial_bot',
      id: Number(telegram.token.split(':')[0]),
    })
  })

  it('answers commands and plain words', async () => {
    const bot = connect()
    bot.command('start', (ctx) => ctx.reply(`started with "${ctx.match}"`))
    bot.on('message:text', (ctx) => ctx.reply(`you said ${ctx.msg.text}`))
    void start(bot)
    const alice = telegram.user({ firstName: 'Alice', username: 'alice' })
    alice.say('/start abc')
    await alice.until(last('started with "abc"'))
    alice.say('/start@trial_bot x')
    await alice.until(last('started with "x"'))
    alice.say('hello')
    await alice.until(last('you said hello'))
    const heard = alice.messages().map(({ from, text }) => [from.first_name, text])
    expect(heard.slice(-2)).toEqual([
      ['Alice', 'hello'],
      ['Bot', 'you said hello'],
    ])
  })

  it('gets what was said while it was away, once, in order', async () => {
    const alice = telegram.user({ firstName: 'Alice' })
    for (const word of ['one', 'two', 'three']) alice.say(word)
    const heard: string[] = []
    const first = connect()
    first.on('message:text', (ctx) => void heard.push(ctx.msg.text))
    void start(first)
    await expect.poll(() => heard).toEqual(['one', 'two', 'three'])
    await first.stop()
    const second = connect()
    second.on('message:text', (ctx) => void heard.push(ctx.msg.text))
    void start(second)
    alice.say('four')
    await expect.poll(() => heard).toEqual(['one', 'two', 'three', 'four'])
  })

  it('gets updates again that it has not confirmed, and at most as many as it asks for', async () => {
    const { api } = connect()
    const alice = telegram.user({ firstName: 'Alice' })
    for (const word of ['one', 'two', 'three']) alice.say(word)
    const two = await api.getUpdates({ limit: 2 })
    expect(two.map(({ message }) => message?.text)).toEqual(['one', 'two'])
    expect(await api.getUpdates({ limit: 2 })).toEqual(two)
    const offset = (two[1]?.update_id ?? 0) + 1
    expect((await api.getUpdates({ offset })).map(({ message }) => message?.text)).toEqual(['three'])
    alice.say('four')
    expect((await api.getUpdates({ offset: -1 })).map(({ message }) => message?.text)).toEqual(['four'])
    expect(await api.getUpdates()).toHaveLength(1)
  })

  it('gets the kinds of updates that it asked for, and keeps to that', async () => {
    const { api } = connect()
    await api.getUpdates({ allowed_updates: ['my_chat_member'] })
    const alice = telegram.user({ firstName: 'Alice' })
    alice.say('not asked for')
    alice.block()
    const updates = await api.getUpdates()
    expect(updates).toHaveLength(1)
    expect(updates[0]?.my_chat_member?.new_chat_member.status).toBe('kicked')
    await api.getUpdates({ allowed_updates: [] })
    telegram.push({ chat_member: {} })
    telegram.push({ poll_answer: {} })
    const offset = (updates[0]?.update_id ?? 0) + 1
    expect((await api.getUpdates({ offset })).map((update) => Object.keys(update))).toEqual([
      expect.arrayContaining(['poll_answer']),
    ])
  })

  it('is terminated when another one polls', async () => {
    const ended = start(connect())
    await expect.poll(() => telegram.calls.some(({ method }) => method === 'getUpdates')).toBe(true)
    await connect().api.getUpdates({ timeout: 0 })
    await expect(ended).rejects.toMatchObject({
      error_code: 409,
      description:
        'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running',
    })
  })

  it('is refused with a wrong token, and for a method that there is not', async () => {
    await expect(connect('6100000001:wrong').api.getMe()).rejects.toMatchObject({
      error_code: 401,
      description: 'Unauthorized',
    })
    const raw = await fetch(`${telegram.url}/bot${telegram.token}/brewCoffee`)
    expect(raw.status).toBe(404)
    expect(await raw.json()).toEqual({
      ok: false,
      error_code: 404,
      description: 'Not Found: method not found',
    })
    expect((await fetch(telegram.url)).status).toBe(404)
  })

  it('goes on after 429, when the time has come', async () => {
    telegram.fail('getUpdates', {
      error_code: 429,
      description: 'Too Many Requests: retry after 1',
      parameters: { retry_after: 1 },
    })
    const bot = connect()
    bot.on('message:text', (ctx) => ctx.reply('here'))
    void start(bot)
    const alice = telegram.user({ firstName: 'Alice' })
    alice.say('hello')
    await alice.until(last('here'))
    expect(telegram.calls.find(({ method }) => method === 'getUpdates')?.answer).toMatchObject({
      error_code: 429,
    })
  })

  it('ends its poll when it goes away, so that the next one is alone', async () => {
    const leaving = new AbortController()
    const poll = connect().api.getUpdates({ timeout: 50 }, leaving.signal as never)
    await expect.poll(() => telegram.calls.length).toBe(1)
    leaving.abort()
    await expect(poll).rejects.toThrow()
    await expect.poll(() => telegram.calls[0]?.answer).toEqual({ ok: true, result: [] })
  })
})
