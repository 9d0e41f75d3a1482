// The bot that polls, against Telegram's Bot API on this machine.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundled, freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { type Person, startTelegram, type Telegram, tooManyRequests } from '@referrer/telegram-stand-in'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Answerer } from '../../src/doors/chat/reception.ts'
import { migrations } from '../../src/machinery/db/migrations.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { type Bot, type BotOptions, callsOf, echo, heard, startBot } from './bot.ts'
import { MALFORMED, STRANGE } from './updates.ts'

let database: TestDatabase
let telegram: Telegram
let alice: Person
let bots: Bot[]
let children: ChildProcess[]

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())
beforeEach(async () => {
  telegram = await startTelegram()
  alice = telegram.user({ firstName: 'Alice', username: 'alice' })
  bots = []
  children = []
})
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(bots.map((bot) => bot.stop()))
  await telegram.close()
  await database.sql`DELETE FROM market.chat_links`
})

function start(options: Partial<BotOptions> = {}): Bot {
  const bot = startBot({ telegram, sql: database.sql, databaseUrl: database.url, ...options })
  bots.push(bot)
  return bot
}

const says = (text: string) => (messages: { text?: string }[]) =>
  messages.some((message) => message.text === text)
const blocked = async () => {
  const [row] = await database.sql`SELECT blocked_at FROM market.chat_links`
  return row?.blocked_at !== null
}
const link = (person: Person) => database.sql`
  INSERT INTO market.chat_links (owner, channel, chat, linked_at) VALUES ('\\x01', 'telegram', ${String(person.id)}, now())`
/** The connections that hold the lock of the poller or ask for it. */
const connections = async () =>
  database.sql<{ pid: number; holds: boolean }[]>`
    SELECT pid, EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = activity.pid) AS holds
    FROM pg_stat_activity AS activity WHERE datname = current_database() AND application_name = 'telegram'`

