import { type Address, type Hex, hashTypedData, hexToBytes, zeroAddress } from 'viem'
import { ProtocolError } from './error.ts'
import * as Nonce from './nonce.ts'
import { reader, type Uint256Input } from './read.ts'
import * as Recovery from './recovery/index.ts'

/**
 * Everything that differs between the commitments. `fields` is in signing order; `contract` is the verifying
 * contract; `nonce` is the form that step 1 shows beside the commitment and step 2 takes back.
 *
 * @example
 * ```ts
 * import { Commitment } from '@referrer/protocol'
 *
 * const types = Object.keys(Commitment.COMMITMENTS) as Commitment.PrimaryType[]
 * types.length // → 8
 * ```
 */
export const COMMITMENTS = {
  VoteCommitment: {
    domainName: 'ReferrerVotes',
    contract: 'reviewRegistry',
    nonce: 'decimal',
    fields: {
      agentId: 'uint256',
      escrowId: 'uint256',
      votesHash: 'bytes32',
      nonce: 'bytes32',
      expiry: 'uint256',
    },
  },
  CashbackRateCommitment: {
    domainName: 'ReferrerCashbackRate',
    contract: 'reviewRegistry',
    nonce: 'bytes32',
    fields: { agentId: 'uint256', cashbackOfCommissionBps: 'uint16', nonce: 'bytes32', expiry: 'uint256' },
  },
  ReviewCommitment: {
    domainName: 'ReferrerReviews',
    contract: 'reviewRegistry',
    nonce: 'decimal',
    fields: {
      agentId: 'uint256',
      merchantId: 'uint256',
      productId: 'bytes32',
      contentHash: 'bytes32',
      nonce: 'uint256',
      expiry: 'uint256',
    },
  },
  TelegramLinkCommitment: {
    domainName: 'ReferrerMessengerLink',
    contract: 'reviewRegistry',
    nonce: 'bytes32',
    fields: { agentId: 'uint256', nonce: 'bytes32', expiry: 'uint256' },
  },
  IntentAccessCommitment: {
    domainName: 'ReferrerIntents',
    contract: 'reviewRegistry',
    nonce: 'bytes32',
    fields: { agentId: 'uint256', nonce: 'bytes32', expiry: 'uint256' },
  },
  IntentMarkCommitment: {
    domainName: 'ReferrerIntents',
    contract: 'reviewRegistry',
    nonce: 'bytes32',
    fields: { agentId: 'uint256', intentId: 'string', result: 'string', nonce: 'bytes32', expiry: 'uint256' },
  },
  IntentSkipCommitment: {
    domainName: 'ReferrerIntents',
    contract: 'reviewRegistry',
    nonce: 'bytes32',
    fields: { agentId: 'uint256', intentId: 'string', reason: 'string', nonce: 'bytes32', expiry: 'uint256' },
  },
  ChargeCommitment: {
    domainName: 'ReferrerCharge',
    contract: 'splitRouter',
    nonce: null,
    fields: { txHash: 'bytes32', tokenHash: 'bytes32', buyerAgentId: 'uint256', payer: 'address' },
  },
} as const satisfies Record<string, Definition>

export const DOMAIN_VERSION = '1'
export const LIFETIME_SECONDS = 3600

type FieldType = 'uint256' | 'uint16' | 'bytes32' | 'string' | 'address'
type Definition = {
  domainName: string
  contract: 'reviewRegistry' | 'splitRouter'
  nonce: Nonce.NonceForm | null
  fields: Record<string, FieldType>
}

export type PrimaryType = keyof typeof COMMITMENTS
/** The commitments of the two-step calls: all but the charge, which has neither nonce nor expiry. */
export type TwoStepType = Exclude<PrimaryType, 'ChargeCommitment'>

type Fields<K extends PrimaryType> = (typeof COMMITMENTS)[K]['fields']
type Json = { uint256: string; uint16: number; bytes32: Hex; string: string; address: Address }
type Input = { uint256: Uint256Input; uint16: number; bytes32: Hex; string: string; address: Address }

/**
 * As it travels in JSON: ids are decimal strings, `expiry` is a number.
 *
 * @example
 * ```ts
 * import type { Commitment } from '@referrer/protocol'
 *
 * export const message: Commitment.Message<'IntentAccessCommitment'> = {
 *   agentId: '7',
 *   nonce: `0x${'11'.repeat(32)}`,
 *   expiry: 1_750_003_600,
 * }
 * ```
 */
export type Message<K extends PrimaryType> = {
  -readonly [F in keyof Fields<K>]: F extends 'expiry' ? number : Json[Fields<K>[F] & FieldType]
}
/**
 * As callers give it: ids in any integer form, `nonce` always as 32-byte hex.
 *
 * @example
 * ```ts
 * import { type Commitment, Nonce } from '@referrer/protocol'
 *
 * export const message: Commitment.MessageInput<'IntentAccessCommitment'> = {
 *   agentId: 7n,
 *   nonce: Nonce.random(),
 *   expiry: 1_750_003_600,
 * }
 * ```
 */
