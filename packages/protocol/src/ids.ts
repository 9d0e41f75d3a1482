import { ProtocolError } from './error.ts'

/** Agents, merchants, reviews and escrows: 0 is a real id, and ids travel as JSON numbers, so they stay safe integers. */
export type Id = number

const DECIMAL = /^(?:0|[1-9][0-9]{0,15})$/

/**
 * Reads an id from a JSON number, a bigint of the chain, or decimal text of a path or header.
 *
 * @example
 * ```ts
 * import { Ids } from '@referrer/protocol'
 *
 * const agentId: Ids.Id = Ids.parse('7', 'agent_id')
 * agentId // → 7
 * ```
 */
export function parse(value: unknown, what = 'id'): Id {
  const isInteger =
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    (typeof value === 'string' && DECIMAL.test(value))
  const id = isInteger ? Number(value) : Number.NaN
  if (!Number.isSafeInteger(id) || id < 0 || Object.is(id, -0)) {
    throw new ProtocolError('invalid_id', `${what} must be an integer from 0 to 2^53 - 1`)
  }
  return id
}
