// Telegram on this machine: its Bot API over HTTP, and the people who talk to the bot.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError, type Failure } from './api-error.ts'
import { createChats } from './chats.ts'
import { createCommands } from './commands.ts'
import { createFaults, type Fault, type Faults } from './faults.ts'
import { createMethods } from './methods.ts'
import { type Params, readParams } from './params.ts'
import { createPeople, type People } from './people.ts'
import { createQueries } from './queries.ts'
import type { Command, Content, User } from './types.ts'
import { createUpdates, type Updates } from './updates.ts'

const HOST = '127.0.0.1'
const BOT_ID = 6_100_000_001
const FIRST_UPDATE = 918_273_001
const CALL = /^\/bot([^/]+)\/(\w+)$/

export interface TelegramOptions {
  /** Any free one by default. */
  port?: number
  /** A random one by default. */
  token?: string
  /** The bot's user name. */
  botName?: string
  /** How long a webhook that failed is left alone. */
  webhookRetryMs?: number
  now?: () => number
  /** Answers what is no call of the Bot API. */
  page?: RequestListener
}

export interface Call {
  method: string
  params: Params
  /** Undefined while it runs, and where a fault left none. */
  answer?: Answer
  fault?: Fault
}

export type Answer = { ok: true; result: unknown } | ({ ok: false } & Failure)

export interface Telegram extends People {
  /** The bot's `apiRoot`. */
  url: string
  token: string
  botName: string
  /** Sends the bot any update; returns its number. */
  push(content: Content): number
  fail: Faults['fail']
  /** Every call of the bot, in order. */
  calls: Call[]
  /** The bot's menu, as a person sees it. */
  commands(): Command[]
  /** Calls back with the id of each chat that changes. */
  subscribe(listener: (chatId: number) => void): () => void
  close(): Promise<void>
}

export async function startTelegram({
  port = 0,
  token = `${BOT_ID}:${randomBytes(27).toString('base64url').slice(0, 35)}`,
  botName = 'stand_in_bot',
  webhookRetryMs = 100,
  now = Date.now,
  page = notFound,
}: TelegramOptions = {}): Promise<Telegram> {
  const bot: User = { id: Number(token.split(':')[0]), is_bot: true, first_name: 'Bot', username: botName }
  const never = new AbortController().signal
  const chats = createChats(now)
  const updates: Updates = createUpdates({
    ...{ firstId: FIRST_UPDATE, retryMs: webhookRetryMs, now },
    call: ({ method, ...params }) => perform(String(method), params, never),
  })
  const queries = createQueries(updates)
  const commands = createCommands()
  const faults = createFaults()
  const methods = createMethods({ bot, chats, updates, queries, commands })
  const calls: Call[] = []

  async function perform(method: string, params: Params, gone: AbortSignal): Promise<Call> {
    const fault = faults.next(method)
    const call: Call = { method, params, ...(fault && { fault }) }
    calls.push(call)
    if (typeof fault === 'object') call.answer = { ok: false, ...fault }
    else if (fault !== 'hang' && fault !== 'reset')
      call.answer = await answerOf(() => methods(method, params, gone))
    return call
  }

  async function serve(request: IncomingMessage, response: ServerResponse) {
    const { pathname, searchParams } = new URL(request.url ?? '/', `http://${HOST}`)
    const [, used, method = ''] = CALL.exec(decoded(pathname)) ?? []
    if (used === undefined) return page(request, response)
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    let params: Params
    try {
      if (used !== token) throw new ApiError({ error_code: 401, description: 'Unauthorized' })
      params = await readParams(request, searchParams)
    } catch (error) {
      return send(response, await answerOf(() => Promise.reject(error)))
    }
    const { fault, answer } = await perform(method, params, gone.signal)
    if (fault === 'reset' || fault === 'drop-answer') request.socket.resetAndDestroy()
    else if (answer) send(response, answer)
  }

  const server = createServer((request, response) => {
    // Whoever goes away in the middle of a request gets no answer.
    serve(request, response).catch(() => request.destroy())
  })
  server.listen(port, HOST)
  await once(server, 'listening')

  return {
    url: `http://${HOST}:${(server.address() as AddressInfo).port}`,
    token,
    botName,
    ...createPeople({ bot, chats, updates, queries }),
    push: (content) => updates.push(content).update_id,
    fail: faults.fail,
    calls,
    commands: commands.shown,
    subscribe: chats.subscribe,
    async close() {
      updates.close()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function answerOf(work: () => Promise<unknown>): Promise<Answer> {
  try {
    return { ok: true, result: structuredClone(await work()) }
  } catch (error) {
    if (error instanceof ApiError) return { ok: false, ...error.failure }
    throw error
  }
}

function send(response: ServerResponse, answer: Answer): void {
  const wait = answer.ok ? undefined : answer.parameters?.retry_after
  response
    .writeHead(answer.ok ? 200 : answer.error_code, {
      'content-type': 'application/json',
      ...(wait !== undefined && { 'retry-after': String(wait) }),
    })
    .end(JSON.stringify(answer))
}

/** Some clients escape the colon of the token. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const notFound: RequestListener = (_, response) =>
  send(response, { ok: false, error_code: 404, description: 'Not Found' })
