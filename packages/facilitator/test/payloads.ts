// Payments as clients make them: by default as stock x402 clients do, with a bare transfer and a nonce by chance.
import { Attribution, type AttributionToken, Authorization, Nonce, type X402 } from '@referrer/protocol'
import type { Address, Hex, LocalAccount } from 'viem'

/** Where and for what is paid. */
export interface Till {
  chainId: number
  usdc: Address
  router: Address
  token: { name: string; version: string }
  /** Of the ref link that is paid through unless a payment names another. */
  terms: AttributionToken.Terms
  attributionToken: string
}

export interface PayloadOptions {
  amount?: bigint
  /** The text of a ref link's token; its terms are needed where the nonce commits to it. */
  attributionToken?: string | undefined
  terms?: AttributionToken.Terms
  /** As it is sent: numbers and nonsense too. */
  buyerAgentId?: unknown
  type?: Authorization.AuthorizationType
  /** With a salt the nonce commits to the attribution, as our own tooling signs it. */
  salt?: Hex
  nonce?: Hex
  validAfter?: bigint
  validBefore?: bigint
  to?: Address
  value?: bigint
  from?: Address
  /** Whose key signs, when it is not the payer's. */
  signer?: LocalAccount
  /** Changes what the seller asks for, and what the buyer echoes of it. */
  requirements?: Partial<X402.PaymentRequirements.PaymentRequirements>
  /** Further keys of `extensions`. */
  extensions?: Record<string, unknown>
}

/** The body of `/settle` and `/verify`, in parts that a test may alter. */
export interface Body {
  x402Version: number
  paymentPayload: {
    x402Version?: number
    accepted?: X402.PaymentRequirements.PaymentRequirements
    payload: { signature: Hex; authorization: X402.PaymentPayload.SentAuthorization }
    extensions: Record<string, unknown>
  }
  paymentRequirements: X402.PaymentRequirements.PaymentRequirements
}

/** What a merchant offers: `accepts[0]`. */
export function requirementsOf(
  { chainId, usdc, router, token }: Till,
  amount: bigint,
): X402.PaymentRequirements.PaymentRequirements {
  return {
    scheme: 'exact',
    network: `eip155:${chainId}`,
    asset: usdc,
    amount: String(amount),
    payTo: router,
    maxTimeoutSeconds: 60,
    extra: { ...token, authorizationType: 'ReceiveWithAuthorization' },
  }
}

export async function payloadOf(
  till: Till,
  buyer: LocalAccount,
  nowSeconds: number,
  options: PayloadOptions = {},
): Promise<Body> {
  const { amount = 1_000_000n, salt, buyerAgentId } = options
  const requirements = { ...requirementsOf(till, amount), ...options.requirements }
  const authorization = {
    from: options.from ?? buyer.address,
    to: options.to ?? till.router,
    value: options.value ?? amount,
    validAfter: options.validAfter ?? 0n,
    validBefore: options.validBefore ?? BigInt(nowSeconds + 3_600),
    nonce: options.nonce ?? (salt ? committedNonce(till, salt, options) : Nonce.random()),
  }
  const type = options.type ?? (salt ? 'ReceiveWithAuthorization' : 'TransferWithAuthorization')
  const domain = { ...till.token, chainId: till.chainId, verifyingContract: till.usdc }
  const signature = await (options.signer ?? buyer).signTypedData(
    Authorization.typedData(type, domain, authorization),
  )
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      accepted: requirements,
      payload: { signature, authorization: sent(authorization) },
      extensions: {
        attributionToken: 'attributionToken' in options ? options.attributionToken : till.attributionToken,
        ...('buyerAgentId' in options && { buyerAgentId }),
        ...(salt && { attributionSalt: salt }),
        ...options.extensions,
      },
    },
    paymentRequirements: requirements,
  }
}

function committedNonce({ terms }: Till, salt: Hex, options: PayloadOptions): Hex {
  const buyerAgentId = options.buyerAgentId as string | undefined
  return Attribution.attributionNonce(Attribution.from(options.terms ?? terms, { buyerAgentId, salt }))
}

function sent(authorization: Authorization.Authorization): X402.PaymentPayload.SentAuthorization {
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
