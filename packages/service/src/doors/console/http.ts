// Serves the console: its files, and its pages rendered on the server with what the routes answer.
import type { Console } from '@referrer/console'
import { withTimeout } from '@referrer/process'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { prefersHtml } from '../../kit/accept.ts'

/** Forbids everything but the console's own files: no inline script or style, no other origin. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  // The theme is a cookie.
  vary: 'Cookie',
  'cache-control': 'no-cache',
}
const YEAR = 'public, max-age=31536000, immutable'
/** A page waits no longer for the routes; the browser asks again for what is missing. */
const RENDER_TIMEOUT_MS = 5_000

export interface ConsoleDoor {
  /** Whether a page answers the request: there is one, or a browser asks and has to be told that there is none. */
  isFor(request: FastifyRequest): boolean
  send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>
}

export function consoleRoutes(app: FastifyInstance, console: Console, publicUrl: string): ConsoleDoor {
  for (const [path, asset] of console.assets) {
    app.get(path, { config: { isPublic: true } }, (request, reply) => {
      reply.headers({
        'content-type': asset.type,
        'x-content-type-options': 'nosniff',
        'cache-control': asset.isImmutable ? YEAR : 'no-cache',
        etag: asset.etag,
        vary: 'Accept-Encoding',
      })
      if (request.headers['if-none-match'] === asset.etag) return reply.code(304).send()
      const accepted = String(request.headers['accept-encoding'] ?? '')
      const encoding = ['br', 'gzip'].find((name) => accepted.includes(name) && asset.bodies.has(name))
      if (encoding) reply.header('content-encoding', encoding)
      return reply.send(asset.bodies.get(encoding ?? 'identity'))
    })
  }

  /** Asks our own routes as the visitor would, without a connection; counted as the visitor's requests. */
  const askFor =
    ({ ip }: FastifyRequest): typeof fetch =>
    async (input, init) => {
      const { url, method, signal } = new Request(input, init)
      const { pathname, search } = new URL(url)
      const options = { method: method as 'GET', url: pathname + search, remoteAddress: ip, signal }
      const { statusCode, body, headers } = await app.inject(options)
      const type = String(headers['content-type'] ?? 'application/json')
      return new Response(body, { status: statusCode, headers: { 'content-type': type } })
    }

  return {
    isFor: ({ url, headers }) =>
      prefersHtml(headers.accept) || console.hasPage(url.split('?', 1)[0] as string),
    async send(request, reply) {
      const { status, html, location } = await withTimeout(
        RENDER_TIMEOUT_MS,
        console.render({
          url: request.url,
          origin: publicUrl,
          theme: themeOf(request.headers.cookie),
          fetch: askFor(request),
        }),
        () => {
          throw new Error(`the page was not rendered within ${RENDER_TIMEOUT_MS} ms`)
        },
      )
      reply.code(status).headers(PAGE_HEADERS)
      if (location) reply.header('location', location)
      return reply.send(html)
    },
  }
}

function themeOf(cookie: string | undefined): 'light' | 'dark' | undefined {
  const theme = /(?:^|;\s*)theme=(light|dark)(?:;|$)/.exec(cookie ?? '')?.[1]
  return theme as 'light' | 'dark' | undefined
}
