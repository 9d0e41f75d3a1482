import { clientOf } from '@referrer/net'
import type { Limiter } from '@referrer/process'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** So many bytes of a body cost as much as a request. */
const BYTES_OF_REQUEST = 16 * 1024

/** What the bytes of a body cost beside the request; 0 for most. */
export const costOf = ({ body }: FastifyRequest): number =>
  Buffer.isBuffer(body) ? Math.floor(body.length / BYTES_OF_REQUEST) : 0

/** Calls `pass` when the client is within the rate limit, and answers 429 when it is not. */
export function limit(
  limiter: Limiter,
  request: FastifyRequest,
  reply: FastifyReply,
  pass: () => void,
  cost = 1,
): void {
  const decide = (seconds: number) => {
    if (seconds === 0) pass()
    else reply.code(429).header('retry-after', Math.ceil(seconds)).send({ error: 'rate limited' })
  }
  const seconds = limiter(clientOf(request.ip), cost)
  // Most answers are there at once, and a promise would cost another turn.
  if (typeof seconds === 'number') decide(seconds)
  else void seconds.then(decide)
}