describe('a bot that polls', () => {
  it('answers a text as plain text with buttons, after it has taken back a webhook and set its menu', async () => {
    start()
    alice.say('<b>hello</b> https://market.test')
    await alice.until(says('echo: <b>hello</b> https://market.test'))
    expect(callsOf(telegram, 'sendMessage')[0]?.params).toEqual({
      chat_id: String(alice.id),
      text: 'echo: <b>hello</b> https://market.test',
      link_preview_options: { is_disabled: true },
      reply_markup: { inline_keyboard: [[{ text: 'Press me', callback_data: 'p:1' }]] },
    })
    expect(telegram.calls.slice(0, 2).map(({ method }) => method)).toEqual(['deleteWebhook', 'setMyCommands'])
    expect(telegram.commands()).toEqual([{ command: 'help', description: 'what I do' }])
    expect(callsOf(telegram, 'getUpdates')[0]?.params).toMatchObject({
      allowed_updates: ['message', 'callback_query', 'my_chat_member'],
    })
  })

  it('puts the answer to a pressed button in place of the message', async () => {
    start()
    alice.say('hello')
    const { message_id } = await alice.until((messages) => messages.find(({ from }) => from.is_bot))
    const { answered } = alice.press(message_id, 'Press me')
    await alice.until(says('pressed p:1'))
    expect(await answered).toMatchObject({ isAlert: false })
    expect(heard(alice)).toEqual(['pressed p:1'])
    expect(alice.messages().at(-1)).not.toHaveProperty('reply_markup')
  })

  it('takes it well that the answer to a press changes nothing, and writes anew where the message is gone', async () => {
    start({ answer: async () => ({ text: 'same', buttons: [[{ label: 'Again', data: 'a:1' }]] }) })
    alice.say('hello')
    const { message_id } = await alice.until((messages) => messages.find(({ from }) => from.is_bot))
    await alice.press(message_id, 'Again').answered
    await until(() => callsOf(telegram, 'editMessageText')[0]?.answer, 'the first edit')
    telegram.fail('editMessageText', { error_code: 400, description: "Bad Request: message can't be edited" })
    await alice.press(message_id, 'Again').answered
    await alice.until((messages) => messages.filter(({ from }) => from.is_bot).length === 2)
    expect(heard(alice)).toEqual(['same', 'same'])
  })

  it('answers what was said while the API was away, once, those of a chat in order', async () => {
    const heal = telegram.fail('*', 'reset', Number.POSITIVE_INFINITY)
    const bot = start()
    for (const word of ['one', 'two', 'three']) alice.say(word)
    await until(() => bot.health().state === 'failing', 'the bot to notice')
    heal()
    await alice.until(says('echo: three'))
    expect(heard(alice)).toEqual(['echo: one', 'echo: two', 'echo: three'])
    await until(() => bot.health().state === 'running', 'the bot to recover')
  })

  it('sends an answer again that was refused for the time being, and waits as long as it is asked to', async () => {
    telegram.fail('sendMessage', tooManyRequests(2))
    telegram.fail('sendMessage', { error_code: 502, description: 'Bad Gateway' })
    start()
    const [at] = [Date.now(), alice.say('hello')]
    await alice.until(says('echo: hello'))
    expect(Date.now() - at).toBeGreaterThanOrEqual(2_000)
    expect(callsOf(telegram, 'sendMessage').map(({ fault }) => fault !== undefined)).toEqual([
      true,
      true,
      false,
    ])
  })

  it('polls again when Telegram asked it to, and not before', async () => {
    telegram.fail('getUpdates', tooManyRequests(2))
    start()
    const [at] = [Date.now(), alice.say('hello')]
    await alice.until(says('echo: hello'))
    expect(Date.now() - at).toBeGreaterThanOrEqual(2_000)
  })

  it('lets nobody wait for the answer to somebody else', async () => {
    const held = Promise.withResolvers<void>()
    const answer: Answerer = async (incoming) => {
      if (incoming.text === 'slow') await held.promise
      return echo(incoming)
    }
    start({ answer })
    alice.say('slow')
    alice.say('second')
    const bob = telegram.user({ firstName: 'Bob' })
    await until(() => callsOf(telegram, 'getUpdates').length > 2, 'further polls')
    bob.say('quick')
    await bob.until(says('echo: quick'))
    expect(heard(alice)).toEqual([])
    held.resolve()
    await alice.until(says('echo: second'))
    expect(heard(alice)).toEqual(['echo: slow', 'echo: second'])
    expect(heard(bob)).toEqual(['echo: quick'])
  })

  it('survives every kind of update, malformed and huge ones, without a word to anybody', async () => {
    const bot = start()
    alice.say('first')
    await alice.until(says('echo: first'))
    const before = telegram.calls.length
    for (const [kind, content] of Object.entries(STRANGE)) telegram.push({ [kind]: content })
    for (const [, update] of MALFORMED) if (update) telegram.push(update as Record<string, unknown>)
    telegram.push({ message: { text: 'x'.repeat(2_000_000) } })
    alice.say('last')
    await alice.until(says('echo: last'))
    const made = telegram.calls.slice(before).map(({ method }) => method)
    expect(made.filter((method) => method !== 'getUpdates')).toEqual(['sendMessage'])
    expect(bot.health()).toMatchObject({ state: 'running', restarts: 0 })
  })

  it('leaves a group that it is added to, once a minute, and says nothing there', async () => {
    let now = Date.now()
    start({ clock: () => now })
    const group = telegram.group({ title: 'Friends' }, alice)
    await until(() => callsOf(telegram, 'leaveChat').length, 'the bot to leave')
    const added = { chat: { id: group.id, type: 'supergroup' }, new_chat_member: { status: 'member' } }
    const everybody = async () => {
      alice.say('still there?')
      await alice.until(() => heard(alice).length === asked + 1)
      asked += 1
    }
    let asked = 0
    telegram.push({ my_chat_member: added })
    telegram.push({ message: { message_id: 9, date: 1, chat: added.chat, from: alice.user, text: '/start' } })
    await everybody()
    expect(callsOf(telegram, 'leaveChat')).toHaveLength(1)
    now += 60_000
    telegram.push({ my_chat_member: added })
    await until(() => callsOf(telegram, 'leaveChat').length === 2, 'the bot to leave again')
    expect(heard(group).filter((text) => text !== '')).toEqual([])
  })

  it('answers nobody who floods it, and goes on with the others', async () => {
    const now = Date.now()
    start({ clock: () => now })
    for (let number = 1; number <= 30; number += 1) alice.say(`message ${number}`)
    const bob = telegram.user({ firstName: 'Bob' })
    bob.say('hello')
    await bob.until(says('echo: hello'))
    await alice.until(says('echo: message 10'))
    await until(
      async () => callsOf(telegram, 'getUpdates').at(-1)?.answer === undefined,
      'a poll with nothing to do',
    )
    expect(heard(alice)).toHaveLength(10)
  })

  it('remembers who has blocked it, and forgets it when they write again', async () => {
    await link(alice)
    start()
    alice.say('hello')
    await alice.until(says('echo: hello'))
    expect(await blocked()).toBe(false)
    alice.block()
    await until(blocked, 'the block to be remembered')
    alice.unblock()
    await until(async () => !(await blocked()), 'the end of the block')
    await database.sql`UPDATE market.chat_links SET blocked_at = now()`
    alice.say('again')
    await until(async () => !(await blocked()), 'the block to be forgotten')
  })

  it('remembers a block that it learns from a refused answer', async () => {
    await link(alice)
    telegram.fail('sendMessage', { error_code: 403, description: 'Forbidden: bot was blocked by the user' })
    start()
    alice.say('hello')
    await until(blocked, 'the block to be remembered')
  })

  it('keeps what it could not handle while the database was away', async () => {
    const bot = start()
    await until(() => callsOf(telegram, 'getUpdates').length, 'the first poll')
    await database.sql`ALTER TABLE market.chat_links RENAME TO away`
    try {
      alice.say('hello')
      await until(() => bot.health().state === 'failing', 'the bot to fail')
      expect(heard(alice)).toEqual([])
    } finally {
      await database.sql`ALTER TABLE market.away RENAME TO chat_links`
    }
    await alice.until(says('echo: hello'))
    expect(heard(alice)).toEqual(['echo: hello'])
  })

  it('says what to do when another deployment polls with its token', async () => {
    const bot = start()
    await until(() => callsOf(telegram, 'getUpdates').length, 'the first poll')
    await fetch(`${telegram.url}/bot${telegram.token}/getUpdates`)
    await until(() => bot.logged.join('').includes('another deployment uses the same token'), 'the advice')
    alice.say('hello')
    await alice.until(says('echo: hello'))
  })

  it('confirms what it has answered when it stops, so that the next one does not answer again', async () => {
    const bot = start()
    alice.say('one')
    await alice.until(says('echo: one'))
    await bot.stop()
    start()
    alice.say('two')
    await alice.until(says('echo: two'))
    expect(heard(alice)).toEqual(['echo: one', 'echo: two'])
    expect(bot.logged.filter((line) => line.includes('worker.failed'))).toEqual([])
  })

  it('writes its token into no log line and no reason, whatever goes wrong', async () => {
    telegram.fail('deleteWebhook', 'reset')
    telegram.fail('setMyCommands', { error_code: 400, description: `no ${telegram.token}` })
    telegram.fail('getUpdates', { error_code: 500, description: 'Internal Server Error' })
    telegram.fail('sendMessage', { error_code: 400, description: `bad ${telegram.token}` })
    const bot = start()
    alice.say('hello')
    await until(() => bot.logged.join('').includes('an answer was not sent'), 'the refused answer')
    telegram.fail('sendMessage', 'reset')
    const reasons = [await bot.messenger.send(String(alice.id), { text: 'x' }, 'k')]
    telegram.fail('sendMessage', { error_code: 400, description: `bad ${telegram.token}` })
    reasons.push(await bot.messenger.send(String(alice.id), { text: 'x' }, 'k'))
    const written = `${bot.logged.join('')}${JSON.stringify([reasons, bot.health()])}`
    expect(written).toContain('[token]')
    expect(written).not.toContain(telegram.token)
    expect(written).not.toContain(telegram.token.split(':')[1])
  })
})

