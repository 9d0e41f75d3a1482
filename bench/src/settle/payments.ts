import { X402 } from '@referrer/protocol'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { Address, Hex } from 'viem'
import { type Shop, tokenDomain } from './market.ts'

export type Payment = {
  nonce: Hex
  /** The body of the request to `/settle`. */
  body: Buffer
}

/** One USDC, in base units. */
const PRICE = '1000000'
const VALID_SECONDS = 3_600

/** Makes this many payments of each buyer, signed by the official client; with an agent's id they are that agent's. */
export async function signPayments(
  shop: Shop,
  payTo: Address,
  each: number,
  buyerAgentId?: bigint,
): Promise<Payment[][]> {
  const { market } = shop
  const requirements = {
    scheme: 'exact',
    network: X402.Network.from(market.client.chain.id),
    asset: market.addresses.USDC,
    amount: PRICE,
    payTo,
    maxTimeoutSeconds: VALID_SECONDS,
    extra: await tokenDomain(market),
  }
  const extensions = {
    attributionToken: shop.attributionToken,
    ...(buyerAgentId !== undefined && { buyerAgentId: String(buyerAgentId) }),
  }
  const payments: Payment[][] = []
  for (const buyer of shop.buyers) {
    const client = new ExactEvmScheme(buyer)
    const own: Payment[] = []
    while (own.length < each) {
      const signed = await client.createPaymentPayload(X402.VERSION, requirements)
      const { authorization } = signed.payload as X402.PaymentPayload.PaymentPayload['payload']
      const paymentPayload = { ...signed, accepted: requirements, extensions }
      const request = { x402Version: X402.VERSION, paymentPayload, paymentRequirements: requirements }
      own.push({ nonce: authorization.nonce, body: Buffer.from(JSON.stringify(request)) })
    }
    payments.push(own)
  }
  return payments
}
