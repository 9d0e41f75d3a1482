import type { Hex } from 'viem'

/**
 * - `timeout`, `transport`: no answer, or none that could be read
 * - `rate-limited`: the caller must retry later
 * - `reverted`: the EVM ran the call and refused it; `data` holds the revert data where the node gives it
 * - `refused`: the node answered with any other error
 * - `wrong-chain`: the endpoint serves another chain than it was configured for
 */
export type RpcErrorKind = 'timeout' | 'transport' | 'rate-limited' | 'reverted' | 'refused' | 'wrong-chain'

export interface RpcErrorDetails {
  code?: number | undefined
  data?: unknown
  retryAfterMs?: number | undefined
  cause?: unknown
}

export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly kind: RpcErrorKind
  readonly code: number | undefined
  readonly data: unknown
  readonly retryAfterMs: number | undefined

  constructor(kind: RpcErrorKind, message: string, details: RpcErrorDetails = {}) {
    super(message, { cause: details.cause })
    this.kind = kind
    this.code = details.code
    this.data = details.data
    this.retryAfterMs = details.retryAfterMs
  }

  /** Whether the same call can succeed later, or at another node. */
  get isRetryable(): boolean {
    return this.kind !== 'reverted'
  }
}

export interface ErrorAnswer {
  code: number
  message: string
  data?: unknown
}

/** Error codes of nodes and providers for rate limits. */
const RATE_LIMIT_CODES = new Set([429, -32005, -32029, -32097])
/** The error code of geth and its derivatives for a revert. */
const REVERTED_CODE = 3

export function fromAnswer(endpoint: string, method: string, { code, message, data }: ErrorAnswer): RpcError {
  const text = `${endpoint} answered ${method} with ${code}: ${message}`
  if (code === REVERTED_CODE || revertData(data) !== undefined)
    return new RpcError('reverted', text, { code, data: revertData(data) })
  return new RpcError(RATE_LIMIT_CODES.has(code) ? 'rate-limited' : 'refused', text, { code, data })
}

/** Some nodes return the revert data itself, some with a prefix, some wrapped in an object. */
function revertData(data: unknown): Hex | undefined {
  if (typeof data === 'string') return /^(?:Reverted )?(0x[0-9a-f]*)$/i.exec(data)?.[1] as Hex | undefined
  if (typeof data === 'object' && data !== null && 'data' in data) return revertData(data.data)
  return undefined
}
