// Payments that the buyer has named: the same name pays once, and gets the same answer again.
import { jsonAnswer, refusalFields, retryLater } from './answers.ts'
import type { CheckOut, MakeOffer, Watched } from './checkout.ts'
import type { Settings } from './config.ts'
import {
  answerAgain,
  createAnswers,
  type Entry,
  KEPT_SECONDS,
  keptOf,
  objectionToId,
  purposeOf,
} from './extensions/payment-identifier.ts'
import { facilitatorOf } from './facilitator.ts'
import type { Payment } from './payment.ts'

const CONFLICT =
  'this payment identifier was used for another payment or request: choose a new one, or send that payment again'

export function createIdentified(settings: Settings, checkOut: CheckOut): CheckOut {
  const { extensions, network, payments, tell } = settings
  const { paymentIds } = extensions
  if (!paymentIds) return checkOut
  const answers = createAnswers()
  const facilitator = facilitatorOf(settings)
  const seconds = () => Math.floor(settings.now() / 1_000)

  /** A new entry, or undefined where a payment is known elsewhere by this name; `isSame` says whether it is this payment. */
  async function begin(asked: Pick<Entry, 'key' | 'fingerprint' | 'purpose'>) {
    const until = seconds() + KEPT_SECONDS
    const key = `referrer:id:${asked.key}`
    // The name with the payment comes first, so that another process that finds the name taken can tell by which payment.
    const releasePayment = await payments.reserve(`${key}:${asked.fingerprint}`, until, settings)
    if (!releasePayment) return { entry: undefined, isSame: true }
    const releaseName = await payments.reserve(key, until, settings)
    if (!releaseName) {
      await releasePayment()
      return { entry: undefined, isSame: false }
    }
    const release = async () => {
      answers.forget(asked.key)
      await releaseName()
      await releasePayment()
    }
    const entry: Entry = { ...asked, until, release }
    answers.remember(entry)
    return { entry, isSame: true }
  }

  function conflict({ key }: Payment): Response {
    tell({ type: 'repeated', payment: key })
    return jsonAnswer(409, refusalFields(CONFLICT, 'payment_identifier_conflict'))
  }

  return async function identified(request, payment, makeOffer) {
    // A credential of MPP has no extensions: the challenge that it answers names the purchase.
    if (payment.credential !== undefined) return checkOut(request, payment, makeOffer)
    const objection = objectionToId(payment.identifier, paymentIds.isRequired)
    if (objection) return jsonAnswer(400, refusalFields(objection, 'invalid_payment_identifier'))
    // Without a payer there is nobody whose name it could be: the facilitator refuses such a payment.
    if (payment.identifier === undefined || !payment.payer) return checkOut(request, payment, makeOffer)

    const terms = [`${payment.value}`, payment.attributionToken ?? '', payment.buyerAgentId ?? '']
    const purpose = await purposeOf(request, terms).catch(() => undefined)
    if (!purpose) return jsonAnswer(400, { error: 'the body did not arrive; nothing was charged' })
    const key = `${network}:${payment.payer}:${payment.identifier}`
    const asked = { key, fingerprint: payment.fingerprint, purpose }
    const known = answers.find(asked.key, seconds())
    const isSamePayment = known?.fingerprint === asked.fingerprint
    if (
      known?.answer &&
      known.purpose === asked.purpose &&
      (isSamePayment || (await isPayers(payment, makeOffer)))
    ) {
      tell({
        type: 'repeated',
        payment: payment.key,
        ...(known.transaction && { transaction: known.transaction }),
      })
      return answerAgain(known.answer)
    }
    // What is owed may be served for another request that costs no more; what was served may not.
    if (known && (!isSamePayment || (known.transaction && known.purpose !== asked.purpose)))
      return conflict(payment)

    let entry = known
    if (!known) {
      try {
        const begun = await begin(asked)
        if (!begun.isSame) return conflict(payment)
        entry = begun.entry
      } catch (error) {
        tell({ type: 'claims_failed', error })
        return retryLater(503, 'payments cannot be taken right now; send the same one again')
      }
    }
    const watched: Watched = { end: undefined }
    const response = await checkOut(request, payment, makeOffer, watched)
    if (!entry) return response
    if (watched.end === 'served') return keep(entry, response, watched.transaction)
    // What may have been paid keeps its name: another payment under it would pay twice.
    const isFree =
      watched.end === 'refused' || (!known && (watched.end === 'undone' || watched.end === undefined))
    if (isFree) await entry.release()
    return response
  }

  async function keep(entry: Entry, response: Response, transaction: string | undefined): Promise<Response> {
    const answer = await keptOf(response)
    const until = seconds() + KEPT_SECONDS
    answers.remember({ ...entry, answer, until, ...(transaction && { transaction }) })
    return response
  }

  /** Whether the payer has signed this new authorisation: then it is the buyer who asks again. It is not settled. */
  async function isPayers(payment: Payment, makeOffer: MakeOffer): Promise<boolean> {
    try {
      const made = await makeOffer()
      return 'offer' in made && (await facilitator.verify(payment, made.offer.requirements)).isValid
    } catch {
      return false
    }
  }
}
