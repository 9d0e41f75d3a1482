import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RequestSignature } from '@referrer/protocol'
import { type Hex, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SandboxAccount } from '../state.ts'
import { type Chat, startChat } from './chat.ts'
import type { ShownMessage } from './view.ts'

const accounts = (['buyer', 'walletBuyer', 'reviewer', 'merchant'] as const).map((role): SandboxAccount => {
  const privateKey = generatePrivateKey()
  return { role, privateKey, address: privateKeyToAddress(privateKey) }
})
const addressOf = (name: string) => accounts.find(({ role }) => role === name)?.address
const CODE = 'c0de-'.repeat(8).concat('end')

interface ShownChat {
  person: string
  messages: ShownMessage[]
  commands: object[]
}

describe('the page of the chat', () => {
  let chat: Chat
  /** Stands where the service does, which the market's own tests run: here it is what the page signs that matters. */
  let service: Server
  let serviceUrl: string
  let chainAhead: number
  let confirmed: { url: string | undefined; code: string; signer: string }[]

  beforeEach(async () => {
    confirmed = []
    chainAhead = 0
    service = createServer(async (incoming, response) => {
      const body = await new Response(incoming as never).text()
      if (incoming.url === '/rpc') return response.end(JSON.stringify(newestBlock(JSON.parse(body).id)))
      const { headers } = incoming
      const signer = await RequestSignature.recover({
        body,
        timestamp: Number(headers[RequestSignature.TIMESTAMP_HEADER.toLowerCase()]),
        signature: headers[RequestSignature.SIGNATURE_HEADER.toLowerCase()] as Hex,
      })
      confirmed.push({ url: incoming.url, code: JSON.parse(body).code, signer })
      response.end('{"linked":true}')
    }).listen(0, '127.0.0.1')
    await once(service, 'listening')
    serviceUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    chat = await startChat({ port: 0, serviceUrl, rpcUrl: `${serviceUrl}/rpc`, accounts })
  })
  afterEach(async () => {
    await chat.close()
    service.close()
    service.closeAllConnections()
  })

  const newestBlock = (id: number) => ({
    jsonrpc: '2.0',
    id,
    result: {
      number: '0x1',
      timestamp: toHex(Math.floor(Date.now() / 1_000) + chainAhead),
      transactions: [],
    },
  })
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${chat.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  async function bot(method: string, params: object = {}) {
    const response = await fetch(`${chat.url}/bot${chat.token}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(params),
    })
    return (await response.json()).result
  }
  const heard = async (): Promise<{ update_id: number; message: { text: string; chat: { id: number } } }[]> =>
    bot('getUpdates')

  /** What the page would show of a person's chat, once `isComplete`. */
  async function watch(person: string, isComplete: (shown: ShownChat) => boolean): Promise<ShownChat> {
    const response = await fetch(`${chat.url}/events`)
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      const events = text
        .split('\n\n')
        .slice(0, -1)
        .filter((event) => event.startsWith('event: chat\n'))
      const shown = events
        .map((event): ShownChat => JSON.parse(event.slice(event.indexOf('data: ') + 6)))
        .findLast((one) => one.person === person)
      if (shown && isComplete(shown)) return shown
    }
    throw new Error(`the stream ended: ${text}`)
  }

  it('is three files and runs no script but its own', async () => {
    for (const [path, type] of [
      ['/', 'text/html'],
      ['/?start=abc', 'text/html'],
      ['/chat.js', 'text/javascript'],
      ['/texts.js', 'text/javascript'],
      ['/chat.css', 'text/css'],
    ]) {
      const response = await fetch(`${chat.url}${path}`)
      expect(response.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
      const policy = response.headers.get('content-security-policy')?.split('; ')
      expect(policy).toEqual(
        expect.arrayContaining(["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]),
      )
      expect(policy?.join()).not.toContain('unsafe')
    }
    expect((await fetch(`${chat.url}/../chat.ts`)).status).toBe(404)
    expect((await fetch(`${chat.url}/constructor`)).status).toBe(404)
  })

  it.each(['chat.js', 'texts.js'])('never reads the text of a message as HTML, in %s', (name) => {
    const source = readFileSync(new URL(`page/${name}`, import.meta.url), 'utf8')
    expect(source).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc|\beval\b/,
    )
  })

  it('says what a person says, and shows what the bot answers, as it comes', async () => {
    expect((await post('/say', { person: 'buyer', text: ' /start abc ' })).status).toBe(200)
    const [update] = await heard()
    expect(update?.message).toMatchObject({ text: '/start abc', from: { username: 'sandbox_buyer' } })
    await bot('setMyCommands', { commands: [{ command: 'help', description: 'What I can do' }] })
    const shown = watch('buyer', ({ messages }) => messages.length === 2)
    await bot('sendMessage', { chat_id: update?.message.chat.id, text: '<b>Hi</b>', parse_mode: 'HTML' })
    const { messages, commands } = await shown
    expect(messages).toMatchObject([
      { isMine: true, text: '/start abc' },
      { isMine: false, text: 'Hi', entities: [{ type: 'bold' }], isEdited: false, asksToLink: false },
    ])
    expect(commands).toEqual([{ command: 'help', description: 'What I can do' }])
    for (const deed of [{ person: 'buyer', text: ' ' }, { person: 'buyer' }, { person: 'nobody', text: 'x' }])
      expect([400, 404]).toContain((await post('/say', deed)).status)
  })

  it('presses a button, and shows what the bot answers to that', async () => {
    await post('/say', { person: 'merchant', text: 'x' })
    const [said] = await heard()
    const chat_id = said?.message.chat.id
    const { message_id } = await bot('sendMessage', {
      ...{ chat_id, text: 'Sure?' },
      reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: 'yes' }]] },
    })
    const pressed = post('/press', { person: 'merchant', message: message_id, button: 'yes' })
    const offset = (said?.update_id ?? 0) + 1
    const [update] = await bot('getUpdates', { offset, timeout: 20 })
    await bot('answerCallbackQuery', { callback_query_id: update.callback_query.id, text: 'Done' })
    expect(await (await pressed).json()).toEqual({ text: 'Done', isAlert: false })
    expect((await post('/press', { person: 'merchant', message: message_id, button: 'no' })).status).toBe(404)
  })

  it('tells how far ahead of this machine the chain is, not how long ago its newest block was', async () => {
    const ahead = async () => (await (await fetch(`${chat.url}/clock`)).json()).aheadSeconds
    chainAhead = -3_600
    expect(await ahead()).toBe(0)
    chainAhead = 86_400
    expect(Math.round((await ahead()) / 3_600)).toBe(24)
  })

  describe('when the bot asks to link a wallet', () => {
    async function asked(message: object): Promise<number> {
      await post('/say', { person: 'buyer', text: '/start' })
      const { chat: room } = (await heard())[0]?.message ?? {}
      return (await bot('sendMessage', { chat_id: room?.id, text: 'Open the console', ...message }))
        .message_id
    }
    const link = (message: number, as: string) => post('/link', { person: 'buyer', message, as })
    const address = (code = CODE) => `${serviceUrl}/link?code=${code}`

    it.each([
      ['an address', () => ({ text: `Open ${address()} and sign.` })],
      ['a link', () => ({ text: `<a href="${address()}">Open</a>`, parse_mode: 'HTML' })],
      ['a button', () => ({ reply_markup: { inline_keyboard: [[{ text: 'Open', url: address() }]] } })],
    ])('by %s, signs the code for the person that is chosen', async (_, message) => {
      const id = await asked(message())
      const { messages } = await watch('buyer', (shown) => shown.messages.length === 2)
      expect(messages.at(-1)).toMatchObject({ id, asksToLink: true })
      const response = await link(id, 'reviewer')
      expect(await response.json()).toEqual({ linked: true })
      expect(confirmed).toEqual([
        { url: '/v1/messenger/link/confirm', code: CODE, signer: addressOf('reviewer') },
      ])
    })

    it('signs nothing that leads elsewhere, that a person wrote, or that is no link', async () => {
      for (const text of [
        `http://evil.example/link?code=${CODE}`,
        `${serviceUrl}/other?code=${CODE}`,
        'hello',
      ])
        expect((await link(await asked({ text }), 'buyer')).status).toBe(404)
      await post('/say', { person: 'buyer', text: address() })
      const { messages } = await watch('buyer', (shown) => shown.messages.at(-1)?.text === address())
      expect((await link(messages.at(-1)?.id ?? 0, 'buyer')).status).toBe(404)
      expect((await link(0, 'buyer')).status).toBe(404)
      expect(confirmed).toEqual([])
    })

    it('tells what the service refuses', async () => {
      service.removeAllListeners('request')
      service.on('request', (_, response) =>
        response.writeHead(400).end('{"error":"invalid or expired code"}'),
      )
      const response = await link(await asked({ text: address() }), 'buyer')
      expect(response.status).toBe(502)
      expect((await response.json()).error).toContain('invalid or expired code')
    })
  })

  describe('for strangers', () => {
    function raw(method: string, path: string, headers: Record<string, string>): Promise<number | undefined> {
      return new Promise((resolve, reject) => {
        const sent = request(`${chat.url}${path}`, { method, headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        sent.on('error', reject).end(method === 'POST' ? '{"person":"buyer","text":"x"}' : undefined)
      })
    }

    it.each([
      'rebound.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '192.168.1.7:8084',
      'evil.example:80',
    ])('is not there under the name "%s"', async (host) => {
      for (const path of ['/', '/events', '/clock']) expect(await raw('GET', path, { host })).toBe(403)
      expect(await raw('POST', '/say', { host, 'content-type': 'application/json' })).toBe(403)
      expect(await heard()).toEqual([])
    })

    it('refuses what another site sends, and forms, which need no permission', async () => {
      const host = new URL(chat.url).host
      const json = { 'content-type': 'application/json' }
      for (const origin of ['http://evil.example', 'null', `https://${host}`, 'http://127.0.0.1:1'])
        expect(await raw('POST', '/say', { ...json, origin })).toBe(403)
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ])
        expect(await raw('POST', '/say', { 'content-type': type })).toBe(403)
      expect(await raw('PUT', '/say', json)).toBe(403)
      expect(await raw('OPTIONS', '/say', { origin: 'http://evil.example' })).toBe(403)
      expect(await heard()).toEqual([])
      expect(await raw('POST', '/say', { ...json, origin: chat.url })).toBe(200)
    })

    it('refuses what is broken or too long, and goes on', async () => {
      const send = (body: string) =>
        fetch(`${chat.url}/say`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      expect((await send('{')).status).toBe(400)
      expect((await send('null')).status).toBe(400)
      expect((await send(JSON.stringify({ person: 'buyer', text: 'x'.repeat(70_000) }))).status).toBe(413)
      expect((await post('/toString', {})).status).toBe(404)
      expect((await post('/say', { person: 'buyer', text: 'still here' })).status).toBe(200)
    })
  })
})
