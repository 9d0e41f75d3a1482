import { valuesIn } from '@referrer/process'
import type { FastifyRequest } from 'fastify'
import { badRequest } from './refusal.ts'

const EMPTY = Buffer.alloc(0)
/** More fields and list entries are not parsed: a payment has some fifty, with all the extensions that there are. */
const MOST_VALUES = 1_000
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The exact bytes. */
export const bytesOf = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : EMPTY)

/** The JSON object that was sent, under any content type. */
export function jsonOf(request: FastifyRequest): object {
  if (valuesIn(bytesOf(request)) > MOST_VALUES)
    throw badRequest(`the body has more than ${MOST_VALUES} values`)
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytesOf(request)))
  } catch {
    throw badRequest('the body is not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw badRequest('the body is not a JSON object')
  }
  return value
}
