import type { FastifyInstance } from 'fastify'
import { clientOf } from './limits.ts'

/** Of one client. */
const MOST_BYTES = 64 * 1024 * 1024
/** Of smaller answers the limit of requests lets nobody have too many. */
const LARGE = 64 * 1024

/** An answer stays in memory until its client has read it: whoever leaves too much unread gets no further large one meanwhile. */
export function limitUnread(app: FastifyInstance): void {
  const unread = new Map<string, number>()

  app.addHook('onSend', (request, reply, payload, done) => {
    const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
    if (size < LARGE || reply.raw.destroyed) return done(null, payload)
    const client = clientOf(request.ip)
    const before = unread.get(client) ?? 0
    if (before > 0 && before + size > MOST_BYTES) {
      reply.code(429).header('retry-after', 1).type('application/json; charset=utf-8')
      return done(null, JSON.stringify({ error: 'rate limited' }))
    }
    unread.set(client, before + size)
    reply.raw.once('close', () => {
      const left = (unread.get(client) ?? 0) - size
      if (left > 0) unread.set(client, left)
      else unread.delete(client)
    })
    done(null, payload)
  })
}
