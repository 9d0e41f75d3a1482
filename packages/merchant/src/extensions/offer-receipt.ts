// The `offer-receipt` extension of x402: the shop signs what it offers, and that it has served what was paid.
import type { X402 } from '@referrer/protocol'
import { base64url, CompactSign, importJWK } from 'jose'
import { type Hex, isHex, type LocalAccount } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { refuse } from '../refuse.ts'
import { within } from '../within.ts'
import { didKeyOf, publicPart, type ReceiptKey } from './did.ts'

/**
 * Signs in place of a key that the process holds, such as a key management service. The official `JWSSigner` is one.
 *
 * @example
 * ```ts
 * import type { JwsSigner } from '@referrer/merchant'
 *
 * declare const kms: { sign(bytes: Uint8Array): Promise<Uint8Array> }
 * export const signer: JwsSigner = {
 *   kid: 'did:web:shop.example#key-1',
 *   algorithm: 'ES256',
 *   sign: async (bytes) => Buffer.from(await kms.sign(bytes)).toString('base64url'),
 * }
 * ```
 */
export interface JwsSigner {
  /** A DID URL by which verifiers find the public key. */
  kid: string
  algorithm: string
  /** The signature as base64url. */
  sign(bytes: Uint8Array): Promise<string>
}

/**
 * Signed offers and receipts: EIP-712 by an Ethereum key, or JWS by a key that has a DID.
 *
 * @example
 * ```ts
 * import type { ReceiptKey, ReceiptsConfig } from '@referrer/merchant'
 *
 * declare const key: ReceiptKey
 * export const bySigningKey: ReceiptsConfig = { format: 'eip712' }
 * export const byDid: ReceiptsConfig = { format: 'jws', signer: key, kid: 'did:web:shop.example#key-1' }
 * ```
 */
export type ReceiptsConfig = {
  /** Whether a receipt names its transaction: true, because that is what machines verify. Without it nobody sees which payment it was. */
  includeTransaction?: boolean
  /** How long a signed offer holds, in seconds: 300. With 0 offers are not signed. */
  offerSeconds?: number
  /** How long the signer may take. Then offer or answer are sent without its signature. */
  timeoutMs?: number
} & (
  | {
      format: 'eip712'
      /** Left out: `signingKey`, where that is a private key. The chain says that it may act for the merchant. */
      signer?: Hex | Pick<LocalAccount, 'signTypedData'>
    }
  | {
      format: 'jws'
      signer: ReceiptKey | JwsSigner
      /** The name of a `ReceiptKey`: its did:key, or a did:web whose document `receiptDidDocument` makes. */
      kid?: string
    }
)

/** What is offered, to be signed. */
export interface Terms {
  resourceUrl: string
  requirements: X402.PaymentRequirements.PaymentRequirements
}

export interface Delivery {
  resourceUrl: string
  network: string
  payer: string
  transaction: string
}

export interface Issuer {
  /** The extension of a 402; undefined where offers are not signed, or too many were. Throws what the signer throws. */
  offer(terms: Terms, nowMs: number): Promise<object | undefined>
  /** The extension of the answer. Throws what the signer throws. */
  receipt(delivery: Delivery, nowMs: number): Promise<object>
}

type Payload = Record<string, string | number>
type Signed = { format: 'eip712'; payload: Payload; signature: string } | { format: 'jws'; signature: string }
type Artifact = 'offer' | 'receipt'

export const OFFER_RECEIPT = 'offer-receipt'
const PAYLOAD_VERSION = 1
const OFFER_SECONDS = 300
const TIMEOUT_MS = 3_000
/** A signed offer is given again to whoever asks for the same: strangers must not make the shop sign without end. */
const MAX_OFFERS = 1_000
/** Whoever asks for another URL each time makes it sign all the same, and a key management service charges for it: beyond this, offers go out unsigned. */
const MAX_SIGNED_PER_MINUTE = 600

const text = (name: string) => ({ name, type: 'string' })
const number = (name: string) => ({ name, type: 'uint256' })
/** The standard signs for chain 1, whatever chain is paid on. */
const TYPED = {
  offer: {
    primaryType: 'Offer',
    fields: [
      number('version'),
      ...['resourceUrl', 'scheme', 'network', 'asset', 'payTo', 'amount'].map(text),
      number('validUntil'),
    ],
  },
  receipt: {
    primaryType: 'Receipt',
    fields: [
      number('version'),
      ...['network', 'resourceUrl', 'payer'].map(text),
      number('issuedAt'),
      text('transaction'),
    ],
  },
}
const SCHEMAS = {
  offer: schemaOf('offers', true, TYPED.offer.fields, 'validUntil'),
  receipt: schemaOf('receipt', false, TYPED.receipt.fields, 'transaction'),
}

