// What an offer declares beside the ref link: the extensions of x402 that the shop has turned on.
import type { X402 } from '@referrer/protocol'
import type { MerchantEvent } from '../events.ts'
import { PAYMENT_IDENTIFIER } from '../payment.ts'
import { BAZAAR } from './bazaar.ts'
import { type Issuer, OFFER_RECEIPT } from './offer-receipt.ts'
import { identifierDeclaration } from './payment-identifier.ts'
import { challengeOf, SIGN_IN_WITH_X, type SignIn } from './sign-in.ts'

type Fields = Record<string, unknown>

/** The extensions that the configuration names, checked. */
export interface Extensions {
  bazaar: Fields | undefined
  issuer: Issuer | undefined
  signIn: SignIn | undefined
  paymentIds: { isRequired: boolean } | undefined
}

interface Shop {
  network: X402.Network.Network
  extensions: Extensions
  now(): number
  tell(event: MerchantEvent): void
}

export interface Declared {
  request: Request
  resourceUrl: string
  requirements: X402.PaymentRequirements.PaymentRequirements
}

/**
 * The offer travels in a header, and the buyer sends all of it back beside the payment: together with the other headers of that request
 * it must not exceed 16 KiB as base64.
 */
const MAX_OFFER_BYTES = 9_000

/** Declarations by their names, the most important first. Never throws: an offer without a signature is an offer. */
export async function declarationsOf(
  { extensions: { bazaar, issuer, signIn, paymentIds }, network, now, tell }: Shop,
  terms: Declared,
): Promise<Fields> {
  let offer: object | undefined
  try {
    offer = await issuer?.offer(terms, now())
  } catch (error) {
    tell({ type: 'signing_failed', what: 'offer', error })
  }
  const place = { uri: terms.resourceUrl, network }
  const challenge = signIn?.isOpenTo(terms.request) ? challengeOf(signIn, place, now()) : undefined
  return {
    ...(paymentIds && { [PAYMENT_IDENTIFIER]: identifierDeclaration(paymentIds.isRequired) }),
    ...(challenge && { [SIGN_IN_WITH_X]: challenge }),
    ...(offer && { [OFFER_RECEIPT]: offer }),
    ...(bazaar && { [BAZAAR]: bazaar }),
  }
}

/** Those that fit beside what the offer has already: a long link or URL leaves room for fewer. */
export function fitting(offer: object, declarations: Fields): Fields {
  const kept: Fields = {}
  if (Object.keys(declarations).length === 0) return kept
  let room = MAX_OFFER_BYTES - sizeOf(offer)
  for (const [name, declaration] of Object.entries(declarations)) {
    const size = sizeOf({ [name]: declaration })
    if (size > room) continue
    kept[name] = declaration
    room -= size
  }
  return kept
}

const sizeOf = (value: object) => new TextEncoder().encode(JSON.stringify(value)).length
