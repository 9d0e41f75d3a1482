import { clientOf } from '@referrer/net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Memory limit for each client. */
const MOST_BYTES = 64 * 1024 * 1024
/** Smaller bodies and answers are not counted, because the rate limit bounds their number. */
export const LARGE = 64 * 1024

/** Limits the memory that each client holds: a body while it arrives, an answer until it is read. Beyond the limit large ones get 429. */
export function limitHeldMemory(app: FastifyInstance): void {
  const held = new Map<string, number>()

  /** Counts bytes until the request ends; returns false when they exceed the limit. A single large body or answer always passes. */
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
    if (hold(request, reply, bodyBytesOf(request))) return done()
    refused(reply).send(REFUSAL)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    const size = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : 0
    if (hold(request, reply, size)) return done(null, payload)
    refused(reply)
    done(null, REFUSAL)
  })
}

/** How many bytes the body of a request has, or may have where it does not say. */
export function bodyBytesOf({ headers, routeOptions: { bodyLimit = 0 } }: FastifyRequest): number {
  const { 'content-length': length = 0, 'transfer-encoding': encoding } = headers
  return Math.min(encoding ? bodyLimit : Number(length), bodyLimit)
}

const REFUSAL = JSON.stringify({ error: 'rate limited' })
const refused = (reply: FastifyReply) =>
  reply.code(429).header('retry-after', 1).type('application/json; charset=utf-8')
