// The server of the page: its files, what happens in the chats as a stream, and what a person does.
import { readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { RequestSignature } from '@referrer/protocol'
import type { Telegram } from '@referrer/telegram-stand-in'
import { callerOf } from '../caller.ts'
import { refusalOf } from './guard.ts'
import type { Chatter } from './people.ts'
import { linkCode, shownMessage } from './view.ts'

const CONFIRM = '/v1/messenger/link/confirm'

export interface PageOptions {
  telegram: Telegram
  chatters: Chatter[]
  serviceUrl: string
  /** Seconds, of the newest block. */
  chainTime: () => Promise<number>
}

const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}
const FILES: Record<string, { name: string; type: string }> = {
  '/': { name: 'index.html', type: 'text/html' },
  '/chat.css': { name: 'chat.css', type: 'text/css' },
  '/chat.js': { name: 'chat.js', type: 'text/javascript' },
  '/texts.js': { name: 'texts.js', type: 'text/javascript' },
}
const MOST_BYTES = 65_536
/** Of a chat, so that a long one stays quick. */
const MOST_MESSAGES = 200
/** A bot that does not answer a press leaves the person without a notice, as in Telegram. */
const PATIENCE_MS = 10_000

/** Said to the person on the page, as it is. */
class Refusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface Deed {
  person?: unknown
  text?: unknown
  message?: unknown
  button?: unknown
  as?: unknown
}

export function createPage({ telegram, chatters, serviceUrl, chainTime }: PageOptions): RequestListener {
  const service = callerOf(serviceUrl)

  function find(key: unknown): Chatter {
    const chatter = chatters.find((one) => one.key === key)
    if (!chatter) throw new Refusal(404, 'there is no such person')
    return chatter
  }

  const deeds: Record<string, (deed: Deed) => unknown> = {
    '/say': ({ person, text }) => {
      if (typeof text !== 'string' || text.trim() === '') throw new Refusal(400, 'say something')
      find(person).chat.say(text.trim())
      return {}
    },
    '/press': async ({ person, message, button }) => {
      const { answered } = pressed(find(person), message, button)
      return Promise.race([answered, afterwards(PATIENCE_MS)])
    },
    '/link': async ({ person, message, as }) => {
      const { account } = find(as)
      const asking = find(person)
        .chat.messages()
        .find(({ message_id }) => message_id === message)
      // Only what the bot has written here is signed, not a code that the request brings.
      const code = asking && linkCode(asking, serviceUrl)
      if (!code) throw new Refusal(404, 'this message does not ask to link a wallet')
      try {
        const naming = RequestSignature.nameRequest(serviceUrl, 'POST', CONFIRM)
        return await service.post<object>(account, CONFIRM, { code, ...naming })
      } catch (error) {
        throw new Refusal(502, (error as Error).message)
      }
    },
  }

  const aheadSeconds = async () => Math.max(0, (await chainTime()) - Math.floor(Date.now() / 1_000))

  async function act(path: string, request: IncomingMessage): Promise<unknown> {
    const deed = Object.hasOwn(deeds, path) ? deeds[path] : undefined
    if (!deed) throw new Refusal(404, 'there is nothing here')
    return deed(await readDeed(request))
  }

  /** Everything that the chats show, then what changes, as server-sent events. */
  function stream(response: ServerResponse) {
    response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' })
    const send = (event: string, data: object) =>
      response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    const sendChat = ({ key, chat }: Chatter) =>
      send('chat', {
        person: key,
        messages: chat
          .messages()
          .slice(-MOST_MESSAGES)
          .map((message) => shownMessage(message, serviceUrl)),
        commands: telegram.commands(),
      })
    send('hello', {
      bot: telegram.botName,
      people: chatters.map(({ key, name, account }) => ({ key, name, wallet: account.address })),
    })
    chatters.forEach(sendChat)
    const unsubscribe = telegram.subscribe((id) => {
      const chatter = chatters.find(({ chat }) => chat.id === id)
      if (chatter) sendChat(chatter)
    })
    response.on('close', unsubscribe)
  }

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const refusal = refusalOf(request)
    if (refusal) throw new Refusal(403, refusal)
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (request.method === 'POST') return sendJson(response, 200, await act(pathname, request))
    if (pathname === '/events') return stream(response)
    if (pathname === '/clock') return sendJson(response, 200, { aheadSeconds: await aheadSeconds() })
    const file = Object.hasOwn(FILES, pathname) ? FILES[pathname] : undefined
    if (!file) throw new Refusal(404, 'there is nothing here')
    response
      .writeHead(200, { ...HEADERS, 'content-type': `${file.type}; charset=utf-8` })
      .end(readFileSync(new URL(`page/${file.name}`, import.meta.url)))
  }

  return (request, response) => {
    answer(request, response).catch((error: Error) =>
      sendJson(response, error instanceof Refusal ? error.status : 500, { error: error.message }),
    )
  }
}

function pressed({ chat }: Chatter, message: unknown, button: unknown) {
  try {
    return chat.press(Number(message), String(button))
  } catch (error) {
    // It was edited away in the meantime.
    throw new Refusal(404, (error as Error).message)
  }
}

const afterwards = (ms: number) => new Promise<object>((resolve) => setTimeout(resolve, ms, {}).unref())

async function readDeed(request: IncomingMessage): Promise<Deed> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += chunk
    if (text.length > MOST_BYTES) throw new Refusal(413, 'that is too long')
  }
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new Refusal(400, 'that is no JSON')
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { ...HEADERS, 'content-type': 'application/json' }).end(JSON.stringify(body))
}
