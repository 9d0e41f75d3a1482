// Sells to clients of the Machine Payments Protocol. Their credential holds an EIP-3009 authorisation to the router, so it is settled as any payment.
import { Mpp, ProtocolError, X402 } from '@referrer/protocol'
import { keccak256, stringToHex } from 'viem'
import { jsonAnswer, refusalFields, retryLater, USED } from '../answers.ts'
import type { MakeOffer } from '../checkout.ts'
import type { Settings } from '../config.ts'
import { facilitatorOf } from '../facilitator.ts'
import { BAD_BUYER, type Buyer, type Offer, readBuyer } from '../offer.ts'
import { type Payment, paymentOf } from '../payment.ts'
import { leftOpen, unsureText } from '../settlement.ts'
import { asProblem, type Problem, withReceipt } from './answers.ts'
import { createChallenges } from './challenge.ts'

interface Counter {
  offerTo(buyer: Buyer, request: Request): ReturnType<MakeOffer>
  checkOut(request: Request, payment: Payment, makeOffer: MakeOffer): Promise<Response>
}

export interface MppTill {
  /** The offer, whose 402 carries a challenge too. */
  challenging(offer: Offer, request: Request, buyer: Buyer): Promise<Offer>
  /** Undefined where the request does not pay by this protocol. */
  answerTo(request: Request): Promise<Response> | undefined
}

const BOTH = `send one payment: ${X402.PAYMENT_SIGNATURE_HEADER} or ${Mpp.CREDENTIAL_HEADER}, not both`

const MAY_BE_PAID = `it may be on its way elsewhere until it ends: send the same ${Mpp.CREDENTIAL_HEADER} where its challenge came from, or here again after its end, and do not sign another before`
/** How far the clocks of the chain and of this machine may be apart. */
const CLOCK_SKEW_SECONDS = 60

export function createMppTill(
  mpp: NonNullable<Settings['mpp']>,
  settings: Settings,
  { offerTo, checkOut }: Counter,
): MppTill {
  const { network, chainId, now, tell } = settings
  const facilitator = facilitatorOf(settings)
  const challenges = createChallenges(mpp, settings)

  async function pay(request: Request, header: string): Promise<Response> {
    const isTwice = request.headers.has(X402.PAYMENT_SIGNATURE_HEADER)
    const buyer = readBuyer((name) => request.headers.get(name))
    if (isTwice || !buyer) {
      return asProblem(jsonAnswer(400, { error: isTwice ? BOTH : BAD_BUYER }), 'malformed-credential')
    }
    let credential: Mpp.Credential
    try {
      credential = Mpp.parseCredential(header)
    } catch (error) {
      const message = error instanceof ProtocolError ? error.message : String(error)
      return asProblem(await refusal(message, request, buyer), 'malformed-credential')
    }
    const payment = paymentBy(credential, header, buyer)
    const objection = await challenges.objectionTo(credential, request, buyer)
    const response = await checkOut(request, payment, () =>
      objection === undefined
        ? offerTo(buyer, request)
        : refusalUnlessPaid(payment, objection, request, buyer),
    )
    const { id: challengeId, expires } = credential.challenge
    const isOver = Date.parse(expires ?? '') <= now()
    const problem: Problem =
      objection !== undefined ? 'invalid-challenge' : isOver ? 'payment-expired' : 'verification-failed'
    return asProblem(withReceipt(response, { challengeId, chainId, at: now() }), problem)
  }

  function paymentBy(
    { signature, authorization }: Mpp.Credential,
    credential: string,
    buyer: Buyer,
  ): Payment {
    const payload = { x402Version: X402.VERSION, payload: { signature, authorization }, extensions: buyer }
    // Whoever reads the chain can write the rest of it, but not the challenge: that is known to the buyer alone.
    return { ...paymentOf(payload, network), credential, fingerprint: keccak256(stringToHex(credential)) }
  }

  async function refusal(message: string, request: Request, buyer: Buyer): Promise<Response> {
    const made = await offerTo(buyer, request)
    return 'offer' in made ? made.offer.answer({ reason: 'invalid_payment', message }) : made
  }

  /**
   * A credential that does not answer a challenge of ours may have paid before: at another URL, or before the secret was changed. A buyer
   * who reads 402 pays again, so the facilitator is asked first. What it does not know yet may be on its way to it until it ends.
   */
  async function refusalUnlessPaid(
    payment: Payment,
    message: string,
    request: Request,
    buyer: Buyer,
  ): Promise<Response> {
    const record = await facilitator.recordOf(payment)
    if (!record) return retryLater(503, 'payments cannot be checked right now; send the same one again')
    const { status, transaction, message: why = '', ...open } = record
    if (status === 'settled') {
      tell({ type: 'repeated', payment: payment.key, ...(transaction && { transaction }) })
      return jsonAnswer(409, {
        ...refusalFields(USED, 'invalid_payment'),
        ...(transaction && { transaction }),
      })
    }
    if (status === 'pending') {
      tell({ type: 'unsure', payment: payment.key, message: why })
      return retryLater(504, unsureText(open), { rest: leftOpen(open) })
    }
    const ends = (payment.validBefore ?? 0) + CLOCK_SKEW_SECONDS
    if (status === 'unknown' && ends > now() / 1_000) {
      tell({ type: 'unsure', payment: payment.key, message })
      return retryLater(503, `${message}; ${MAY_BE_PAID}`)
    }
    tell({ type: 'refused', payment: payment.key, reason: 'invalid_payment', message })
    return refusal(message, request, buyer)
  }

  return {
    async challenging(offer, request, buyer) {
      const challenge = await challenges.issue(request, buyer, offer.requirements)
      const challenged = (response: Response) => {
        response.headers.append(Mpp.CHALLENGE_HEADER, challenge)
        return response
      }
      return {
        ...offer,
        answer: (refusal) => challenged(offer.answer(refusal)),
        answerTo: (error) => challenged(offer.answerTo(error)),
      }
    },
    answerTo(request) {
      const header = Mpp.credentialIn(request.headers.get(Mpp.CREDENTIAL_HEADER) ?? '')
      return header === undefined ? undefined : pay(request, header)
    },
  }
}
