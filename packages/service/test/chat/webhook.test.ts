// A messenger of the operator's own: an endpoint that gets messages as signed JSON, and posts what people write.
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { Secret } from '@referrer/process'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sign } from '../../src/doors/chat/webhook/signature.ts'
import { bury, sweepDeadLetters } from '../../src/market/dead-letters/store.ts'
import { markBlocked } from '../../src/market/messenger/store.ts'
import { sessionOf } from '../http/caller.ts'
import { startTestMarket, type TestMarket } from '../http/market.ts'

const SECRET = 'a-secret-of-the-operator'
const LINK = 'https://chat.example/?start={code}&again={code}'

interface Got {
  headers: IncomingHttpHeaders
  body: string
}

let m: TestMarket
let endpoint: Server
let got: Got[] = []
/** How the endpoint answers. */
let behave: RequestListener = (_, response) => void response.end()

beforeAll(async () => {
  endpoint = createServer(async (request, response) => {
    got.push({ headers: request.headers, body: await readText(request) })
    behave(request, response)
  })
  endpoint.listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  const { port } = endpoint.address() as AddressInfo
  m = await startTestMarket({
    env: {
      CHAT_WEBHOOK_URL: `http://127.0.0.1:${port}/messages`,
      CHAT_WEBHOOK_SECRET: SECRET,
      CHAT_WEBHOOK_LINK: LINK,
    },
  })
})
afterAll(async () => {
  await m.close()
  endpoint.closeAllConnections()
  endpoint.close()
})
afterEach(() => {
  got = []
  behave = (_, response) => void response.end()
})