export function readReceipts(config: ReceiptsConfig, signingKey?: unknown): Issuer {
  const { includeTransaction = true, offerSeconds = OFFER_SECONDS, timeoutMs = TIMEOUT_MS } = config
  if (typeof includeTransaction !== 'boolean') refuse('receipts.includeTransaction', 'true or false')
  if (!Number.isSafeInteger(offerSeconds) || offerSeconds < 0)
    refuse('receipts.offerSeconds', 'whole seconds, 0 for none')
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs <= 0) refuse('receipts.timeoutMs', 'a positive integer')
  const sign = signatureOf(config, signingKey)
  const offers = new Map<string, { until: number; signed: Promise<Signed> }>()
  let lately = { minute: 0, signed: 0 }

  function offered({ resourceUrl, requirements }: Terms, now: number): Promise<Signed> | undefined {
    const { scheme, network, asset, payTo, amount } = requirements
    const terms = { version: PAYLOAD_VERSION, resourceUrl, scheme, network, asset, payTo, amount }
    const key = JSON.stringify(terms)
    const known = offers.get(key)
    // Whoever gets it has at least half of the time to pay.
    if (known && known.until - now >= offerSeconds / 2) return known.signed
    const minute = Math.floor(now / 60)
    if (lately.minute !== minute) lately = { minute, signed: 0 }
    if (lately.signed >= MAX_SIGNED_PER_MINUTE) return undefined
    lately.signed++
    const until = now + offerSeconds
    const signed = within(timeoutMs, sign('offer', { ...terms, validUntil: until }))
    offers.delete(key)
    offers.set(key, { until, signed })
    signed.catch(() => offers.get(key)?.signed === signed && offers.delete(key))
    const oldest = offers.size > MAX_OFFERS ? offers.keys().next() : undefined
    if (oldest?.value !== undefined) offers.delete(oldest.value)
    return signed
  }

  return {
    async offer(terms, nowMs) {
      if (offerSeconds === 0) return undefined
      const signed = await offered(terms, Math.floor(nowMs / 1_000))
      return signed && { info: { offers: [{ ...signed, acceptIndex: 0 }] }, schema: SCHEMAS.offer }
    },
    async receipt({ network, resourceUrl, payer, transaction }, nowMs) {
      const issuedAt = Math.floor(nowMs / 1_000)
      const payload = { version: PAYLOAD_VERSION, network, resourceUrl, payer, issuedAt }
      // EIP-712 has no optional fields: the standard writes an empty one.
      const shown = includeTransaction
        ? { transaction }
        : config.format === 'eip712'
          ? { transaction: '' }
          : {}
      const receipt = await within(timeoutMs, sign('receipt', { ...payload, ...shown }))
      return { info: { receipt }, schema: SCHEMAS.receipt }
    },
  }
}

function signatureOf(
  config: ReceiptsConfig,
  signingKey: unknown,
): (artifact: Artifact, payload: Payload) => Promise<Signed> {
  if (config.format === 'eip712') {
    const account = accountOf(config.signer ?? signingKey)
    return async (artifact, payload) => {
      const { primaryType, fields } = TYPED[artifact]
      const signature = await account.signTypedData({
        domain: { name: `x402 ${artifact}`, version: '1', chainId: 1 },
        types: { [primaryType]: fields },
        primaryType,
        message: payload,
      })
      return { format: 'eip712', payload, signature }
    }
  }
  if (config.format !== 'jws') return refuse('receipts.format', "'eip712' or 'jws'")
  const sign = compactOf(config)
  return async (_, payload) => ({ format: 'jws', signature: await sign(canonical(payload)) })
}

function accountOf(signer: unknown): Pick<LocalAccount, 'signTypedData'> {
  if (typeof signer === 'object' && signer !== null && 'signTypedData' in signer) {
    return signer as Pick<LocalAccount, 'signTypedData'>
  }
  if (!isHex(signer) || signer.length !== 66) {
    return refuse(
      'receipts.signer',
      'a 0x-prefixed 32-byte private key or an account, unless signingKey is one',
    )
  }
  return privateKeyToAccount(signer)
}

/** Makes the compact serialisation of the bytes. */
function compactOf({ signer, kid }: Extract<ReceiptsConfig, { format: 'jws' }>) {
  if (typeof signer !== 'object' || signer === null)
    return refuse('receipts.signer', 'a private JWK or a signer')
  if ('sign' in signer) {
    if (kid !== undefined && kid !== signer.kid) refuse('receipts.kid', 'that of the signer, or left out')
    const header = { alg: signer.algorithm, kid: didUrl(signer.kid) }
    if (typeof header.alg !== 'string' || header.alg === '') refuse('receipts.signer.algorithm', 'one of JWS')
    return async (bytes: Uint8Array) => {
      const input = `${base64url.encode(JSON.stringify(header))}.${base64url.encode(bytes)}`
      return `${input}.${await signer.sign(new TextEncoder().encode(input))}`
    }
  }
  const { jwk, algorithm } = publicPart(signer)
  const header = { alg: algorithm, kid: kid === undefined ? didKeyOf(jwk) : didUrl(kid) }
  let key: ReturnType<typeof importJWK> | undefined
  return async (bytes: Uint8Array) => {
    key ??= importJWK({ ...jwk, d: signer.d ?? '' }, algorithm)
    return new CompactSign(bytes).setProtectedHeader(header).sign(await key)
  }
}

function didUrl(kid: unknown): string {
  const isGood =
    typeof kid === 'string' && kid.length <= 500 && /^did:[a-z0-9]+:[^#\s]+#[\x21-\x7e]+$/.test(kid)
  return isGood ? kid : refuse('receipts.kid', 'a DID URL such as did:web:shop.example#key-1')
}

/** RFC 8785; the payloads are flat. */
const canonical = (payload: Payload) =>
  new TextEncoder().encode(JSON.stringify(payload, Object.keys(payload).sort()))

function schemaOf(
  name: string,
  isList: boolean,
  fields: readonly { name: string; type: string }[],
  optional: string,
) {
  const properties = Object.fromEntries(
    fields.map((field) => [field.name, { type: field.type === 'string' ? 'string' : 'integer' }]),
  )
  const required = fields.map((field) => field.name).filter((one) => one !== optional)
  const signed = {
    type: 'object',
    properties: {
      format: { type: 'string' },
      ...(isList && { acceptIndex: { type: 'integer' } }),
      payload: { type: 'object', properties, required },
      signature: { type: 'string' },
    },
    required: ['format', 'signature'],
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { [name]: isList ? { type: 'array', items: signed } : signed },
    required: [name],
  }
}
