import type { Address, Hex } from 'viem'
import { type AuthorizationType, isAuthorizationType } from '../authorization.ts'
import * as ProductId from '../product-id.ts'
import { reader } from '../read.ts'
import * as Network from './network.ts'

/** One offer: `accepts[0]` of a 402 and `paymentRequirements` of a settlement are the same object. */
export type PaymentRequirements = {
  scheme: 'exact'
  network: Network.Network
  asset: Address
  /** Base units, decimal. */
  amount: string
  /** The split router, never the merchant's wallet. */
  payTo: Address
  maxTimeoutSeconds: number
  extra: Extra
}

/** What a buyer says that it accepted. These fields must agree with what the seller asks for; the others are optional. */
export type AcceptedRequirements = Pick<
  PaymentRequirements,
  'scheme' | 'network' | 'asset' | 'amount' | 'payTo'
> & { extra?: Record<string, unknown>; [key: string]: unknown }

/** `name` and `version` are the token's EIP-712 domain. Keys of other tooling stay as they are. */
export type Extra = {
  name: string
  version: string
  /** The kind of authorisation that the seller prefers; stock clients ignore it. */
  authorizationType?: AuthorizationType
  /** The product sold, where it is not the product of the link. */
  productId?: Hex
  [key: string]: unknown
}

const read = reader('invalid_payment')

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const offer = {
 *   scheme: 'exact',
 *   network: 'eip155:84532',
 *   asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
 *   amount: '100000',
 *   payTo: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
 *   maxTimeoutSeconds: 60,
 *   extra: { name: 'USDC', version: '2' },
 * }
 * const requirements: X402.PaymentRequirements.PaymentRequirements = X402.PaymentRequirements.parse(offer)
 * const extra: X402.PaymentRequirements.Extra = requirements.extra
 * extra.name // → 'USDC'
 * ```
 */
export function parse(value: unknown): PaymentRequirements {
  const given = read.record(value, 'payment requirements')
  return {
    ...parseTerms(given),
    maxTimeoutSeconds: read.integer(given.maxTimeoutSeconds, 'maxTimeoutSeconds', 1),
    extra: parseExtra(given.extra),
  }
}

/**
 * @example
 * ```ts
 * import { X402 } from '@referrer/protocol'
 *
 * const offer = {
 *   scheme: 'exact',
 *   network: 'eip155:84532',
 *   asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
 *   amount: '100000',
 *   payTo: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
 * }
 * const accepted: X402.PaymentRequirements.AcceptedRequirements = X402.PaymentRequirements.parseAccepted(offer)
 * accepted.amount // → '100000'
 * ```
 */
export function parseAccepted(value: unknown): AcceptedRequirements {
  const { extra, ...given } = read.record(value, 'accepted')
  return {
    ...given,
    ...parseTerms(given),
    ...(extra === undefined ? {} : { extra: read.record(extra, 'accepted.extra') }),
  }
}

function parseTerms(given: Record<string, unknown>) {
  if (given.scheme !== 'exact') read.refuse('scheme', '"exact"')
  const amount = read.decimal(given.amount, 'amount')
  read.integer(Number(amount), 'amount')
  return {
    scheme: 'exact' as const,
    network: Network.from(Network.parse(given.network)),
    asset: read.address(given.asset, 'asset'),
    amount,
    payTo: read.address(given.payTo, 'payTo'),
  }
}

function parseExtra(value: unknown): Extra {
  const { authorizationType, productId, ...rest } = read.record(value, 'extra')
  const extra: Extra = {
    ...rest,
    name: read.text(rest.name, 'extra.name'),
    version: read.text(rest.version, 'extra.version'),
  }
  if (authorizationType !== undefined) {
    if (!isAuthorizationType(authorizationType)) {
      return read.refuse('extra.authorizationType', 'TransferWithAuthorization or ReceiveWithAuthorization')
    }
    extra.authorizationType = authorizationType
  }
  if (productId !== undefined) extra.productId = ProductId.parse(productId)
  return extra
}
