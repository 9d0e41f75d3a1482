// Splits what was paid by a plain transfer to the router, on the payer's signature.
import { RpcError } from '@referrer/chain'
import { Attribution, AttributionToken } from '@referrer/protocol'
import { type Address, encodeAbiParameters, type Hash, keccak256, parseAbiParameters, zeroHash } from 'viem'
import type { Context } from '../context.ts'
import { tooLittle } from '../payment/minimum-amount.ts'
import { multiplierNow } from '../payment/multiplier.ts'
import { alreadyUsed, forNow, invalidPayment, Refused } from '../payment/refused.ts'
import { verifyToken } from '../payment/token.ts'
import { keyOfDeposit } from '../settlement/order.ts'
import type { Deposit, Settled, Settler, Unless } from '../settlement/types.ts'
import { askOffer, type Offer } from './offer.ts'
import { type Charged, findPayer } from './payer.ts'
import { type ChargeRequest, readRequest } from './request.ts'
import { readDelivery, requireFinal } from './transfers.ts'

/** In seconds: a transfer that could be split is its payer's to take back when so much time has passed. */
const TAKE_BACK_AFTER = 3_600

/** Once for each payer and transaction. Throws `Refused`, or a `ProtocolError` of code `invalid_envelope`. */
export async function charge(context: Context, settler: Settler, body: unknown): Promise<Settled> {
  const { deposit, unless } = await examine(context, settler, readRequest(context, body)).catch((cause) => {
    if (!(cause instanceof RpcError)) throw cause
    const message = 'the chain cannot be asked now; nothing was sent, ask again with the same body'
    throw forNow(message, cause)
  })
  return settler.splitDeposit(deposit, unless)
}

async function examine(
  context: Context,
  settler: Settler,
  request: ChargeRequest,
): Promise<{ deposit: Deposit; unless: Unless }> {
  const { chain, txHash } = request
  const terms = await verifyToken(context, chain, request.token)
  const delivery = await readDelivery(chain, txHash)
  const charged = await findPayer(context, request, delivery.sent)
  if (charged.hasAuthorized) {
    throw invalidPayment(
      `transaction ${txHash} redeemed an authorisation of ${charged.payer}: that payment is settled at /settle, not charged`,
    )
  }
  await requireUncharged(settler, request, charged.payer)
  const { timestamp } = await requireFinal(chain, delivery)

  // A merchant that has closed may have no endpoint any more.
  const offer = await askOffer(context, request, terms).catch((error: unknown) => {
    if (error instanceof Refused) return error
    throw error
  })
  const sold = Attribution.from(terms, { buyerAgentId: request.buyerAgentId, salt: zeroHash })
  if (!(offer instanceof Refused) && offer.productId) sold.productId = offer.productId
  const attribution = { ...sold, commissionMultiplierBps: await multiplierNow(context, chain, sold) }
  const deposit = depositOf(request, charged, attribution)
  const why = tooLittle(chain, charged.value)
  const never = why ? invalidPayment(why) : judgePrice(charged, offer)
  if (never) return { deposit, unless: { refusal: never } }
  if (!(offer instanceof Refused)) return { deposit, unless: {} }
  return { deposit, unless: { refusal: offer, notBefore: timestamp + TAKE_BACK_AFTER } }
}

async function requireUncharged(
  settler: Settler,
  { chain, txHash }: ChargeRequest,
  payer: Address,
): Promise<void> {
  const key = keyOfDeposit({ chainId: chain.chainId, charge: { payer, txHash } })
  const { status, transaction } = await settler.find(key).catch((cause) => {
    const message = 'the records cannot be read now; nothing was sent, ask again with the same body'
    throw forNow(message, cause)
  })
  if (status === 'settled') throw alreadyUsed(transaction ?? undefined)
}

function judgePrice({ value }: Charged, offer: Offer | Refused): Refused | undefined {
  if (offer instanceof Refused || value === offer.amount) return undefined
  return invalidPayment(
    `the transfer is of ${value} base units and the price is ${offer.amount}: pay exactly that`,
  )
}

function depositOf(
  { chain, txHash, token }: ChargeRequest,
  { payer, value, signature }: Charged,
  attribution: Attribution.Attribution,
): Deposit {
  const charge = { txHash, payer, value, tokenHash: AttributionToken.tokenHash(token), signature }
  return { chainId: chain.chainId, charge, attribution, digest: digestOf(chain.chainId, charge, attribution) }
}

const CHARGE = parseAbiParameters(
  'uint256 chainId, bytes32 txHash, address payer, bytes32 tokenHash, uint256 buyerAgentId',
)

/** Equal for copies of one request: what the merchant or a rank may change between copies is left out. */
function digestOf(
  chainId: number,
  { txHash, payer, tokenHash }: Deposit['charge'],
  { buyerAgentId }: Attribution.Attribution,
): Hash {
  return keccak256(encodeAbiParameters(CHARGE, [BigInt(chainId), txHash, payer, tokenHash, buyerAgentId]))
}