export type MessageInput<K extends PrimaryType> = {
  -readonly [F in keyof Fields<K>]: F extends 'expiry'
    ? number
    : F extends 'nonce'
      ? Nonce.Nonce
      : Input[Fields<K>[F] & FieldType]
}

export type Domain = { name: string; version: string; chainId: number; verifyingContract: Address }

/** Typed data exactly as step 1 returns it, and as viem and EIP-1193 wallets sign it; for ethers see `forEthers`. */
export type Commitment<K extends PrimaryType = PrimaryType> = K extends PrimaryType
  ? {
      types: Record<string, { name: string; type: string }[]>
      primaryType: K
      domain: Domain
      message: Message<K>
    }
  : never

const EIP712_DOMAIN = { name: 'string', version: 'string', chainId: 'uint256', verifyingContract: 'address' }
const read = reader('invalid_commitment')

/**
 * @example
 * ```ts
 * import { Commitment, Nonce } from '@referrer/protocol'
 *
 * const commitment = Commitment.from('CashbackRateCommitment', {
 *   chainId: 84532,
 *   reviewRegistry: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
 *   message: { agentId: 7, cashbackOfCommissionBps: 2500, nonce: Nonce.random(), expiry: 1_750_003_600 },
 * })
 * commitment.message.agentId // → '7'
 * commitment.domain // → { name: 'ReferrerCashbackRate', version: Commitment.DOMAIN_VERSION, chainId: 84532, verifyingContract: '0x5FbDB2315678afecb367f032d93F642f64180aa3' }
 * ```
 */
export function from<K extends PrimaryType>(
  primaryType: K,
  input: { chainId: number; message: MessageInput<K> } & {
    [C in (typeof COMMITMENTS)[K]['contract']]: Address
  },
): Commitment<K> {
  const contract = (input as Record<string, unknown>)[COMMITMENTS[primaryType].contract]
  return build(primaryType, input.chainId, contract, input.message)
}

/**
 * Accepts exactly what `from` builds, and nothing that a wallet could read differently.
 *
 * @example
 * ```ts
 * import { Commitment } from '@referrer/protocol'
 *
 * declare const answerOfStep1: { commitment: unknown }
 * const commitment: Commitment.Commitment = Commitment.parse(answerOfStep1.commitment)
 * export const domain: Commitment.Domain = commitment.domain
 * ```
 */
export function parse(value: unknown): Commitment {
  const { primaryType, domain: givenDomain, message: givenMessage } = read.record(value, 'commitment')
  if (typeof primaryType !== 'string' || !Object.hasOwn(COMMITMENTS, primaryType)) {
    return read.refuse('primaryType', `one of ${Object.keys(COMMITMENTS).join(', ')}`)
  }
  const domain = read.record(givenDomain, 'domain')
  const message = { ...read.record(givenMessage, 'message') }
  const { fields }: Definition = COMMITMENTS[primaryType as PrimaryType]
  if (fields.nonce) message.nonce = Nonce.parse(nonceFormOf(fields.nonce), message.nonce)

  const ours: Commitment = build(
    primaryType as PrimaryType,
    domain.chainId,
    domain.verifyingContract,
    message,
  )
  if (!isSame(ours, value)) read.refuse(primaryType, 'unchanged, as step 1 returned it')
  return ours
}

/**
 * The arguments of `signTypedData` of ethers 6, which makes the domain's type itself and refuses to find it in `types`.
 *
 * @example
 * ```ts
 * import { Commitment } from '@referrer/protocol'
 *
 * declare const commitment: Commitment.Commitment<'CashbackRateCommitment'>
 * declare const wallet: { signTypedData(domain: object, types: object, message: object): Promise<string> }
 * const { domain, types, message } = Commitment.forEthers(commitment)
 * export const signature = await wallet.signTypedData(domain, types, message)
 * ```
 */
export function forEthers(commitment: Commitment) {
  const { EIP712Domain: _, ...types } = commitment.types
  return { domain: commitment.domain, types, message: commitment.message }
}

/**
 * @example
 * ```ts
 * import { Commitment } from '@referrer/protocol'
 *
 * declare const commitment: Commitment.Commitment<'CashbackRateCommitment'>
 * export const digest = Commitment.digest(commitment)
 * ```
 */
export function digest(commitment: Commitment): Hex {
  return hashTypedData(commitment as Parameters<typeof hashTypedData>[0])
}

/**
 * @example
 * ```ts
 * import { Commitment, Nonce } from '@referrer/protocol'
 * import { privateKeyToAccount } from 'viem/accounts'
 *
 * const commitment = Commitment.from('CashbackRateCommitment', {
 *   chainId: 84532,
 *   reviewRegistry: '0x5FbDB2315678afecb367f032d93F642f64180aa3',
 *   message: { agentId: 7, cashbackOfCommissionBps: 2500, nonce: Nonce.random(), expiry: 1_750_003_600 },
 * })
 * const owner = privateKeyToAccount(`0x${'11'.repeat(32)}`)
 * const signature = await owner.signTypedData(commitment)
 * const signer = await Commitment.recover(commitment, signature)
 * signer === owner.address // → true
 * ```
 */
