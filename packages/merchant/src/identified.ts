// Payments that the buyer has named: the same name pays once, and gets the same answer again.
import { isOwn, jsonAnswer, refusalFields, retryLater } from './answers.ts'
import type { CheckOut, MakeOffer, Watched } from './checkout.ts'
import type { Settings } from './config.ts'
import {
  type Answer,
  type Asked,
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
  'this payment identifier was used for another request, or on other terms: choose a new one for another purchase, or send the payment again that you made'
const UNDER_WAY =
  'a payment under this identifier is under way: do not sign another, and send this request again in a few seconds'
const UNCHECKED =
  'a payment under this identifier was made, and this new one cannot be checked right now: do not sign another, and send this request again'
const IN_USE =
  'a payment under this identifier is under way or was made: do not sign another, and send that payment again to get its answer. If you no longer have it, see on the chain whether it was paid before you pay under a new identifier'

/** A request, the payment that came with it, and the name of both. */
interface Visit {
  asked: Asked
  payment: Payment
  makeOffer: MakeOffer
}

/** What a payment holds while it is claimed, and what was known under its name before. */
interface Held {
  before: Entry | undefined
  /** The name itself was free, or had been kept long enough. */
  isNewName: boolean
  release(): Promise<void>
}

export function createIdentified(settings: Settings, checkOut: CheckOut): CheckOut {
  const { extensions, network, payments, publicUrl, tell } = settings
  const { paymentIds } = extensions
  if (!paymentIds) return checkOut
  const answers = createAnswers()
  const facilitator = facilitatorOf(settings)
  const seconds = () => Math.floor(settings.now() / 1_000)

  return async function identified(request, payment, makeOffer) {
    // A credential of MPP has no extensions: the challenge that it answers names the purchase.
    if (payment.credential !== undefined) return checkOut(request, payment, makeOffer)
    const objection = objectionToId(payment.identifier, paymentIds.isRequired)
    if (objection) return jsonAnswer(400, refusalFields(objection, 'invalid_payment_identifier'))
    // Without a payer there is nobody whose name it could be: the facilitator refuses such a payment.
    if (payment.identifier === undefined || !payment.payer) return checkOut(request, payment, makeOffer)

    const { value, attributionToken = '', buyerAgentId = '', payer, identifier, fingerprint } = payment
    // Processes behind a proxy may each be asked by a host of their own.
    const place = publicUrl?.href ?? new URL(request.url).origin
    const terms = [place, `${value}`, attributionToken, buyerAgentId]
    const purpose = await purposeOf(request, terms).catch(() => undefined)
    if (!purpose) return jsonAnswer(400, { error: 'the body did not arrive; nothing was charged' })
    const asked = { key: `${network}:${payer}:${identifier}`, fingerprint, purpose }
    const visit: Visit = { asked, payment, makeOffer }
    const first = answers.find(asked.key, seconds())
    const answer = first && (await answerBy(first, visit))
    if (answer) return answer

    const watched: Watched & { held?: Held } = { end: undefined }
    const response = await checkOut(request, payment, () => offerUnderName(visit, watched), watched)
    if (watched.held) await finish(asked, watched, watched.held, response)
    return response
  }

  /** Undefined where the payment has to be taken, or looked up. */
  async function answerBy(first: Entry, { asked, payment, makeOffer }: Visit): Promise<Response | undefined> {
    const isSamePayment = first.fingerprint === asked.fingerprint
    if (first.purpose !== asked.purpose) {
      // What is owed may be served for another request that costs no more; what was served may not.
      return isSamePayment && !first.transaction ? undefined : conflict(payment)
    }
    if (isSamePayment) return first.answer && again(payment, first, first.answer)
    if (first.isUnderWay) return later(payment, UNDER_WAY)
    if (!first.answer) return inUse(payment, first.transaction)
    const verdict = await isPayers(payment, makeOffer)
    if (verdict === 'yes') return again(payment, first, first.answer)
    return verdict === 'no' ? inUse(payment, first.transaction) : later(payment, UNCHECKED)
  }

  /**
   * The offer, once the name is held. It is asked for while the payment is claimed, so no copy of the payment is here at the same time, in this
   * process or in another: none can pay without the name.
   */
  async function offerUnderName(
    { asked, payment, makeOffer }: Visit,
    watched: Watched & { held?: Held },
  ): ReturnType<MakeOffer> {
    const made = await makeOffer()
    if (!('offer' in made)) return made
    let held: Held | 'another purpose' | 'another payment'
    try {
      held = await hold(asked)
    } catch (error) {
      tell({ type: 'claims_failed', error })
      return retryLater(503, 'payments cannot be taken right now; send the same one again')
    }
    if (held === 'another purpose') return conflict(payment)
    if (held === 'another payment') return inUse(payment)
    const { before, release } = held
    answers.remember({ ...asked, until: seconds() + KEPT_SECONDS, isUnderWay: true, release })
    watched.held = held
    watched.free = async (end) => {
      if (before && end === 'undone') return goBack(before, held)
      answers.forget(asked.key)
      await before?.release()
      await release()
    }
    return made
  }

  async function hold({ key, purpose, fingerprint }: Asked) {
    const name = `referrer:id:${key}`
    const held: (() => Promise<void>)[] = []
    const take = async (mark: string): Promise<boolean> => {
      const releaseMark = await payments.reserve(mark, seconds() + KEPT_SECONDS, settings)
      if (releaseMark) held.unshift(releaseMark)
      return releaseMark !== undefined
    }
    const release = async () => {
      for (const releaseMark of held.splice(0)) await releaseMark()
    }
    try {
      // The purpose is marked before the name: whoever finds the name taken can tell whether it is for the same purpose.
      const isNewPurpose = await take(`${name}:${purpose}`)
      const isNewName = isNewPurpose && (await take(name))
      const isNewPayment = await take(`${name}:${fingerprint}`)
      if (isNewName || !isNewPayment) return { before: answers.find(key, seconds()), isNewName, release }
      await release()
      return isNewPurpose ? 'another purpose' : 'another payment'
    } catch (error) {
      // Nobody else would release them, and the buyer was told to send the same payment again.
      await release()
      throw error
    }
  }

  /** What may have been paid keeps its name: another payment under it would pay twice. */
  async function finish(
    asked: Asked,
    { end, transaction }: Watched,
    held: Held,
    response: Response,
  ): Promise<void> {
    const { before, release } = held
    const ended = { ...asked, until: seconds() + KEPT_SECONDS, isUnderWay: false, release }
    if (end === 'served') {
      const answer = await keptOf(response)
      answers.remember({ ...ended, answer, ...(transaction && { transaction }) })
    } else if (end === 'owed' || end === 'unsure') {
      if (before) await goBack(before, held)
      else answers.remember(ended)
    }
  }

  /** The name stays with the request that was sent first, which may have been paid. */
  async function goBack(before: Entry, { isNewName, release }: Held): Promise<void> {
    const renewed = isNewName && { until: seconds() + KEPT_SECONDS, release }
    answers.remember({ ...before, isUnderWay: false, ...renewed })
    if (!isNewName) await release()
  }

  function again({ key }: Payment, { transaction }: Entry, answer: Answer): Response {
    tell({ type: 'repeated', payment: key, ...(transaction && { transaction }) })
    return answerAgain(answer)
  }

  function conflict({ key }: Payment): Response {
    tell({ type: 'repeated', payment: key })
    return jsonAnswer(409, refusalFields(CONFLICT, 'payment_identifier_conflict'))
  }

  function later({ key }: Payment, error: string): Response {
    tell({ type: 'repeated', payment: key })
    return retryLater(503, error)
  }

  /** Not a conflict: a buyer who is told to choose a new name pays for the same purchase a second time. */
  function inUse({ key }: Payment, transaction?: string): Response {
    const by = transaction === undefined ? {} : { transaction }
    tell({ type: 'repeated', payment: key, ...by })
    return jsonAnswer(409, { ...refusalFields(IN_USE, 'payment_identifier_in_use'), ...by })
  }

  /**
   * Whether the payer has signed this new authorisation: then it is the buyer who asks again. It is not settled. No: the facilitator refuses
   * it, which also happens to a buyer who has no money left. Unknown: nobody could be asked.
   */
  async function isPayers(payment: Payment, makeOffer: MakeOffer): Promise<'yes' | 'no' | 'unknown'> {
    try {
      const made = await makeOffer()
      // What the shop no longer sells cannot be verified, now or later.
      if (!('offer' in made)) return isOwn(made) ? 'unknown' : 'no'
      return (await facilitator.verify(payment, made.offer.requirements)).isValid ? 'yes' : 'no'
    } catch {
      return 'unknown'
    }
  }
}
