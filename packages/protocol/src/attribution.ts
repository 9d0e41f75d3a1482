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

/** The buyer id of a purchase by a plain wallet. Agent 0 is a real agent, so the sentinel is the other end. */
export const AGENTLESS_BUYER_ID = maxUint256

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

/** The purchase that a verified token and a buyer describe; without a buyer agent it is agent-less. */
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
 */
export function attributionNonce(attribution: Attribution): Hash {
  return hashStruct({ data: attribution, types: TYPES, primaryType: 'Attribution' })
}

/** Binds the nonce to the token text; the secret keeps it unguessable until the purchase is sent. */
export function attributionSalt(token: string, secret: Hex): Hash {
  return keccak256(encodeAbiParameters(SALT, [tokenHash(token), read.bytes32(secret, 'secret')]))
}

export function randomSecret(): Hex {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(32)))
}

/** The same key gives the same nonce, so a retried purchase cannot pay twice. */
export function idempotencySecret(idempotencyKey: string): Hash {
  return keccak256(stringToBytes(read.text(idempotencyKey, 'idempotency key')))
}