export async function recover(commitment: Commitment, signature: unknown): Promise<Address> {
  const recovery = await Recovery.load()
  return recovery.recoverAddress(hexToBytes(digest(commitment)), signature)
}

/**
 * What step 1 answers beside its `status`. The nonce shown may be in another form than the nonce signed.
 *
 * @example
 * ```ts
 * import { Commitment } from '@referrer/protocol'
 *
 * declare const commitment: Commitment.Commitment<'CashbackRateCommitment'>
 * export const answerOfStep1 = { status: 'awaiting_signature', ...Commitment.envelope(commitment) }
 * ```
 */
export function envelope<C extends Commitment<TwoStepType>>(commitment: C) {
  const { nonce: shown, fields } = COMMITMENTS[commitment.primaryType]
  const nonce = Nonce.parse(nonceFormOf(fields.nonce), commitment.message.nonce)
  return { commitment, nonce: Nonce.serialize(shown, nonce), expiry: commitment.message.expiry }
}

/**
 * The nonce that step 2 sends back, in the form its commitment uses.
 *
 * @example
 * ```ts
 * import { Commitment } from '@referrer/protocol'
 *
 * const type: Commitment.TwoStepType = 'VoteCommitment'
 * Commitment.parseNonce(type, '255') // → `0x${'00'.repeat(31)}ff`
 * ```
 */
export function parseNonce(primaryType: TwoStepType, value: unknown): Nonce.Nonce {
  return Nonce.parse(COMMITMENTS[primaryType].nonce, value)
}

/**
 * @example
 * ```ts
 * import { Commitment } from '@referrer/protocol'
 *
 * Commitment.expiryAt(1_750_000_000) // → 1_750_000_000 + Commitment.LIFETIME_SECONDS
 * ```
 */
export function expiryAt(now: number): number {
  return Math.floor(now) + LIFETIME_SECONDS
}

/**
 * Nothing is stored at step 1, so step 2 also refuses an expiry that step 1 could not have given.
 *
 * @example
 * ```ts
 * import { Commitment } from '@referrer/protocol'
 *
 * const now = 1_750_000_000
 * Commitment.checkExpiry(Commitment.expiryAt(now), now)
 * ```
 */
export function checkExpiry(expiry: number, now: number): void {
  read.integer(expiry, 'expiry')
  if (expiry < now)
    throw new ProtocolError('commitment_expired', 'the commitment has expired; start again at step 1')
  if (expiry > now + LIFETIME_SECONDS) {
    throw new ProtocolError(
      'invalid_expiry',
      'expiry is more than an hour ahead; send back the one of step 1',
    )
  }
}

function build<K extends PrimaryType>(
  primaryType: K,
  chainId: unknown,
  contract: unknown,
  message: Record<string, unknown>,
): Commitment<K> {
  const { domainName, fields }: Definition = COMMITMENTS[primaryType]
  const verifyingContract = read.address(contract, 'verifyingContract')
  if (verifyingContract === zeroAddress) read.refuse('verifyingContract', 'a deployed contract')
  const commitment: object = {
    types: { EIP712Domain: parameters(EIP712_DOMAIN), [primaryType]: parameters(fields) },
    primaryType,
    domain: {
      name: domainName,
      version: DOMAIN_VERSION,
      chainId: read.integer(chainId, 'chainId', 1),
      verifyingContract,
    },
    message: Object.fromEntries(
      Object.entries(fields).map(([name, type]) => [name, toJson(name, type, message[name])]),
    ),
  }
  return commitment as Commitment<K>
}

function parameters(fields: Record<string, string>) {
  return Object.entries(fields).map(([name, type]) => ({ name, type }))
}

function toJson(name: string, type: FieldType, value: unknown): string | number {
  if (name === 'expiry') return read.integer(value, name)
  if (name === 'nonce') return Nonce.serialize(nonceFormOf(type), value as Hex)
  switch (type) {
    case 'uint256':
      return read.uint256(value, name).toString()
    case 'uint16':
      return read.integer(value, name, 0, 0xffff)
    case 'bytes32':
      return read.bytes32(value, name)
    case 'string':
      return read.text(value, name)
    case 'address':
      return read.address(value, name)
  }
}

function nonceFormOf(type: FieldType): Nonce.NonceForm {
  return type === 'uint256' ? 'decimal' : 'bytes32'
}

function isSame(ours: unknown, theirs: unknown): boolean {
  if (typeof ours !== 'object' || ours === null) return ours === theirs
  if (typeof theirs !== 'object' || theirs === null || Array.isArray(ours) !== Array.isArray(theirs))
    return false
  const entries = Object.entries(ours)
  return (
    entries.length === Object.keys(theirs).length &&
    entries.every(
      ([key, value]) => Object.hasOwn(theirs, key) && isSame(value, (theirs as Record<string, unknown>)[key]),
    )
  )
}