describe('of several replicas', () => {
  const named =
    (name: string): Answerer =>
    async ({ text }) => ({ text: `${name}: ${text}` })

  it('one polls, and another one takes over when it loses its database connection', async () => {
    const first = start({ answer: named('first') })
    await until(async () => (await connections()).some(({ holds }) => holds), 'the first to poll')
    const second = start({ answer: named('second') })
    await until(async () => (await connections()).length === 2, 'the second to wait')
    alice.say('one')
    await alice.until(says('first: one'))
    // Otherwise the other one would have to answer it again.
    const isConfirmed = () => Number(callsOf(telegram, 'getUpdates').at(-1)?.params.offset) > 0
    await until(isConfirmed, 'the first to confirm what it has answered')
    const [holder] = (await connections()).filter(({ holds }) => holds)
    await database.sql`SELECT pg_terminate_backend(${holder?.pid ?? 0})`
    await until(
      async () => (await connections()).some(({ pid, holds }) => holds && pid !== holder?.pid),
      'a new holder',
    )
    alice.say('two')
    await alice.until((messages) => messages.some(({ text = '' }) => text.endsWith(': two')))
    expect(heard(alice)).toHaveLength(2)
    await until(() => first.health().restarts === 1, 'the first one to step down')
    expect(second.health().restarts).toBe(0)
  })

  it('another one answers what a killed one has fetched and not answered', async () => {
    const child = spawn(process.execPath, [await bundled(new URL('./doomed-bot.ts', import.meta.url))], {
      env: {
        ...process.env,
        BOT: JSON.stringify({ databaseUrl: database.url, apiRoot: telegram.url, token: telegram.token }),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(child)
    const asked = once(child.stdout, 'data')
    await until(() => callsOf(telegram, 'getUpdates').length, 'the child to poll')
    start({ answer: named('heir') })
    alice.say('hello')
    expect(String((await asked)[0])).toBe('asked: hello\n')
    // It polls on while it works on the answer, and must not confirm the question by that.
    const polls = callsOf(telegram, 'getUpdates').length
    await until(() => callsOf(telegram, 'getUpdates').length > polls + 1, 'further polls of the child')
    expect(heard(alice)).toEqual([])
    child.kill('SIGKILL')
    await alice.until(says('heir: hello'))
    expect(heard(alice)).toEqual(['heir: hello'])
  })
})
