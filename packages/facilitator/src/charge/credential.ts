// A charge by an MPP credential: its EIP-3009 authorisation to the router is settled as any payment.
import { Mpp, ProtocolError, X402 } from '@referrer/protocol'
import type { Hex } from 'viem'
import { z } from 'zod'
import type { Context } from '../context.ts'
import { invalidPayment } from '../payment/refused.ts'
import { Body as Transfer } from './request.ts'

const optional = (pattern: RegExp, otherwise: string) =>
  z.string(otherwise).regex(pattern, otherwise).nullish()

export const CredentialBody = z.object({
  credential: z.string('credential must be what the buyer sent in Authorization: Payment and base64url'),
  attributionToken: Transfer.shape.attributionToken,
  buyerAgentId: z.string('buyerAgentId must be decimal text, or left out').nullish(),
  chainId: z.int('chainId must be the number of the chain that is paid on'),
  amount: optional(
    /^(?:0|[1-9]\d{0,15})$/,
    'amount must be your price in base units as decimal text, or left out',
  ),
  productId: optional(
    /^0x[0-9a-fA-F]{64}$/,
    'productId must be the product that you sell as 0x-prefixed hex, or left out',
  ),
})

/** Whoever names a transfer asks for that to be charged. */
export const hasCredential = (body: object): boolean => 'credential' in body && !('txHash' in body)

/** The same payment as the body of `/settle`. Throws `Refused`. */
export function settleRequestOf(
  { chains }: Pick<Context, 'chains'>,
  body: object,
): X402.SettleRequest.ReceivedSettleRequest {
  const { data, error } = CredentialBody.safeParse(body)
  if (!data) throw invalidPayment(error.issues[0]?.message ?? 'the request cannot be read')
  const { chainId, attributionToken, buyerAgentId, amount, productId } = data
  const chain = chains.get(chainId)
  if (!chain) {
    throw invalidPayment(`chain ${chainId} is not settled here: pay on ${[...chains.keys()].join(', ')}`)
  }
  const { charge, authorization, signature } = parsed(data.credential)
  if (charge.chainId !== chainId) {
    throw invalidPayment(`the challenge is for chain ${charge.chainId} and the request for chain ${chainId}`)
  }
  return {
    x402Version: X402.VERSION,
    paymentPayload: {
      x402Version: X402.VERSION,
      payload: { signature, authorization },
      extensions: { attributionToken, ...(buyerAgentId && { buyerAgentId }) },
    },
    paymentRequirements: {
      scheme: 'exact',
      network: chain.network,
      asset: charge.currency,
      amount: amount ?? charge.amount,
      payTo: charge.recipient,
      maxTimeoutSeconds: 60,
      extra: { ...chain.token, ...(productId && { productId: productId as Hex }) },
    },
  }
}

function parsed(credential: string): Mpp.Credential {
  try {
    return Mpp.parseCredential(credential)
  } catch (cause) {
    if (!(cause instanceof ProtocolError)) throw cause
    throw invalidPayment(cause.message, { cause })
  }
}
