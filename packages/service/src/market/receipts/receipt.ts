// The receipts of the x402 extension `offer-receipt`, version 1, as the data of a proof holds them:
// { "x402Receipt": <the signed receipt>, "transaction": "0x…" }.
import { createHash } from 'node:crypto'
import { type Address, getAddress, type Hex, isAddress } from 'viem'
import { z } from 'zod'
import { fieldsOf, jsonOf } from '../../kit/loose-json.ts'
import { Unproven } from './verdict.ts'

const VERSION = 1
const MOST_SIGNATURE = 16_384

const Payload = z.object({
  version: z.literal(VERSION),
  network: z.string().max(128),
  resourceUrl: z.string().max(2_048),
  payer: z.string().max(128),
  issuedAt: z.int().min(0),
  transaction: z.string().max(128).default(''),
})

const Header = z.object({
  alg: z.string(),
  kid: z.string().max(1_024),
  /** Extensions that a verifier has to know; we know none. */
  crit: z.never().optional(),
  b64: z.literal(true).optional(),
})

const signature = z.string().max(MOST_SIGNATURE)
const Signed = z.discriminatedUnion('format', [
  z.object({
    format: z.literal('eip712'),
    payload: Payload,
    signature: signature.regex(/^0x[0-9a-fA-F]{130}$/),
  }),
  z.object({ format: z.literal('jws'), signature: signature.regex(/^[\w-]+\.[\w-]+\.[\w-]+$/) }),
])

export type ReceiptPayload = z.output<typeof Payload>

/** How a receipt is signed. */
export type Signing =
  | { format: 'eip712'; payload: ReceiptPayload; signature: Hex }
  | { format: 'jws'; alg: string; kid: string; input: string; signature: Buffer }

export interface Receipt {
  payload: ReceiptPayload
  signing: Signing
  /** Names what the shop signed, however it is signed and encoded. */
  hash: Buffer
  payer: Address
  /** The payment: as the shop signed it, else as the submitter names it. Undefined: nobody does. */
  transaction: Hex | undefined
}

/** Whether the data of a proof has the form of a receipt. */
export const isReceipt = (proofData: object): boolean => Object.hasOwn(proofData, 'x402Receipt')

/** Reads a receipt without verifying it. Throws `Unproven` when it is none. */
export function readReceipt(proofData: unknown): Receipt {
  const { x402Receipt, transaction } = fieldsOf(proofData)
  const signed = Signed.safeParse(x402Receipt)
  if (!signed.success) {
    throw new Unproven('x402Receipt is not a receipt of the extension offer-receipt, version 1')
  }
  const signing = signingOf(signed.data)
  const { payload } = signing
  return {
    payload,
    signing: signing.signing,
    hash: hashOf(payload),
    payer: payerOf(payload),
    transaction: transactionOf(payload, transaction),
  }
}

function signingOf(signed: z.output<typeof Signed>): { payload: ReceiptPayload; signing: Signing } {
  if (signed.format === 'eip712') {
    const { payload, signature } = signed
    return { payload, signing: { format: 'eip712', payload, signature: signature as Hex } }
  }
  const [header = '', payload = '', signature = ''] = signed.signature.split('.')
  const told = Header.safeParse(decoded(header))
  if (!told.success) throw new Unproven('the JWS of the receipt has no header with alg and kid that we know')
  const said = Payload.safeParse(decoded(payload))
  if (!said.success)
    throw new Unproven('the JWS is not of a receipt of the extension offer-receipt, version 1')
  const { alg, kid } = told.data
  return {
    payload: said.data,
    signing: {
      format: 'jws',
      alg,
      kid,
      input: `${header}.${payload}`,
      signature: Buffer.from(signature, 'base64url'),
    },
  }
}

const decoded = (part: string): unknown => jsonOf(Buffer.from(part, 'base64url'))

const hashOf = ({ network, resourceUrl, payer, issuedAt, transaction }: ReceiptPayload): Buffer => {
  const said = [network, resourceUrl, payer.toLowerCase(), issuedAt, transaction.toLowerCase()]
  return createHash('sha256').update(JSON.stringify(said)).digest()
}

function payerOf({ payer }: ReceiptPayload): Address {
  if (!isAddress(payer, { strict: false })) throw new Unproven('the payer of the receipt is not an address')
  return getAddress(payer)
}

const HASH = /^0x[0-9a-f]{64}$/

function transactionOf({ transaction: signed }: ReceiptPayload, beside: unknown): Hex | undefined {
  const named = [signed || undefined, beside ?? undefined].filter((one) => one !== undefined)
  const hashes = named.map((one) => (typeof one === 'string' ? one.toLowerCase() : ''))
  if (!hashes.every((hash) => HASH.test(hash))) {
    throw new Unproven('the transaction of the receipt is not a hash: 0x and 64 hex digits')
  }
  const [first, second = first] = hashes
  if (first !== second) throw new Unproven('the receipt names another transaction than the proof')
  return first as Hex | undefined
}
