// Preview pictures of the public pages, for chats and search engines. Everybody may ask for them, and one costs as much as many requests:
// only what exists has one, a picture is made once in a while, and each client gets a few.
import { createHash } from 'node:crypto'
import { openPainter, PainterBusy, type Subject, subjectOf } from '@referrer/console'
import { clientOf } from '@referrer/net'
import { createCache } from '@referrer/process'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../kit/context.ts'

const PICTURES_OF_CLIENT = { perSecond: 2, burst: 20 }
const MOST_WAITING = 50
const TTL_MS = 300_000
const CACHE = { max: 2_000, maxBytes: 32 * 1024 * 1024 }
const CACHE_CONTROL = `public, max-age=${TTL_MS / 1_000}`

interface Preview {
  png: Buffer
  etag: string
}

/** `askFor` asks our own routes for a client. */
export function previewRoutes(
  app: FastifyInstance,
  { clock, limits }: Pick<Context, 'clock' | 'limits'>,
  askFor: (ip: string) => typeof fetch,
  painter = openPainter({ mostWaiting: MOST_WAITING }),
): void {
  const limiter = limits.limiter('previews', PICTURES_OF_CLIENT)
  app.addHook('onClose', () => painter.close())

  /** Undefined: there is no such subject. */
  const previewOf = createCache<{ subject: Subject; ip: string }, Preview | undefined>({
    ...CACHE,
    keyOf: ({ subject }) => subject.key,
    async load({ subject, ip }) {
      const answers = await Promise.all(subject.asks.map((path) => ask(askFor(ip), path)))
      const svg = subject.draw(answers)
      if (svg === undefined) return undefined
      const png = await painter.paint(svg)
      return { png, etag: `"${createHash('sha256').update(png).digest('base64url').slice(0, 24)}"` }
    },
    ttlMs: (preview) => (preview ? TTL_MS : 0),
    bytesOf: (preview) => preview?.png.length ?? 0,
    clock,
  })

  app.get('/preview/*', { config: { isPublic: true } }, async (request, reply) => {
    const subject = subjectOf(request.url.split('?', 1)[0] as string)
    if (!subject) return reply.callNotFound()
    const waitSeconds = await limiter(clientOf(request.ip))
    if (waitSeconds > 0) {
      return reply.code(429).header('retry-after', Math.ceil(waitSeconds)).send({ error: 'rate limited' })
    }
    try {
      const preview = await previewOf({ subject, ip: request.ip })
      if (!preview) return reply.code(404).send({ error: 'not found' })
      const { png, etag } = preview
      reply.headers({ 'cache-control': CACHE_CONTROL, etag, 'x-content-type-options': 'nosniff' })
      if (request.headers['if-none-match'] === etag) return reply.code(304).send()
      return reply.type('image/png').send(png)
    } catch (error) {
      if (!(error instanceof PainterBusy)) throw error
      return reply.code(503).header('retry-after', 1).send({ error: 'the picture cannot be made now' })
    }
  })
}

/** Undefined: our routes know nothing there. */
async function ask(fetch: typeof globalThis.fetch, path: string): Promise<unknown> {
  const answer = await fetch(`http://localhost${path}`)
  if (answer.ok) return answer.json()
  if (answer.status === 400 || answer.status === 404) return undefined
  throw new Error(`${path} answered ${answer.status}`)
}
