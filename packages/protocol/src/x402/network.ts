import { ProtocolError } from '../error.ts'

/** A CAIP-2 chain name. Only EVM chains are paid on here. */
export type Network = `eip155:${number}`

const NETWORK = /^eip155:([1-9][0-9]{0,15})$/

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const network: X402.Network.Network = X402.Network.from(8453)
 * network // → 'eip155:8453'
 * ```
 */
export function from(chainId: number): Network {
  const network = `eip155:${chainId}` as const
  parse(network)
  return network
}

/**
 * The chain id that a network names.
 *
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * X402.Network.parse('eip155:8453') // → 8453
 * ```
 */
export function parse(value: unknown): number {
  const chainId = typeof value === 'string' ? Number(NETWORK.exec(value)?.[1]) : Number.NaN
  if (!Number.isSafeInteger(chainId)) {
    throw new ProtocolError('invalid_network', 'network must be eip155:<chain id>')
  }
  return chainId
}
