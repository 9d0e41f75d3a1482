import { clientOf } from '@referrer/net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Of one client. */
const MOST_BYTES = 64 * 1024 * 1024
/** Of smaller bodies and answers the limit of requests lets nobody have too many. */
export const LARGE = 64 * 1024

/** A body is in memory while it arrives, an answer until it is read: whoever leaves too much there gets 429 for further large ones. */
export function limitHeld(app: FastifyInstance, bodyLimit: number): void {
  const held = new Map<string, number>()

  /** Until the request is over; false: there is too much already. One alone always passes. */
  function hold({ ip }: FastifyRequest, { raw }: FastifyReply, size: number): boolean {
    if (size < LARGE || raw.destroyed) return true
    const client = clientOf(ip)
    const before = held.get(client) ?? 0
    if (before > 0 && before + size > MOST_BYTES) return false
    held.set(client, before + size)
    raw.once('close', () => {
      const left = (held.get(client) ?? 0) - size
      if (left > 0) held.set(client, left)
      else held.delete(client)
    })
    return true
  }

  app.addHook('onRequest', (request, reply, done) => {
    const { 'content-length': length = 0, 'transfer-encoding': encoding } = request.headers
    if (hold(request, reply, Math.min(encoding ? bodyLimit : Number(length), bodyLimit))) return done()
    refused(reply).send(REFUSAL)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
    if (hold(request, reply, size)) return done(null, payload)
    refused(reply)
    done(null, REFUSAL)
  })
}

const REFUSAL = JSON.stringify({ error: 'rate limited' })
const refused = (reply: FastifyReply) =>
  reply.code(429).header('retry-after', 1).type('application/json; charset=utf-8')
