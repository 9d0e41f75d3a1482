// What a request is told that is turned away before it is about a payment, or because something is wrong inside.
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Context } from '../context.ts'
import { Refused } from '../payment/refused.ts'
import { type Subject, settleFailure, subjectOf, subjectOfCharge, verifyFailure } from './answers.ts'
import { jsonOf } from './body.ts'
import type { HttpRefusal } from './refusal.ts'
import type { Refusal, SettleRefusal, VerifyRefusal } from './shapes.ts'

type Told = Pick<HttpRefusal, 'status' | 'error'> & { detail?: string | undefined }
type Body = z.output<typeof Refusal | typeof SettleRefusal | typeof VerifyRefusal>

/** One word for each status, for programs. */
const REASONS = new Map([
  [400, 'bad_request'],
  [404, 'not_found'],
  [405, 'method_not_allowed'],
  [408, 'request_timeout'],
  [413, 'body_too_large'],
  [429, 'rate_limited'],
  [431, 'headers_too_large'],
  [503, 'unavailable'],
])

/** `error` is for whoever knows our other doors, the rest for whoever reads refusals as x402 merchants do. */
export function bodyOf({ status, error, detail }: Told): z.output<typeof Refusal> {
  const errorReason = REASONS.get(status) ?? 'internal_error'
  return { error, ...(detail && { detail }), errorReason, errorMessage: messageOf({ error, detail }) }
}

/** Whoever posts a payment finds what a refused payment is told too: official clients look for nothing else. */
export function bodyFor(context: Context, request: FastifyRequest, told: Told): Body {
  const route = request.method === 'POST' ? request.routeOptions?.url : undefined
  const { error, detail } = told
  const said = { error, ...(detail && { detail }) }
  const refused = refusalOf(told)
  const { reason: errorReason, message: errorMessage } = refused
  switch (route) {
    case '/settle':
      return { ...said, ...settleFailure(context, subjectOf(context, sent(request)), refused) }
    case '/mpp/charge':
      return { ...said, ...settleFailure(context, subjectOfCharge(context, sent(request)), refused) }
    case '/verify': {
      const subject: Subject = subjectOf(context, sent(request))
      return { ...said, errorReason, errorMessage, ...verifyFailure(subject, refused) }
    }
    default:
      return bodyOf(told)
  }
}

/** In the three words that a payment is refused with. */
function refusalOf({ status, error, detail }: Told): Refused {
  const message = messageOf({ error, detail })
  if (status === 400 || status === 413) return new Refused('invalid_payment', message)
  // What went wrong inside may have happened after something was sent.
  return new Refused('settle_failed', message, status === 500 ? { pending: true } : { retryable: true })
}

const messageOf = ({ error, detail }: Omit<Told, 'status'>) => (detail ? `${error}: ${detail}` : error)

/** Nothing where it is no JSON, or was not read. */
function sent(request: FastifyRequest): object {
  try {
    return jsonOf(request)
  } catch {
    return {}
  }
}
