// Bodies of refusals with another status than 200: the request is malformed or not allowed, or the facilitator has a fault.
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

/** A code for each status, for programs. */
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

/** `error` is what the service answers with too; `errorReason` and `errorMessage` are what x402 merchants read. */
export function bodyOf({ status, error, detail }: Told): z.output<typeof Refusal> {
  const errorReason = REASONS.get(status) ?? 'internal_error'
  return { error, ...(detail && { detail }), errorReason, errorMessage: messageOf({ error, detail }) }
}

/** On payment routes it has the fields of a refused payment too: official clients read only these. */
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

/** As the refusal of a payment. */
function refusalOf({ status, error, detail }: Told): Refused {
  const message = messageOf({ error, detail })
  if (status === 400 || status === 413) return new Refused('invalid_payment', message)
  // An internal error may have happened after the payment was sent.
  return new Refused('settle_failed', message, status === 500 ? { pending: true } : { retryable: true })
}

const messageOf = ({ error, detail }: Omit<Told, 'status'>) => (detail ? `${error}: ${detail}` : error)

/** Empty where the body is no JSON, or was not read. */
function sent(request: FastifyRequest): object {
  try {
    return jsonOf(request)
  } catch {
    return {}
  }
}
