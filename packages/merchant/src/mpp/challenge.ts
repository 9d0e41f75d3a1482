// Challenges of the Payment scheme. Their id is an HMAC of all that they say, so nothing has to be kept to know them again.
import { Base64, Money, Mpp, X402 } from '@referrer/protocol'
import { bytesToHex, keccak256, stringToBytes } from 'viem'
import type { Settings } from '../config.ts'
import type { Buyer } from '../offer.ts'

export interface Challenges {
  /** The value of `WWW-Authenticate` that asks for these requirements, in answer to this request of this buyer. */
  issue(
    request: Request,
    buyer: Buyer,
    requirements: X402.PaymentRequirements.PaymentRequirements,
  ): Promise<string>
  /** Why a credential does not answer a challenge of ours to this request of this buyer. */
  objectionTo(credential: Mpp.Credential, request: Request, buyer: Buyer): Promise<string | undefined>
}

/** To look at the offer and sign. The authorisation that answers a challenge ends with it. */
const VALID_SECONDS = 300
const HMAC = { name: 'HMAC', hash: 'SHA-256' }

export function createChallenges(
  { realm, secretKey }: NonNullable<Settings['mpp']>,
  { chainId, publicUrl, now }: Pick<Settings, 'chainId' | 'publicUrl' | 'now'>,
): Challenges {
  let imported: Promise<CryptoKey> | undefined
  const key = () => {
    imported ??= crypto.subtle.importKey('raw', bytesOf(secretKey), HMAC, false, ['sign', 'verify'])
    return imported
  }
  const realmOf = ({ url }: Request) => realm ?? (publicUrl ?? new URL(url)).host

  return {
    async issue(request, buyer, { amount, asset, payTo }) {
      const expires = Math.floor(now() / 1_000) + VALID_SECONDS
      const unsigned = {
        realm: realmOf(request),
        request: encoded({
          amount,
          currency: asset,
          methodDetails: { chainId, credentialTypes: [Mpp.CREDENTIAL_TYPE], decimals: Money.DECIMALS },
          recipient: payTo,
        }),
        expires: new Date(expires * 1_000).toISOString(),
        // The id becomes the nonce of the authorisation: by chance, so that one buyer can buy the same thing twice.
        opaque: encoded({
          nonce: bytesToHex(crypto.getRandomValues(new Uint8Array(16))),
          order: orderOf(request, buyer),
        }),
      }
      const mac = await crypto.subtle.sign(HMAC, await key(), boundBy(unsigned))
      return written({ id: Base64.encode(new Uint8Array(mac), 'url'), ...unsigned })
    },

    async objectionTo({ challenge, charge, authorization }, request, buyer) {
      if (challenge.realm !== realmOf(request)) {
        return `the challenge is of the realm ${JSON.stringify(challenge.realm)}, not of this one`
      }
      const id = bytesIn(challenge.id)
      if (!id || !(await crypto.subtle.verify(HMAC, await key(), id, boundBy(challenge)))) {
        return 'the challenge was not issued here, or not with these contents'
      }
      // From here on the challenge is known to be one of ours.
      if (charge.chainId !== chainId) return 'the challenge is for another chain'
      if (orderIn(challenge.opaque) !== orderOf(request, buyer)) {
        return 'the challenge was issued for another request, ref link or buyer: send the same request with the same headers'
      }
      const expires = BigInt(Math.floor(Date.parse(challenge.expires ?? '') / 1_000) || 0)
      if (BigInt(authorization.validBefore) > expires) return 'the authorisation ends after the challenge'
      return undefined
    },
  }
}

/** What is bought through which link, in a form that a header has room for. */
function orderOf({ method, url }: Request, { attributionToken, buyerAgentId = '' }: Buyer): string {
  const { pathname, search } = new URL(url)
  return keccak256(bytesOf(JSON.stringify([method, `${pathname}${search}`, attributionToken, buyerAgentId])))
}

/** Whoever shares the secret may have issued challenges with something else in them. */
function orderIn(opaque: string | undefined): unknown {
  try {
    return Object(X402.decodeHeader(opaque)).order
  } catch {
    return undefined
  }
}

/** The seven places of the HMAC that the protocol recommends. */
function boundBy({ realm, request, expires = '', digest = '', opaque = '' }: Omit<Mpp.Challenge, 'id'>) {
  return bytesOf([realm, Mpp.METHOD, Mpp.INTENT, request, expires, digest, opaque].join('|'))
}

function written({ id, realm, request, expires, opaque }: Required<Omit<Mpp.Challenge, 'digest'>>): string {
  const params = { id, realm, method: Mpp.METHOD, intent: Mpp.INTENT, request, expires, opaque }
  return `Payment ${Object.entries(params)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`
}

/** The keys are written in alphabetical order: the protocol wants canonical JSON (RFC 8785). */
const encoded = (value: object) => Base64.encode(bytesOf(JSON.stringify(value)), 'url')

const bytesOf = (text: string) => stringToBytes(text) as Uint8Array<ArrayBuffer>

function bytesIn(base64url: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Base64.decodeUrl(base64url, 4_096)
  } catch {
    return undefined
  }
}
