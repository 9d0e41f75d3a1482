import { Attribution, ProtocolError } from '@referrer/protocol'
import type { Hash, Hex } from 'viem'
import { z } from 'zod'
import type { Chain, Context } from '../context.ts'
import { unwrapSignature } from '../onchain/wallet-deployment.ts'
import { invalidPayment } from '../payment/refused.ts'
import { MOST_SIGNATURE_BYTES } from '../payment/signature.ts'

/** What a payer asks for who has sent a plain transfer. */
export interface ChargeRequest {
  chain: Chain
  txHash: Hash
  token: string
  /** The agent that buys, or the id that stands for none. */
  buyerAgentId: bigint
  signature: Hex
}

const LARGEST_ID = BigInt(Number.MAX_SAFE_INTEGER)

const matching = (pattern: RegExp, otherwise: string) => z.string(otherwise).regex(pattern, otherwise)

const BUYER = 'buyerAgentId must be the id of the buying agent as a decimal string, or left out'

export const Body = z.object({
  txHash: matching(
    /^0x[0-9a-fA-F]{64}$/,
    'txHash must be the hash of the transfer: 0x and 64 hex digits',
  ).transform((hash) => hash.toLowerCase() as Hash),
  attributionToken: matching(/./, 'attributionToken must be the token of the ref link that was followed'),
  buyerAgentId: matching(/^(?:0|[1-9]\d{0,15})?$/, BUYER)
    .nullish()
    .transform((text) => (text ? BigInt(text) : Attribution.AGENTLESS_BUYER_ID))
    .refine((id) => id <= LARGEST_ID || id === Attribution.AGENTLESS_BUYER_ID, BUYER),
  chainId: z.int('chainId must be the number of the chain of the transfer'),
  buyerSignature: matching(
    /^0x(?:[0-9a-fA-F]{2})+$/,
    "buyerSignature must be the payer's signature of the ChargeCommitment, as 0x-prefixed hex",
  )
    .max(2 + 2 * MOST_SIGNATURE_BYTES, `buyerSignature must have at most ${MOST_SIGNATURE_BYTES} bytes`)
    .transform((hex) => hex as Hex),
})

/** Throws `Refused`, or a `ProtocolError` of code `invalid_envelope`. */
export function readRequest({ chains }: Pick<Context, 'chains'>, body: unknown): ChargeRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ProtocolError(
      'invalid_envelope',
      `send a JSON object with ${Object.keys(Body.shape).join(', ')}`,
    )
  }
  const { data, error } = Body.safeParse(body)
  if (!data) throw invalidPayment(error.issues[0]?.message ?? 'the request cannot be read')
  const { txHash, attributionToken: token, buyerAgentId, chainId, buyerSignature } = data
  const chain = chains.get(chainId)
  if (!chain) {
    throw invalidPayment(
      `chain ${chainId} is not settled here: transfers are charged on ${[...chains.keys()].join(', ')}`,
    )
  }
  // Who has sent a transfer is deployed, whatever its signature says.
  const { signature } = unwrapSignature(buyerSignature) ?? { signature: buyerSignature }
  return { chain, txHash, token, buyerAgentId, signature }
}
