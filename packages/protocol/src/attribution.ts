import {
  bytesToHex,
  encodeAbiParameters,
  type Hash,
  type Hex,
  hashStruct,
  keccak256,
  maxUint256,
  parseAbiParameters,
  stringToBytes,
} from 'viem'
import { type Payload, tokenHash } from './attribution-token.ts'
import { reader, type Uint256Input } from './read.ts'

/** Who gets what share of a purchase, as the split router takes it. */
export type Attribution = {
  merchantId: bigint
  productId: Hex
  reviewId: bigint
  reviewerAgentId: bigint
  buyerAgentId: bigint
  cashbackOfCommissionBps: number
  commissionMultiplierBps: number
  salt: Hex
}

/** The buyer id of a purchase by a wallet without an agent. It is the largest uint256, because agent 0 is a real agent. */
export const AGENTLESS_BUYER_ID = maxUint256

/**
 * @example
 * ```ts
 * import { Attribution } from '@referrer/protocol'
 *
 * Attribution.TYPES.Attribution.map(({ name }) => name).slice(0, 2) // → ['merchantId', 'productId']
 * ```
 */
export const TYPES = {
  Attribution: [
    { name: 'merchantId', type: 'uint256' },
    { name: 'productId', type: 'bytes32' },
    { name: 'reviewId', type: 'uint256' },
    { name: 'reviewerAgentId', type: 'uint256' },
    { name: 'buyerAgentId', type: 'uint256' },
    { name: 'cashbackOfCommissionBps', type: 'uint16' },
    { name: 'commissionMultiplierBps', type: 'uint16' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const

const SALT = parseAbiParameters('bytes32 tokenHash, bytes32 secret')
const read = reader('invalid_attribution')

/**
 * The purchase that a verified token and a buyer describe; without a buyer agent it is agent-less.
 *
 * @example
 * ```ts
 * import { Attribution } from '@referrer/protocol'
 *
 * const attribution: Attribution.Attribution = Attribution.from(
 *   {
 *     merchantId: 5,
 *     productId: `0x${'a1'.repeat(32)}`,
 *     reviewId: 3,
 *     reviewerAgentId: 7,
 *     cashbackOfCommissionBps: 2500,
 *     commissionMultiplierBps: 7000,
 *   },
 *   { salt: Attribution.randomSecret() },
 * )
 * attribution.buyerAgentId === Attribution.AGENTLESS_BUYER_ID // → true
 * ```
 */
export function from(
  token: Pick<
    Payload,
    | 'merchantId'
    | 'productId'
    | 'reviewId'
    | 'reviewerAgentId'
    | 'cashbackOfCommissionBps'
    | 'commissionMultiplierBps'
  >,
  { buyerAgentId, salt }: { buyerAgentId?: Uint256Input | undefined; salt: Hex },
): Attribution {
  return {
    merchantId: read.uint256(token.merchantId, 'merchantId'),
    productId: read.bytes32(token.productId, 'productId'),
    reviewId: read.uint256(token.reviewId, 'reviewId'),
    reviewerAgentId: read.uint256(token.reviewerAgentId, 'reviewerAgentId'),
    buyerAgentId:
      buyerAgentId === undefined ? AGENTLESS_BUYER_ID : read.uint256(buyerAgentId, 'buyerAgentId'),
    cashbackOfCommissionBps: read.integer(
      token.cashbackOfCommissionBps,
      'cashbackOfCommissionBps',
      0,
      0xffff,
    ),
    commissionMultiplierBps: read.integer(
      token.commissionMultiplierBps,
      'commissionMultiplierBps',
      0,
      0xffff,
    ),
    salt: read.bytes32(salt, 'salt'),
  }
}

/**
 * The nonce of the payment authorisation. Being the hash of the attribution, it lets the buyer's one signature
 * settle this purchase on these terms and no other.
 *
 * @example
 * ```ts
 * import { Attribution, type AttributionToken } from '@referrer/protocol'
 *
 * declare const terms: AttributionToken.Payload
 * const attribution = Attribution.from(terms, { buyerAgentId: 7, salt: Attribution.randomSecret() })
 * export const nonce = Attribution.attributionNonce(attribution)
 * ```
 */
export function attributionNonce(attribution: Attribution): Hash {
  return hashStruct({ data: attribution, types: TYPES, primaryType: 'Attribution' })
}

/**
 * Binds the nonce to the token text; the secret keeps it unguessable until the purchase is sent.
 *
 * @example
 * ```ts
 * import { Attribution } from '@referrer/protocol'
 *
 * const secret = Attribution.idempotencySecret('order-17')
 * Attribution.attributionSalt('token-of-the-link', secret).length // → 66
 * ```
 */
export function attributionSalt(token: string, secret: Hex): Hash {
  return keccak256(encodeAbiParameters(SALT, [tokenHash(token), read.bytes32(secret, 'secret')]))
}

/**
 * @example
 * ```ts
 * import { Attribution } from '@referrer/protocol'
 *
 * Attribution.randomSecret() === Attribution.randomSecret() // → false
 * ```
 */
export function randomSecret(): Hex {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(32)))
}

/**
 * The same key gives the same nonce, so a retried purchase cannot pay twice.
 *
 * @example
 * ```ts
 * import { Attribution } from '@referrer/protocol'
 *
 * Attribution.idempotencySecret('order-17') === Attribution.idempotencySecret('order-17') // → true
 * ```
 */
export function idempotencySecret(idempotencyKey: string): Hash {
  return keccak256(stringToBytes(read.text(idempotencyKey, 'idempotency key')))
}
