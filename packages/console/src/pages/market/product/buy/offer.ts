// What a shop asks for, checked before anything is signed.

import type { AnswerOf } from '@referrer/client'
import { decodePaymentRequiredHeader } from '@x402/core/http'
import type { PaymentRequired, PaymentRequirements } from '@x402/core/types'
import { type Address, domainSeparator, isAddress, isAddressEqual, type PublicClient, parseAbi } from 'viem'
import { Problem } from '../../../../api/problem.ts'
import { plain } from '../../../../format/text.ts'
import { formatUsdc } from '../../../../format/usdc.ts'
import type { RefLink } from '../questions.ts'

export type CheckoutAnswer = AnswerOf<'/v1/checkout', 'post'>

/** What the market's contracts name, read through the wallet's node. */
export interface Market {
  router: Address
  usdc: Address
  escrow: Address
  /** Of the token's EIP-712 domain. */
  domain: string
}

export interface Offer {
  required: PaymentRequired
  requirements: PaymentRequirements
  amount: bigint
}

const ROUTER = parseAbi([
  'function TOKEN() view returns (address)',
  'function ESCROW() view returns (address)',
])
const TOKEN = parseAbi(['function DOMAIN_SEPARATOR() view returns (bytes32)'])
/** A shop that could take the money much later would keep the buyer waiting for as long. */
const LONGEST_SECONDS = 300
const NOTHING_PAID = 'Nothing was signed or paid. Choose another product, or tell the shop.'

export async function readMarket(reads: PublicClient, router: Address): Promise<Market> {
  const [usdc, escrow] = await Promise.all([
    reads.readContract({ address: router, abi: ROUTER, functionName: 'TOKEN' }),
    reads.readContract({ address: router, abi: ROUTER, functionName: 'ESCROW' }),
  ])
  const domain = await reads.readContract({ address: usdc, abi: TOKEN, functionName: 'DOMAIN_SEPARATOR' })
  return { router, usdc, escrow, domain }
}

/** The offer in the answer of a shop that was asked without a payment. */
export function readOffer(answer: CheckoutAnswer): PaymentRequired {
  if (answer.status !== 402 || answer.payment_required === null) {
    throw new Problem(
      `The shop answered ${answer.status} where its price was expected`,
      'It may need more to be asked: add it below as name=value. What a browser cannot ask, an agent can.',
    )
  }
  const text = answer.payment_required
  try {
    const required = text.trimStart().startsWith('{')
      ? (JSON.parse(text) as PaymentRequired)
      : decodePaymentRequiredHeader(text)
    if (required.x402Version === 2 && Array.isArray(required.accepts) && required.accepts.length > 0)
      return required
  } catch {
    // Said below.
  }
  throw new Problem('The shop’s offer cannot be read', NOTHING_PAID)
}

/** Whom the payment is for, which token, how much, for which link: all as the market says. */
export function checkOffer(required: PaymentRequired, market: Market, target: RefLink): Offer {
  // Only the first offer counts.
  const requirements = required.accepts[0] as PaymentRequirements
  const refuse = (why: string): never => {
    throw new Problem(`The shop’s offer is refused: ${why}`, NOTHING_PAID)
  }
  const network = `eip155:${target.chain_id}`
  if (requirements.scheme !== 'exact')
    refuse(`it asks for the scheme ${plain(String(requirements.scheme), 40)}`)
  if (requirements.network !== network)
    refuse(`it wants money on ${plain(String(requirements.network), 40)}, not on ${network}`)
  if (!isSame(requirements.payTo, market.router))
    refuse('the money would not go to the market’s split contract')
  if (!isSame(requirements.asset, market.usdc)) refuse('it asks for another token than USDC')
  if (!/^[1-9]\d{0,17}$/.test(requirements.amount)) refuse('its price is not an amount')
  const { maxTimeoutSeconds: seconds } = requirements
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > LONGEST_SECONDS)
    refuse('your permission would be valid for too long')
  const { attributionToken = target.token } = Object(required.extensions) as { attributionToken?: unknown }
  if (attributionToken !== target.token) refuse('it is for another link than yours')
  const {
    name,
    version,
    assetTransferMethod = 'eip3009',
  } = Object(requirements.extra) as Record<string, unknown>
  // The client would sign a Permit2 transfer, which the split contract does not split.
  if (assetTransferMethod !== 'eip3009') refuse('it asks for another kind of permission')
  const domain = {
    name: String(name),
    version: String(version),
    chainId: target.chain_id,
    verifyingContract: market.usdc,
  }
  if (domainSeparator({ domain }) !== market.domain)
    refuse('it names the token wrongly, so a signature would not work')
  return { required, requirements, amount: BigInt(requirements.amount) }
}

const isSame = (given: unknown, wanted: Address): boolean =>
  typeof given === 'string' && isAddress(given, { strict: false }) && isAddressEqual(given, wanted)

/** What is missing in the wallet for the price. */
export const missingText = (amount: bigint, balance: bigint): string =>
  `Your wallet has ${formatUsdc(balance)} USDC: ${formatUsdc(amount - balance)} USDC are missing`
