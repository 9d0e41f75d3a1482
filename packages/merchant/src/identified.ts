// Payments that the buyer has named: the same name pays once, and gets the same answer again.
import { answerAgain } from './answer-again.ts'
import { isOwn, jsonAnswer, refusalFields, retryLater } from './answers.ts'
import type { CheckOut, MakeOffer } from './checkout.ts'
import type { Settings } from './config.ts'
import { NAMED_SECONDS, objectionToId, purposeOf } from './extensions/payment-identifier.ts'
import { facilitatorOf } from './facilitator.ts'
import type { Payment } from './payment.ts'
import type { Granted } from './payment-memory.ts'

const CONFLICT =
  'this payment identifier was used for another request, or on other terms: choose a new one for another purchase, or send the payment again that you made'
const UNDER_WAY =
  'a payment under this identifier is under way: do not sign another, and send this request again in a few seconds'
const UNCHECKED =
  'a payment under this identifier was made, and this new one cannot be checked right now: do not sign another, and send this request again'
const IN_USE =
  'a payment under this identifier is under way or was made: do not sign another, and send that payment again to get its answer. If you no longer have it, see on the chain whether it was paid before you pay under a new identifier'

/** What a name stands for. It counts as long as there is a record of its payment. */
interface Name {
  payment: string
  /** Of what was asked for, and of the terms: the same when the buyer has signed a new authorisation for it. */
  purpose: string
}

export function createIdentified(settings: Settings, checkOut: CheckOut<[Granted]>): CheckOut {
  const { extensions, network, payments, publicUrl, tell } = settings
  const { paymentIds } = extensions
  if (!paymentIds) return checkOut
  const facilitator = facilitatorOf(settings)

  return async function identified(request, payment, makeOffer) {
    // A credential of MPP has no extensions: the challenge that it answers names the purchase.
    if (payment.credential !== undefined) return checkOut(request, payment, makeOffer)
    const objection = objectionToId(payment.identifier, paymentIds.isRequired)
    if (objection) return jsonAnswer(400, refusalFields(objection, 'invalid_payment_identifier'))
    // Without a payer there is nobody whose name it could be: the facilitator refuses such a payment.
    if (payment.identifier === undefined || !payment.payer) return checkOut(request, payment, makeOffer)

    const { value, attributionToken = '', buyerAgentId = '' } = payment
    // Processes behind a proxy may each be asked by a host of their own.
    const place = publicUrl?.href ?? new URL(request.url).origin
    const terms = [place, `${value}`, attributionToken, buyerAgentId]
    const purpose = await purposeOf(request, terms).catch(() => undefined)
    if (!purpose) return jsonAnswer(400, { error: 'the body did not arrive; nothing was charged' })
    const name: Name = { payment: payment.key, purpose }
    const early = await safely(() => answerTo(payment, name, makeOffer))
    if (early) return early
    // The name is taken while the payment is claimed: of two payments under one name, the one that is later finds the record of the other.
    return checkOut(request, payment, async (claim) => {
      const made = await makeOffer()
      return 'offer' in made ? ((await safely(() => take(payment, name, claim))) ?? made) : made
    })
  }

  async function safely(answer: () => Promise<Response | undefined>): Promise<Response | undefined> {
    try {
      return await answer()
    } catch (error) {
      tell({ type: 'claims_failed', error })
      return retryLater(503, 'payments cannot be taken right now; send the same one again')
    }
  }

  /** Of chain, payer and identifier: nobody reaches the answers of another payer. */
  function keyOf({ payer, identifier }: Payment): string {
    return `referrer:id:${network}:${payer}:${identifier}`
  }

  async function read(payment: Payment) {
    const text = await payments.noted(keyOf(payment))
    const name = text === undefined ? undefined : (JSON.parse(text) as Name)
    return { text, name, first: name && (await payments.standing(name.payment, settings)) }
  }

  /** Undefined where the payment has to be taken, or looked up. */
  async function answerTo(
    payment: Payment,
    { purpose }: Name,
    makeOffer: MakeOffer,
  ): Promise<Response | undefined> {
    const { name, first } = await read(payment)
    if (!name || !first) return undefined
    const isSame = name.payment === payment.key
    if (name.purpose !== purpose) {
      // What is owed may be served for another request that costs no more; what was served may not.
      return isSame && first.state !== 'served' ? undefined : conflict(payment)
    }
    if (isSame) return undefined
    if (first.isBusy) return later(payment, UNDER_WAY)
    if (!first.answer) return inUse(payment, first.transaction)
    const verdict = await isPayers(payment, makeOffer)
    if (verdict === 'unknown') return later(payment, UNCHECKED)
    if (verdict === 'no') return inUse(payment, first.transaction)
    tell({ type: 'repeated', payment: payment.key, ...by(first.transaction) })
    return answerAgain(first.answer)
  }

  async function take(payment: Payment, name: Name, claim: Granted): Promise<Response | undefined> {
    const { text, name: before, first } = await read(payment)
    const isTaken = text !== undefined && before?.payment === name.payment
    if (first && !isTaken) return inUse(payment, first.transaction)
    const until = Math.floor(settings.now() / 1_000) + NAMED_SECONDS
    return (await claim.note(keyOf(payment), text, isTaken ? text : JSON.stringify(name), until))
      ? undefined
      : inUse(payment)
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
    tell({ type: 'repeated', payment: key, ...by(transaction) })
    return jsonAnswer(409, { ...refusalFields(IN_USE, 'payment_identifier_in_use'), ...by(transaction) })
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

const by = (transaction: string | undefined) => (transaction === undefined ? {} : { transaction })
