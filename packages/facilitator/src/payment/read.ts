import { Attribution, Authorization, ProtocolError, X402 } from '@referrer/protocol'
import { encodeAbiParameters, type Hash, type Hex, keccak256, parseAbiParameters, zeroHash } from 'viem'
import type { Chain, Context } from '../context.ts'
import { tooLittle } from './minimum-amount.ts'
import { multiplierNow } from './multiplier.ts'
import { keyOf, type Payment } from './payment.ts'
import { invalidPayment } from './refused.ts'
import { RECEIVE, readSignature, TRANSFER } from './signature.ts'

import { verifyToken } from './token.ts'

type Requirements = X402.PaymentRequirements.PaymentRequirements

/**
 * The payment in the body of `/settle` or `/verify`, as far as it can be told without the chain. Throws `Refused`, or a `ProtocolError` of
 * code `invalid_envelope`.
 */
export async function readPayment(context: Context, body: unknown): Promise<Payment> {
  const { paymentPayload, paymentRequirements } = parse(body)
  const { extensions, payload, accepted } = paymentPayload
  const chain = chainOf(context, paymentRequirements)
  requireOurs(chain, paymentRequirements)
  const other = otherThanAccepted(accepted, paymentRequirements, ['network', 'asset', 'payTo'])
  if (other) throw invalidPayment(other)
  const authorization = Authorization.from(payload.authorization)
  requirePaying(authorization, paymentRequirements)

  const terms = await verifyToken(context, chain, extensions.attributionToken)
  const salt = X402.Extensions.attributionSalt(extensions)
  const committed = Attribution.from(terms, {
    buyerAgentId: X402.Extensions.buyerAgentId(extensions),
    salt: salt ?? zeroHash,
  })
  // The offer does not tell which message the buyer signed; a salt comes with `ReceiveWithAuthorization`.
  const likely = salt === undefined ? TRANSFER : RECEIVE
  const { kind, signature, isVerified, deployment } = await readSignature(
    context,
    chain,
    authorization,
    payload.signature,
    likely,
  )
  requireCommitted(kind, salt, authorization, committed)
  const { productId = committed.productId } = paymentRequirements.extra
  if (salt !== undefined && productId !== committed.productId) throw invalidPayment(OTHER_PRODUCT)

  const sold = { ...committed, productId }
  const { to: _router, ...signed } = authorization
  const paid = {
    chainId: chain.chainId,
    network: chain.network,
    authorization: { kind, ...signed, signature },
    isCommitted: salt !== undefined,
    isVerified,
    deployment,
  }
  const digest = digestOf({ ...paid, attribution: sold })
  const wrong = wrongPrice(chain, accepted, paymentRequirements, authorization)
  if (wrong) throw invalidPayment(wrong, { purchase: { key: keyOf(paid), digest } })
  const attribution = { ...sold, commissionMultiplierBps: await multiplierNow(context, chain, sold) }
  return { ...paid, attribution, digest }
}

function parse(body: unknown): X402.SettleRequest.ReceivedSettleRequest {
  try {
    return X402.SettleRequest.parse(body)
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.code === 'invalid_envelope') throw error
    throw invalidPayment(lacksToken(body) ? NO_TOKEN : error.message, { cause: error })
  }
}

const NO_TOKEN =
  "extensions.attributionToken is missing from the buyer's payload: pay through a ref link, and send the extensions of the 402 back with the payment"

/** The most common mistake: a buyer without a ref link. */
function lacksToken(body: unknown): boolean {
  const { paymentPayload } = body as { paymentPayload?: { payload?: unknown; extensions?: unknown } }
  const { attributionToken } = Object(paymentPayload?.extensions) as { attributionToken?: unknown }
  return Boolean(paymentPayload?.payload) && (attributionToken === undefined || attributionToken === null)
}

function chainOf({ chains }: Context, { network }: Requirements): Chain {
  const chain = chains.get(X402.Network.parse(network))
  if (chain) return chain
  const ours = [...chains.values()].map((each) => each.network).join(', ')
  throw invalidPayment(`network ${network} is not settled here: pay on ${ours}`)
}

