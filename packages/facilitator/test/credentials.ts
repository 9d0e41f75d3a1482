// MPP credentials as their clients make them: the nonce of the authorisation is the hash of the challenge.
import { Mpp, X402 } from '@referrer/protocol'
import type { LocalAccount } from 'viem'
import type { TestFacilitator } from './harness.ts'
import type { PayloadOptions } from './payloads.ts'

export interface CredentialOptions extends PayloadOptions {
  /** Changes what the challenge asks for. */
  charge?: { currency?: string; recipient?: string; methodDetails?: { chainId: number; splits?: unknown } }
  /** Changes what the buyer sends, beside the authorisation. */
  payload?: Record<string, unknown>
}

let challenges = 0

/** The body of `/mpp/charge` that settles a credential. */
export async function credentialBody(
  m: TestFacilitator,
  buyer: LocalAccount,
  { charge, payload: changes, ...options }: CredentialOptions = {},
) {
  challenges += 1
  const { amount = 1_000_000n } = options
  const request = {
    amount: String(amount),
    currency: m.till.usdc,
    methodDetails: { chainId: m.chainId, credentialTypes: ['authorization'], decimals: 6 },
    recipient: m.till.router,
    ...charge,
  }
  const challenge = { id: `challenge-${challenges}`, realm: 'shop.test', method: 'evm', intent: 'charge' }
  const nonce = Mpp.challengeHash(challenge)
  const { paymentPayload } = await m.payload(buyer, { nonce, ...options })
  const { signature, authorization } = paymentPayload.payload
  const wire = {
    challenge: { ...challenge, request: X402.encodeHeader(request, 'url') },
    payload: { type: 'authorization', signature, ...authorization, ...changes },
    source: `did:pkh:eip155:${request.methodDetails.chainId}:${buyer.address}`,
  }
  return {
    credential: `Payment ${X402.encodeHeader(wire, 'url')}`,
    attributionToken: m.till.attributionToken,
    chainId: m.chainId,
    ...(typeof options.buyerAgentId === 'string' && { buyerAgentId: options.buyerAgentId }),
  }
}
