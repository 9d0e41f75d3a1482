// Serves the console: its files, and its pages rendered on the server with what the routes answer.
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Asset, Console } from '@referrer/console'
import { clientOf } from '@referrer/net'
import { createCache, withTimeout } from '@referrer/process'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { prefersHtml } from '../../kit/accept.ts'
import type { Context } from '../../kit/context.ts'
import { CONSOLE_HEADER, cookieName, cookieToken } from '../auth/cookie.ts'
import { crawlerRoutes } from './crawlers.ts'
import { PAGE_HEADERS } from './headers.ts'
import { previewRoutes } from './previews.ts'

const YEAR = 'public, max-age=31536000, immutable'
/** A page waits no longer for the routes. */
const RENDER_TIMEOUT_MS = 10_000
/** Everybody sees the same page at the same moment, so one rendering serves all who ask within this time. */
const PAGE_TTL_MS = 1_000
const PAGE_CACHE = { max: 500, maxBytes: 32 * 1024 * 1024 }
/** A page costs up to 400 ms of a core that is busy: one client must not fill it. */
const PAGES_OF_CLIENT = { perSecond: 2, burst: 40 }
/** Our own questions for a page carry it: they are part of a request that was counted. */
const OWN_HEADER = 'x-own-page'

/** Reads that the interface has as POST. */
const READS_BY_POST = new Set(['/v1/messenger/link/status'])

interface Wanted {
  url: string
  theme: 'light' | 'dark' | undefined
  ip: string
  /** What a visitor who is signed in would send, for a page that belongs to them. */
  session?: Record<string, string> | undefined
}

interface Page {
  status: number
  location: string | undefined
  body: Buffer
  gzipped: Buffer
}

export interface ConsoleDoor {
  /** Whether a page answers the request: there is one, or a browser asks and has to be told that there is none. */
  isFor(request: FastifyRequest): boolean
  send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
  /** Whether the request is a page's question to our own routes. */
  isOwn(request: FastifyRequest): boolean
}

export function consoleRoutes(app: FastifyInstance, console: Console, context: Context): ConsoleDoor {
  const limiter = context.limits.limiter('pages', PAGES_OF_CLIENT)
  const ownKey = randomBytes(32).toString('hex')
  for (const [path, asset] of console.assets) {
    app.get(path, { config: { isPublic: true } }, (request, reply) => sendAsset(asset, request, reply))
  }

  /** Asks our own routes as the visitor would, without a connection. It only reads: rendering a page changes nothing. */
  const askFor =
    (ip: string, session: Record<string, string> = {}): typeof fetch =>
    async (input, init) => {
      const { url, signal, method } = new Request(input, init)
      const { pathname, search } = new URL(url)
      if (method !== 'GET' && !READS_BY_POST.has(pathname))
        throw new Error(`${method} ${pathname} is no read`)
      const headers = { ...session, [OWN_HEADER]: ownKey, accept: 'application/json' }
      const asked = { method: method as 'GET', url: pathname + search, remoteAddress: ip, headers, signal }
      const answer = await app.inject(asked)
      const type = String(answer.headers['content-type'] ?? 'application/json')
      return new Response(answer.body, { status: answer.statusCode, headers: { 'content-type': type } })
    }

  /** The session's cookie as one of our pages would send it. Browsers do not send it with a request that another site began. */
  function sessionOf({ headers }: FastifyRequest): Record<string, string> | undefined {
    const token = cookieToken(context.config, headers)
    if (token === undefined) return undefined
    return {
      cookie: `${cookieName(context.config)}=${token}`,
      [CONSOLE_HEADER]: '1',
      'sec-fetch-site': 'same-origin',
      ...(headers['user-agent'] && { 'user-agent': headers['user-agent'] }),
    }
  }

  previewRoutes(app, context, askFor)
  crawlerRoutes(app, context, askFor)

  async function render({ url, theme, ip, session }: Wanted): Promise<Page> {
    const { status, html, location, error } = await withTimeout(
      RENDER_TIMEOUT_MS,
      console.render({
        url,
        theme,
        origin: context.config.publicUrl,
        fetch: askFor(ip, session),
        isSignedIn: session !== undefined,
      }),
      () => {
        throw new Error(`a page was not rendered within ${RENDER_TIMEOUT_MS} ms: ${url.slice(0, 200)}`)
      },
    )
    if (error) context.log.error({ err: error, url: url.slice(0, 200) }, 'a page could not be shown')
    const body = Buffer.from(html)
    return { status, location, body, gzipped: await promisify(gzip)(body) }
  }

  const pageOf = createCache<Wanted, Page>({
    ...PAGE_CACHE,
    keyOf: ({ url, theme }) => `${theme} ${url}`,
    load: render,
    // A refusal may be meant for one client only.
    ttlMs: ({ status }) => (status === 200 || status === 404 ? PAGE_TTL_MS : 0),
    bytesOf: ({ body, gzipped }) => body.length + gzipped.length,
    clock: context.clock,
  })

  return {
    isFor: ({ url, headers }) => prefersHtml(headers.accept) || console.hasPage(pathOf(url)),
    isOwn: ({ headers }) => headers[OWN_HEADER] === ownKey,
    async send(request, reply) {
      const waitSeconds = await limiter(clientOf(request.ip))
      if (waitSeconds > 0)
        return reply.code(429).header('retry-after', Math.ceil(waitSeconds)).send(SLOW_DOWN)
      const session = console.isPrivate(pathOf(request.url)) ? sessionOf(request) : undefined
      const wanted = { url: request.url, theme: themeOf(request.headers.cookie), ip: request.ip, session }
      const { status, location, body, gzipped } = await (session ? render(wanted) : pageOf(wanted))
      reply.code(status).headers(PAGE_HEADERS)
      if (session) reply.header('cache-control', 'private, no-store')
      if (location) reply.header('location', location)
      if (!acceptsOf(request).includes('gzip')) return reply.send(body)
      return reply.header('content-encoding', 'gzip').send(gzipped)
    },
  }
}

const SLOW_DOWN = 'Too many pages at once. Wait a few seconds, then reload.\n'

function sendAsset({ type, etag, isImmutable, bodies }: Asset, request: FastifyRequest, reply: FastifyReply) {
  reply.headers({
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'cache-control': isImmutable ? YEAR : 'no-cache',
    etag,
    vary: 'Accept-Encoding',
  })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  const encoding = ['br', 'gzip'].find((name) => acceptsOf(request).includes(name) && bodies.has(name))
  if (encoding) reply.header('content-encoding', encoding)
  return reply.send(bodies.get(encoding ?? 'identity'))
}

const pathOf = (url: string): string => url.split('?', 1)[0] as string
const acceptsOf = ({ headers }: FastifyRequest): string => String(headers['accept-encoding'] ?? '')

function themeOf(cookie: string | undefined): 'light' | 'dark' | undefined {
  const theme = /(?:^|;\s*)theme=(light|dark)(?:;|$)/.exec(cookie ?? '')?.[1]
  return theme as 'light' | 'dark' | undefined
}
