import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Context } from '../../kit/context.ts'
import { llmsText } from '../../market/manifest/llms.ts'

/** Serves `/llms.txt`. It is no route of the list, because it depends on what else this process serves. */
export function llmsRoute(app: FastifyInstance, context: Context, served: { hasPages: boolean }): void {
  const text = Buffer.from(llmsText(context, served))
  const etag = `"${hash('sha256', text, 'base64url').slice(0, 22)}"`
  app.get('/llms.txt', { config: { isPublic: true } }, (request, reply) => {
    reply.headers({ etag, 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' })
    // `includes` also matches a weak ETag, because a proxy may have weakened it.
    if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send()
    return reply.type('text/plain; charset=utf-8').send(text)
  })
}
