import type { FastifyRequest } from 'fastify'
import { badRequest } from './refusal.ts'

const EMPTY = Buffer.alloc(0)
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The exact bytes. */
export const bytesOf = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : EMPTY)

/** The JSON object that was sent, under any content type. */
export function jsonOf(request: FastifyRequest): object {
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
