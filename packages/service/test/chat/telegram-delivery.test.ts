// What becomes of a message that is sent through Telegram, and what the service learns about a chat.
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Secret } from '@referrer/process'
import {
  type Fault,
  type Person,
  startTelegram,
  type Telegram,
  tooManyRequests,
} from '@referrer/telegram-stand-in'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CallFailed, openApi } from '../../src/doors/chat/telegram/api.ts'
import { openTelegram } from '../../src/doors/chat/telegram/telegram.ts'
import { callsOf, heard } from './bot.ts'

const TOKEN = '6100000001:a-token-that-nobody-may-read'
let telegram: Telegram
let alice: Person
const servers: Server[] = []

beforeAll(async () => {
  telegram = await startTelegram({ token: TOKEN })
  alice = telegram.user({ firstName: 'Alice', username: 'alice' })
  alice.say('/start')
})
afterAll(async () => {
  await telegram.close()
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

const configOf = (apiRoot: string, token = TOKEN) => ({
  token: new Secret(token),
  botName: 'referrer_bot',
  apiRoot,
  webhookSecret: undefined,
})
const open = (apiRoot = telegram.url, token?: string) =>
  openTelegram(configOf(apiRoot, token), { fetch, menu: [] })
const send = (chat: string | number, text = 'hello', channel = open()) =>
  channel.send(String(chat), { text }, 'key')

/** A server in place of Telegram. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a message', () => {
  it('is sent, and cut where it is too long', async () => {
    expect(await send(alice.id)).toEqual({ state: 'sent' })
    expect(heard(alice)).toEqual(['hello'])
    expect(await send(alice.id, `${'x'.repeat(4_094)}😀${'y'.repeat(100)}`)).toEqual({ state: 'sent' })
    expect(heard(alice).at(-1)).toBe(`${'x'.repeat(4_094)}…`)
  })

  const answered = (error_code: number, description: string): Fault => ({ error_code, description })
  it.each<[state: string, Fault, more?: object]>([
    ['retry', tooManyRequests(7), { afterMs: 7_000 }],
    ['retry', answered(500, 'Internal Server Error')],
    ['retry', answered(502, 'Bad Gateway')],
    ['retry', answered(401, 'Unauthorized')],
    ['retry', answered(404, 'Not Found')],
    ['blocked', answered(403, 'Forbidden: user is deactivated')],
    ['blocked', answered(400, 'Bad Request: chat not found')],
    ['refused', answered(400, 'Bad Request: BUTTON_DATA_INVALID')],
    ['refused', answered(400, 'Bad Request: message text is empty')],
    ['unsure', 'reset'],
    ['unsure', 'drop-answer'],
  ])('is in the state %s after %j', async (state, fault, more = {}) => {
    telegram.fail('sendMessage', fault)
    const delivery = await send(alice.id)
    expect(delivery).toMatchObject({ state, ...more })
    expect(Object.keys(delivery).includes('afterMs')).toBe('afterMs' in more)
    expect(JSON.stringify(delivery)).not.toContain(TOKEN)
  })

  it('is blocked where nobody has begun the chat, or somebody has ended it', async () => {
    const bob = telegram.user({ firstName: 'Bob' })
    expect(await send(bob.id)).toMatchObject({ state: 'blocked' })
    bob.say('hello')
    bob.block()
    expect(await send(bob.id)).toMatchObject({ state: 'blocked' })
    expect(await send(12_345)).toMatchObject({ state: 'blocked' })
  })

  it('was certainly not sent where no connection could be made', async () => {
    // Nobody listens at port 2, and fetch has nothing against it.
    for (const apiRoot of ['http://127.0.0.1:2', 'http://localhost:2', 'http://nowhere.invalid']) {
      expect(await send(1, 'x', open(apiRoot)), apiRoot).toMatchObject({ state: 'retry' })
    }
  })

  it('is sent later with the right token', async () => {
    const reason = expect.stringContaining('check TELEGRAM_BOT_TOKEN')
    expect(await send(alice.id, 'x', open(telegram.url, '1:wrong'))).toMatchObject({ state: 'retry', reason })
  })

  it.each<[what: string, RequestListener]>([
    ['a page of a proxy', (_, response) => void response.writeHead(502).end('<html>Bad Gateway</html>')],
    ['nothing', (_, response) => void response.end()],
    ['null', (_, response) => void response.end('null')],
    ['a list', (_, response) => void response.end('[]')],
    ['another object', (_, response) => void response.end('{"hello": 1}')],
    [
      'half an answer',
      (_, response) => {
        response.writeHead(200, { 'content-length': 99 })
        response.write('{"ok":', () => response.destroy())
      },
    ],
    ['another host', (_, response) => void response.writeHead(302, { location: telegram.url }).end()],
  ])('may have been sent where the answer is %s', async (_, listener) => {
    const delivery = await send(1, 'x', open(await serve(listener)))
    expect(delivery).toMatchObject({ state: 'unsure' })
    expect(JSON.stringify(delivery)).not.toContain(TOKEN)
  })

  it('may have been sent where no answer comes in time', async () => {
    const call = openApi(configOf(await serve(() => {})), fetch)
    const failure = await call((api, signal) => api.sendMessage(1, 'x', {}, signal), { timeoutMs: 50 }).catch(
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(CallFailed)
    expect(failure).toMatchObject({ code: undefined, neverLeft: false })
  })
})

describe('a chat', () => {
  it('has the name of its user, which is asked for once in a while', async () => {
    const channel = open()
    const before = callsOf(telegram, 'getChat').length
    expect(
      await Promise.all([channel.identify(String(alice.id)), channel.identify(String(alice.id))]),
    ).toEqual(['alice', 'alice'])
    expect(await channel.identify(String(alice.id))).toBe('alice')
    expect(callsOf(telegram, 'getChat').length - before).toBe(1)
  })

  it('has no name where the user has none, or Telegram does not say', async () => {
    const channel = open()
    const bob = telegram.user({ firstName: 'Bob' })
    expect(await channel.identify(String(bob.id))).toBeUndefined()
    expect(await channel.identify('12345')).toBeUndefined()
    telegram.fail('getChat', 'reset')
    expect(await channel.identify(String(alice.id))).toBeUndefined()
    expect(await channel.identify(String(alice.id))).toBe('alice')
  })

  it('is opened by a link', () => {
    expect(open().deepLink('abc')).toBe('https://t.me/referrer_bot?start=abc')
  })
})
