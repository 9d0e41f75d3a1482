import type { Hex } from 'viem'
import { type Id, parse as parseId } from '../ids.ts'
import { reader } from '../read.ts'

/** The extensions of a payment. Clients echo the whole object, so keys of other tools are kept. */
export type Extensions = {
  attributionToken: string
  /** Decimal text; a purchase without it is agent-less. */
  buyerAgentId?: string | null
  /** Of a payment whose nonce commits to the token: see `Attribution.attributionNonce`. */
  attributionSalt?: Hex | null
  setup_url?: string
  [key: string]: unknown
}

const read = reader('invalid_payment')

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const extensions: X402.Extensions.Extensions = X402.Extensions.parse({ attributionToken: 'abc', other: 1 })
 * extensions // → { attributionToken: 'abc', other: 1 }
 * ```
 */
export function parse(value: unknown): Extensions {
  const given = read.record(value, 'extensions')
  buyerAgentId(given)
  attributionSalt(given)
  if (given.setup_url !== undefined) read.text(given.setup_url, 'extensions.setup_url')
  return { ...given, attributionToken: read.text(given.attributionToken, 'extensions.attributionToken') }
}

/**
 * The buying agent, or nobody. A JSON number is refused: large ids would have been rounded on the way.
 *
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * X402.Extensions.buyerAgentId({ buyerAgentId: '7' }) // → 7
 * X402.Extensions.buyerAgentId({}) // → undefined
 * ```
 */
export function buyerAgentId(extensions: { buyerAgentId?: unknown }): Id | undefined {
  const value = extensions.buyerAgentId
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') read.refuse('extensions.buyerAgentId', 'a decimal string')
  return parseId(value, 'extensions.buyerAgentId')
}

/**
 * The salt of a nonce that commits to the token; stock clients choose a nonce by chance and send none.
 *
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * X402.Extensions.attributionSalt({ attributionSalt: null }) // → undefined
 * ```
 */
export function attributionSalt(extensions: { attributionSalt?: unknown }): Hex | undefined {
  const value = extensions.attributionSalt
  return value === undefined || value === null ? undefined : read.bytes32(value, 'extensions.attributionSalt')
}