/** The seller offers what can be split. */
function requireOurs(chain: Chain, { asset, payTo, extra }: Requirements): void {
  const { network, contracts, token } = chain
  if (asset !== contracts.USDC) {
    throw invalidPayment(`asset ${asset} is not split on ${network}: offer USDC at ${contracts.USDC}`)
  }
  if (payTo !== contracts.SplitRouter) {
    throw invalidPayment(
      `payTo ${payTo} is not the split router of ${network}: offer ${contracts.SplitRouter}, which is SPLIT_ROUTER in the address registry`,
    )
  }
  if (extra.name !== token.name || extra.version !== token.version) {
    throw invalidPayment(
      `extra must name the token's domain: name ${JSON.stringify(token.name)} and version ${JSON.stringify(token.version)}`,
    )
  }
}

/** What the buyer says it accepted is what the seller asks to be settled. */
function otherThanAccepted(
  accepted: X402.PaymentRequirements.AcceptedRequirements | undefined,
  required: Requirements,
  fields: readonly ('network' | 'asset' | 'amount' | 'payTo')[],
): string | undefined {
  const field = fields.find((each) => accepted && accepted[each] !== required[each])
  return (
    field &&
    `the buyer accepted ${field} ${accepted?.[field]} and the seller asks for ${required[field]}: pay the offer as it is`
  )
}

/** Told last: the price may have changed since the payment for this purchase was sent. */
function wrongPrice(
  chain: Chain,
  accepted: X402.PaymentRequirements.AcceptedRequirements | undefined,
  required: Requirements,
  { value }: Authorization.Authorization,
): string | undefined {
  const { amount } = required
  const why = tooLittle(chain, BigInt(amount))
  if (why) return `${why}; offer it at that price or more, or sell several at once`
  const other = otherThanAccepted(accepted, required, ['amount'])
  if (other || value === BigInt(amount)) return other
  return `authorization.value ${value} is not the amount: authorise exactly ${amount}`
}

/** The validity window is left to the chain: a late request may be for a payment that was settled in time. */
function requirePaying({ to }: Authorization.Authorization, { payTo }: Requirements): void {
  if (to !== payTo) throw invalidPayment(`authorization.to ${to} is not payTo: authorise ${payTo}`)
}

/** The nonce of an authorisation that only the router can redeem has to commit to the link, so that nobody can replace it. */
function requireCommitted(
  kind: 0 | 1,
  salt: Hex | undefined,
  { nonce }: Authorization.Authorization,
  committed: Attribution.Attribution,
): void {
  if (salt === undefined) {
    if (kind === TRANSFER) return
    throw invalidPayment(
      'ReceiveWithAuthorization needs extensions.attributionSalt, and a nonce that commits to the attribution with it',
    )
  }
  const expected = Attribution.attributionNonce(committed)
  if (nonce !== expected) {
    throw invalidPayment(
      `authorization.nonce does not commit to this attribution token, buyer agent and salt: ${expected} would`,
    )
  }
}

const OTHER_PRODUCT =
  "the nonce commits to the product of the link, and anybody may settle it so: sell that product, or leave extra.authorizationType out, so that the buyer's nonce commits to nothing"

const PURCHASE = parseAbiParameters(
  'uint256 chainId, uint8 kind, address from, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint256 merchantId, bytes32 productId, uint256 reviewId, uint256 reviewerAgentId, uint256 buyerAgentId, uint16 cashback',
)

/**
 * Equal for copies of one request. The signature is left out, since one authorisation can have several, the multiplier, since it changes
 * between copies, and the salt, since only one fits the nonce.
 */
function digestOf({
  chainId,
  authorization: a,
  attribution: b,
}: Pick<Payment, 'chainId' | 'authorization' | 'attribution'>): Hash {
  return keccak256(
    encodeAbiParameters(PURCHASE, [
      BigInt(chainId),
      a.kind,
      a.from,
      a.value,
      a.validAfter,
      a.validBefore,
      a.nonce,
      b.merchantId,
      b.productId,
      b.reviewId,
      b.reviewerAgentId,
      b.buyerAgentId,
      b.cashbackOfCommissionBps,
    ]),
  )
}