const hmac = (timestamp: number | string, body: string, secret = SECRET) =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`
const channel = () => {
  const found = m.service.context.channels.get('webhook')
  if (!found) throw new Error('the channel is configured')
  return found
}
const seconds = () => Math.floor((Date.now() + m.clock.aheadMs) / 1_000)

let sent = 0
interface Posting {
  timestamp?: number | string
  signature?: string
}
async function post(message: unknown, { timestamp = seconds(), signature }: Posting = {}) {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const response = await fetch(`${m.service.url}/chat/webhook`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-referrer-timestamp': String(timestamp),
      'x-referrer-signature': signature ?? hmac(timestamp, body),
    },
  })
  return { status: response.status, body: await response.json() }
}
/** A message that differs from all others. */
const say = (chat: string, text: string) => post({ id: String(++sent), chat, text })

describe('the signature', () => {
  it('is an HMAC-SHA256 over the timestamp, a dot and the body', () => {
    // Made with: printf '1790000000.{"chat":"42"}' | openssl dgst -sha256 -hmac a-secret-of-the-operator
    expect(sign(new Secret(SECRET), '1790000000', '{"chat":"42"}')).toBe(
      'sha256=834ed2cbe54428796b3fb9edd074e6483a9e05fa78d0f71b34555b1dbe2b4813',
    )
  })
})

describe('a message to a person', () => {
  it('is posted with its key and a signature', async () => {
    const buttons = [[{ label: 'Yes', data: 'y:1' }]]
    expect(await channel().send('room 42', { text: 'Grüezi 👋', buttons }, 'key 1')).toEqual({
      state: 'sent',
    })
    const [{ headers, body }] = got as [Got]
    expect(JSON.parse(body)).toEqual({ id: 'key 1', chat: 'room 42', text: 'Grüezi 👋', buttons })
    expect(headers['idempotency-key']).toBe('key 1')
    expect(headers['content-type']).toBe('application/json')
    const timestamp = String(headers['x-referrer-timestamp'])
    expect(timestamp).toMatch(/^\d{10}$/)
    expect(headers['x-referrer-signature']).toBe(hmac(timestamp, body))
  })

  it.each<[state: string, status: number, headers?: Record<string, string>, more?: object]>([
    ['sent', 200],
    ['sent', 204],
    ['blocked', 410],
    ['retry', 429, { 'retry-after': '7' }, { afterMs: 7_000 }],
    ['retry', 503, { 'retry-after': '60' }, { afterMs: 60_000 }],
    ['retry', 429, { 'retry-after': 'soon' }],
    ['retry', 503],
    ['retry', 302, { location: 'http://127.0.0.1:1/' }],
    ['refused', 400],
    ['refused', 401],
    ['refused', 404],
    ['refused', 422],
    ['unsure', 408],
    ['unsure', 425],
    ['unsure', 500],
    ['unsure', 502],
  ])('is in the state %s after the status %d %j', async (state, status, headers = {}, more = {}) => {
    behave = (_, response) => void response.writeHead(status, headers).end('a body that nobody reads')
    const delivery = await channel().send('1', { text: 'x' }, 'k')
    expect(delivery).toMatchObject({ state, ...more })
    expect(Object.keys(delivery).includes('afterMs')).toBe('afterMs' in more)
    expect(got).toHaveLength(1)
  })

  it('waits until the date that it is told', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString()
    behave = (_, response) => void response.writeHead(503, { 'retry-after': date }).end()
    const { afterMs = 0 } = (await channel().send('1', { text: 'x' }, 'k')) as { afterMs?: number }
    expect(afterMs).toBeGreaterThan(3_500_000)
    expect(afterMs).toBeLessThanOrEqual(3_600_000)
  })

  it('may have arrived where the connection breaks', async () => {
    behave = ({ socket }) => void socket.destroy()
    expect(await channel().send('1', { text: 'x' }, 'k')).toMatchObject({ state: 'unsure' })
  })
})

describe('a message of a person', () => {
  it('is answered in the answer to the request', async () => {
    const { status, body } = await say('room 1', '/help')
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['text', 'buttons'])
    expect(body.text).toContain('/start')
  })

  it('can be a pressed button, whose message the answer replaces', async () => {
    expect(await post({ chat: 'room 1', pressed: '?:1' })).toEqual({
      status: 200,
      body: { text: 'This button is no longer valid.', buttons: [], replaces: true },
    })
  })

  it('links a wallet to the chat', async () => {
    const owner = m.market.accounts.buyer
    const { body: minted } = await m.call('POST', '/v1/messenger/link/start', { as: owner })
    expect(minted.deep_link).toBe(LINK.replaceAll('{code}', minted.code))
    expect((await say('room 2', `/start ${minted.code}`)).status).toBe(200)
    const { body: status } = await m.call('POST', '/v1/messenger/link/status', { as: owner })
    expect(status).toEqual({ linked: true, linked_at: expect.any(String) })
    const [row] = await m.sql`SELECT channel, chat FROM market.chat_links`
    expect(row).toEqual({ channel: 'webhook', chat: 'room 2' })
  })

  it('ends the block of its chat', async () => {
    await markBlocked(m.sql, { channel: 'webhook', chat: 'room 2' }, new Date())
    await say('room 2', '/help')
    const [row] = await m.sql`SELECT blocked_at FROM market.chat_links`
    expect(row?.blocked_at).toBeNull()
  })

  it('is taken once: a copy of it is refused, a second one like it needs another id', async () => {
    const timestamp = seconds()
    const message = { chat: 'room 3', text: '/help' }
    const copies = await Promise.all(Array.from({ length: 5 }, () => post(message, { timestamp })))
    expect(copies.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401])
    expect(copies.find(({ status }) => status === 401)?.body).toEqual({ error: 'replayed request' })
    expect((await post({ ...message, id: 'second' }, { timestamp })).status).toBe(200)
  })

  it('needs the signature of exactly its body and timestamp', async () => {
    const body = JSON.stringify({ chat: 'room 4', text: '/help' })
    const timestamp = seconds()
    const right = hmac(timestamp, body)
    const wrong = [
      hmac(timestamp, body, 'another-secret-of-16'),
      hmac(timestamp + 1, body),
      hmac(timestamp, `${body} `),
      right.slice('sha256='.length),
      right.toUpperCase(),
      right.slice(0, -1),
      `${right}0`,
      '',
    ]
    for (const signature of wrong) {
      expect(await post(body, { timestamp, signature }), signature).toEqual({
        status: 401,
        body: { error: 'bad signature' },
      })
    }
    for (const odd of ['', 'now', '1e9', `${timestamp}.0`, '-1']) {
      expect((await post(body, { timestamp: odd })).status, odd).toBe(401)
    }
    expect((await post(body, { timestamp, signature: right })).status).toBe(200)
  })

  it('is of the last five minutes', async () => {
    const message = { chat: 'room 5', text: '/help' }
    for (const off of [-310, 310]) {
      const { status, body } = await post(message, { timestamp: seconds() + off })
      expect([status, body.error]).toEqual([401, expect.stringContaining('within 300 seconds')])
    }
    for (const off of [-290, 290]) {
      expect((await post(message, { timestamp: seconds() + off })).status, String(off)).toBe(200)
    }
  })

  it.each<[what: string, message: unknown]>([
    ['no JSON', '{'],
    ['nothing', ''],
    ['null', null],
    ['a list', []],
    ['no chat', { text: 'x' }],
    ['an empty chat', { chat: '', text: 'x' }],
    ['a long chat', { chat: 'x'.repeat(129), text: 'x' }],
    ['a number as chat', { chat: 42, text: 'x' }],
    ['a text that is none', { chat: '1', text: 7 }],
    ['a long text', { chat: '1', text: 'x'.repeat(4_097) }],
    ['a long press', { chat: '1', pressed: 'x'.repeat(65) }],
    ['a text and a press', { chat: '1', text: 'x', pressed: 'y' }],
    ['a chat that cannot be stored', { chat: 'a\0b', text: 'x' }],
    ['half a character', '{"chat": "1", "text": "\\ud800"}'],
    ['a message of the service itself', { id: 'k', chat: '1', text: '/unlink', buttons: [] }],
  ])('is refused with what was expected: %s', async (_, message) => {
    expect(await post(message)).toEqual({
      status: 400,
      body: { error: expect.stringMatching(/^expected a JSON object with chat/) },
    })
  })

  it('is one of ten at once, and then of one a second, in each chat', async () => {
    const statuses = await m.atOnce(() =>
      Promise.all(Array.from({ length: 60 }, async () => (await say('room 6', 'x')).status)),
    )
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(statuses.filter((status) => status === 200)).toHaveLength(10)
    expect((await say('room 7', 'x')).status).toBe(200)
  })
})

describe('a message that was given up', () => {
  const letter = (key: string, at: Date) => ({
    ...{ channel: 'webhook', chat: 'room 1', key, at },
    text: 'Your purchase is confirmed.',
    reason: 'status 400',
  })
  const days = (count: number) => new Date(Date.now() - count * 86_400_000)

  it('is listed for admins, the newest first, once, and for 30 days', async () => {
    await bury(m.sql, letter('old', days(31)))
    await bury(m.sql, letter('first', days(2)))
    await bury(m.sql, letter('second', days(1)))
    await bury(m.sql, letter('second', days(0)))
    await sweepDeadLetters.run({ sql: m.sql, signal: new AbortController().signal })
    const token = await sessionOf(m.call, m.market.accounts.admin)
    const list = async (query = '') => (await m.call('GET', `/admin/dead-letters${query}`, { token })).body
    const { dead_letters: letters, ...rest } = await list()
    expect(letters.map(({ key }: { key: string }) => key)).toEqual(['second', 'first'])
    expect(rest).toEqual({ page: 1, limit: 20 })
    expect(letters[0]).toEqual({
      letter_id: expect.any(Number),
      channel: 'webhook',
      chat: 'room 1',
      key: 'second',
      text: 'Your purchase is confirmed.',
      reason: 'status 400',
      buried_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    })
    expect((await list('?limit=1&page=2')).dead_letters).toMatchObject([{ key: 'first' }])
  })

  it('is shown to nobody else', async () => {
    expect((await m.call('GET', '/admin/dead-letters')).status).toBe(401)
    expect((await m.call('GET', '/admin/dead-letters', { as: m.market.accounts.buyer })).status).toBe(401)
  })
})
