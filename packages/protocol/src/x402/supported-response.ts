import type { Address } from 'viem'
import { reader } from '../read.ts'
import { VERSION } from './headers.ts'
import * as Network from './network.ts'

export type SupportedKind = {
  x402Version: typeof VERSION
  scheme: 'exact'
  network: Network.Network
  extra?: Record<string, unknown>
}

export type SupportedResponse = {
  kinds: SupportedKind[]
  extensions: string[]
  /** By network pattern, like `eip155:*`. */
  signers: Record<string, Address[]>
}

const read = reader('invalid_payment')

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const kind: X402.SupportedResponse.SupportedKind = { x402Version: 2, scheme: 'exact', network: 'eip155:84532' }
 * const supported: X402.SupportedResponse.SupportedResponse = X402.SupportedResponse.parse({
 *   kinds: [kind],
 *   extensions: [],
 *   signers: {},
 * })
 * supported.kinds // → [kind]
 * ```
 */
export function parse(value: unknown): SupportedResponse {
  const { kinds, extensions, signers } = read.record(value, 'supported response')
  return {
    kinds: list(kinds, 'kinds').map(parseKind),
    extensions: list(extensions, 'extensions').map((name) => read.text(name, 'extensions')),
    signers: Object.fromEntries(
      Object.entries(read.record(signers, 'signers')).map(([pattern, addresses]) => [
        pattern,
        list(addresses, 'signers').map((address) => read.address(address, 'signers')),
      ]),
    ),
  }
}

function parseKind(value: unknown): SupportedKind {
  const { x402Version, scheme, network, extra } = read.record(value, 'kind')
  if (x402Version !== VERSION) read.refuse('kind.x402Version', String(VERSION))
  if (scheme !== 'exact') read.refuse('kind.scheme', '"exact"')
  return {
    x402Version: VERSION,
    scheme: 'exact',
    network: Network.from(Network.parse(network)),
    ...(extra === undefined ? {} : { extra: read.record(extra, 'kind.extra') }),
  }
}

function list(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) return read.refuse(what, 'an array')
  return value
}
