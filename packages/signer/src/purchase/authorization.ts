// Signs the EIP-3009 authorisation that moves the money: to the split router, for exactly the price, for this ref link only.
import { Attribution, Authorization, X402 } from '@referrer/protocol'
import type { Hex, LocalAccount } from 'viem'
import type { Chain, Market } from '../chain/chain.ts'
import type { Context } from '../context.ts'
import { time } from '../fields.ts'
import { NotBought, Refused } from '../refused.ts'
import type { Link } from './link.ts'
import type { Offer } from './offer.ts'
import type { Order } from './order.ts'

const LONGEST_SECONDS = 60
const MARGIN_SECONDS = 5
const LONGEST_SILENCE_SECONDS = 300

export interface Payment {
  authorization: Authorization.Authorization
  salt: Hex
  /** The value of the header PAYMENT-SIGNATURE. */
  header: string
}

/** The nonce of the payment. With an idempotency key it is the same on every machine, so the token takes one payment for the key. */
export function nonceOf(context: Context, { idempotencyKey, agentId }: Order, link: Link) {
  const secret =
    idempotencyKey === undefined ? context.randomSecret() : Attribution.idempotencySecret(idempotencyKey)
  const salt = Attribution.attributionSalt(link.token, secret)
  const attribution = Attribution.from(link.terms, { buyerAgentId: agentId, salt })
  return { salt, nonce: Attribution.attributionNonce(attribution) }
}

export async function authorize(
  context: Context,
  chain: Chain,
  market: Market,
  account: LocalAccount,
  { order, link, offer }: { order: Order; link: Link; offer: Offer },
): Promise<Payment> {
  const { requirements, accepted } = offer
  const { agentId } = order
  const { salt, nonce } = nonceOf(context, order, link)
  const { timestamp } = await chain.client.getBlock()
  // On a quiet chain the newest block is old, but the next block will have the present time.
  const now = Math.max(Number(timestamp), Math.floor(context.now() / 1_000))
  // The authorisation would be valid for all of that difference. A sandbox mines blocks only on demand, so it is exempt.
  if (now - Number(timestamp) > LONGEST_SILENCE_SECONDS && !context.config.ALLOW_PRIVATE_HOSTS) {
    throw new Refused(
      `the newest block is of ${time(Number(timestamp))}, long before now: check the clock of this machine, or take another node; nothing was paid`,
    )
  }
  const authorization: Authorization.Authorization = {
    from: account.address,
    to: market.router,
    value: BigInt(requirements.amount),
    validAfter: 0n,
    validBefore: BigInt(now + Math.min(requirements.maxTimeoutSeconds, LONGEST_SECONDS) + MARGIN_SECONDS),
    nonce,
  }
  const { name, version } = requirements.extra
  const domain = { name, version, chainId: chain.chainId, verifyingContract: market.usdc }
  // Regardless of what the shop offers: only the router can redeem this kind, and its nonce commits the facilitator to this link.
  const signature = await account.signTypedData(
    Authorization.typedData('ReceiveWithAuthorization', domain, authorization),
  )
  // The agent comes from the caller, not from the shop's echo.
  const { buyerAgentId: _echoed, ...extensions } = offer.extensions
  const header = X402.PaymentPayload.serialize({
    x402Version: X402.VERSION,
    ...(offer.resource && { resource: offer.resource }),
    accepted,
    payload: { signature, authorization: textOf(authorization) },
    extensions: {
      ...extensions,
      attributionToken: link.token,
      ...(agentId !== undefined && { buyerAgentId: agentId }),
      attributionSalt: salt,
    },
  })
  if (header.length > X402.MAX_HEADER_CHARS) {
    throw new NotBought(
      "the shop's offer is too long to be paid: its extensions do not fit a header; nothing was paid",
    )
  }
  return { authorization, salt, header }
}

function textOf(authorization: Authorization.Authorization): X402.PaymentPayload.SentAuthorization {
  const { from, to, nonce, value, validAfter, validBefore } = authorization
  return {
    from,
    to,
    value: String(value),
    validAfter: String(validAfter),
    validBefore: String(validBefore),
    nonce,
  }
}
