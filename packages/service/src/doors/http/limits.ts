import { clientOf, type Limiter } from '@referrer/net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../kit/context.ts'

/** Answers 429 and returns false when the client is over the rate limit. */
export function limit(
  limiter: Limiter,
  { clock }: Pick<Context, 'clock'>,
  request: FastifyRequest,
  reply: FastifyReply,
): boolean {
  const seconds = limiter(clientOf(request.ip), clock())
  if (seconds === 0) return true
  reply.code(429).header('retry-after', Math.ceil(seconds)).send({ error: 'rate limited' })
  return false
}
