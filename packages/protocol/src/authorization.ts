import {
  type Address,
  domainSeparator,
  type Hash,
  type Hex,
  hexToBytes,
  keccak256,
  stringToBytes,
} from 'viem'
import { reader, type Uint256Input } from './read.ts'
import * as Recovery from './recovery/index.ts'

/**
 * The two EIP-3009 messages. Anybody may redeem a `TransferWithAuthorization`; only the payee may redeem a
 * `ReceiveWithAuthorization`, which is why it is preferred.
 */
export type AuthorizationType = 'TransferWithAuthorization' | 'ReceiveWithAuthorization'

export type Authorization = {
  from: Address
  to: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}

export type AuthorizationInput = {
  from: Address
  to: Address
  value: Uint256Input
  validAfter: Uint256Input
  validBefore: Uint256Input
  nonce: Hex
}

/** The payment token's own EIP-712 domain; `verifyingContract` is the token. */
export type TokenDomain = { name: string; version: string; chainId: number; verifyingContract: Address }

const FIELDS = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const
const TYPES = { TransferWithAuthorization: FIELDS, ReceiveWithAuthorization: FIELDS } as const

const read = reader('invalid_authorization')

/**
 * @example
 * ```ts
 * import { Authorization } from '@referrer/protocol'
 *
 * const type: unknown = 'ReceiveWithAuthorization'
 * Authorization.isAuthorizationType(type) // → true
 * ```
 */
export function isAuthorizationType(value: unknown): value is AuthorizationType {
  return typeof value === 'string' && Object.hasOwn(TYPES, value)
}

/**
 * Typed data for `signTypedData` of a viem account.
 *
 * @example
 * ```ts
 * import { Authorization } from '@referrer/protocol'
 * import { privateKeyToAccount } from 'viem/accounts'
 *
 * declare const token: Authorization.TokenDomain
 * declare const payment: Authorization.AuthorizationInput
 * const wallet = privateKeyToAccount(`0x${'11'.repeat(32)}`)
 * export const signature = await wallet.signTypedData(
 *   Authorization.typedData('ReceiveWithAuthorization', token, payment),
 * )
 * ```
 */
export function typedData<T extends AuthorizationType>(
  primaryType: T,
  domain: TokenDomain,
  authorization: AuthorizationInput,
) {
  return {
    types: { [primaryType]: TYPES[primaryType] } as Record<T, typeof FIELDS>,
    primaryType,
    domain: domainOf(domain),
    message: from(authorization),
  }
}

/**
 * @example
 * ```ts
 * import { Authorization } from '@referrer/protocol'
 *
 * const input: Authorization.AuthorizationInput = {
 *   from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *   to: '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512',
 *   value: 100_000n,
 *   validAfter: 0,
 *   validBefore: 1_750_000_060,
 *   nonce: `0x${'11'.repeat(32)}`,
 * }
 * const authorization: Authorization.Authorization = Authorization.from(input)
 * authorization.validBefore // → 1750000060n
 * ```
 */
export function from(input: AuthorizationInput): Authorization {
  return {
    from: read.address(input.from, 'from'),
    to: read.address(input.to, 'to'),
    value: read.uint256(input.value, 'value'),
    validAfter: read.uint256(input.validAfter, 'validAfter'),
    validBefore: read.uint256(input.validBefore, 'validBefore'),
    nonce: read.bytes32(input.nonce, 'nonce'),
  }
}

/**
 * @example
 * ```ts
 * import { Authorization } from '@referrer/protocol'
 *
 * declare const token: Authorization.TokenDomain
 * declare const payment: Authorization.AuthorizationInput
 * const type: Authorization.AuthorizationType = 'ReceiveWithAuthorization'
 * export const digest = Authorization.digest(type, token, payment)
 * ```
 */
export function digest(
  primaryType: AuthorizationType,
  domain: TokenDomain,
  authorization: AuthorizationInput,
): Hash {
  const { from: payer, to, value, validAfter, validBefore, nonce } = from(authorization)
  const fields = [typeHash(primaryType), payer, to, value, validAfter, validBefore, nonce].map(word)
  return keccak256(`0x1901${separator(domain)}${keccak256(`0x${fields.join('')}`).slice(2)}`)
}

/** EIP-712 is encoded by hand, because a payment waits for its digest: type hashes and domain separators are cached. */
const word = (value: Hex | bigint) =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2).toLowerCase()).padStart(64, '0')

const typeHashes = new Map<AuthorizationType, Hash>()

function typeHash(primaryType: AuthorizationType): Hash {
  let hash = typeHashes.get(primaryType)
  if (!hash) {
    const fields = FIELDS.map(({ name, type }) => `${type} ${name}`).join(',')
    hash = keccak256(stringToBytes(`${primaryType}(${fields})`))
    typeHashes.set(primaryType, hash)
  }
  return hash
}

const MOST_SEPARATORS = 100
const separators = new Map<string, string>()

/** Without 0x. */
function separator(domain: TokenDomain): string {
  const { name, version, chainId, verifyingContract } = domainOf(domain)
  const key = JSON.stringify([name, version, chainId, verifyingContract])
  let known = separators.get(key)
  if (!known) {
    known = domainSeparator({ domain: { name, version, chainId, verifyingContract } }).slice(2)
    if (separators.size >= MOST_SEPARATORS) separators.clear()
    separators.set(key, known)
  }
  return known
}

const domainOf = (domain: TokenDomain): TokenDomain => ({
  name: read.text(domain.name, 'domain name'),
  version: read.text(domain.version, 'domain version'),
  chainId: read.integer(domain.chainId, 'chainId', 1),
  verifyingContract: read.address(domain.verifyingContract, 'token address'),
})

/**
 * Who signed, as a plain wallet. For a contract wallet ask the contract (ERC-1271) about `digest`.
 *
 * @example
 * ```ts
 * import { Authorization } from '@referrer/protocol'
 *
 * declare const token: Authorization.TokenDomain
 * declare const payment: Authorization.AuthorizationInput
 * declare const signature: string
 * const signer = await Authorization.recover('ReceiveWithAuthorization', token, payment, signature)
 * export const isPayer = signer === payment.from
 * ```
 */
export async function recover(
  primaryType: AuthorizationType,
  domain: TokenDomain,
  authorization: AuthorizationInput,
  signature: unknown,
): Promise<Address> {
  const recovery = await Recovery.load()
  return recovery.recoverAddress(hexToBytes(digest(primaryType, domain, authorization)), signature)
}
