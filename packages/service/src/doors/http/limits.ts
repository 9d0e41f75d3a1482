import { clientOf } from '@referrer/net'
import type { Limiter } from '@referrer/process'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Calls `pass` when the client is within the rate limit, and answers 429 when it is not. */
export function limit(
  limiter: Limiter,
  request: FastifyRequest,
  reply: FastifyReply,
  pass: () => void,
): void {
  const decide = (seconds: number) => {
    if (seconds === 0) pass()
    else reply.code(429).header('retry-after', Math.ceil(seconds)).send({ error: 'rate limited' })
  }
  const seconds = limiter(clientOf(request.ip))
  // Most answers are there at once, and a promise would cost another turn.
  if (typeof seconds === 'number') decide(seconds)
  else void seconds.then(decide)
}
