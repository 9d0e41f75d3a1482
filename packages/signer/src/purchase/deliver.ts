// Sends the payment to the shop and reads the outcome from the chain.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fetched } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import type { Hash } from 'viem'
import type { Chain } from '../chain/chain.ts'
import { eventNotFound } from '../chain/send.ts'
import type { Context } from '../context.ts'
import { explain, Refused } from '../refused.ts'
import { depositIn, inspect } from './deposit.ts'
import { Bought } from './earlier-purchases.ts'
import { askFacilitator } from './facilitator.ts'
import type { Entry, Journal } from './journal.ts'
import { jsonOf } from './link.ts'
import { bodyOf, headerOf, headersOf, MAX_SHOP_BYTES, offeredIn, reasonOf, referrerHeaders } from './offer.ts'
import {
  describePayment,
  isFinal,
  type PaymentState,
  readPaymentState,
  type Settled,
} from './payment-state.ts'
import { receiptIn } from './receipt.ts'
import { resourceOf } from './resource.ts'

export interface Delivered {
  money: Settled & { transaction: Hash }
  answer: Fetched
  /** What could not be checked. */
  doubts: string[]
}

const LOOK_EVERY_MS = 500
/** The shop could not reach the facilitator, or the outcome is unknown yet: the same payment may be sent again. */
const AGAIN = new Set([503, 504])
const AGAIN_MS = 2_000
const HASH = /^0x[0-9a-fA-F]{64}$/
const LONGEST_SAYING = 200

interface Delivery {
  signal: AbortSignal
  /** Whether an earlier call already paid. */
  isPaid: boolean
}

/** A successful purchase stays open in the journal until the caller has got the result. */
export async function deliver(
  context: Context,
  chain: Chain,
  journal: Journal,
  entry: Entry,
  { signal, isPaid }: Delivery,
): Promise<Delivered> {
  const answer = await sendPayment(context, chain, entry, isPaid).catch((error: unknown) => reasonOf(error))
  const failure = failureOf(answer)
  const claimed = failure === undefined ? claimedIn(answer as Fetched) : undefined
  const money = await readOutcome(context, chain, journal, entry, { claimed, signal })
  if (failure !== undefined) throw failed(failure, money, entry)
  if (claimed === undefined) {
    throw failed('the purchase failed: the shop answered 200 without a transaction', money, entry)
  }
  if (money.state !== 'settled') {
    const isMined = (await depositIn(chain, entry, claimed)) === null
    const why = isMined
      ? eventNotFound('EscrowDeposited of this payment', claimed).message
      : 'nothing proves it on the chain'
    throw new Refused(`the shop claims that transaction ${claimed} paid it: ${why}. ${money.text}`)
  }
  const served = answer as Fetched
  const receipt = receiptIn(served)
  const kept = receipt && { receipt }
  if (money.differences.length > 0) {
    // The caller gets the result here, so the journal entry can be closed.
    if (!signal.aborted) await close(context, journal, entry, { ...money, ...kept, isServed: true })
    throw failed('the purchase is not what was agreed on', money, entry, { resource: resourceOf(served) })
  }
  const { text: _, doubts, transaction, ...settled } = money
  return { money: { ...settled, ...kept, transaction: transaction ?? claimed }, answer: served, doubts }
}

function failed(problem: string, money: Account, { amount }: Entry, data?: Record<string, unknown>): Refused {
  const text = `${problem}. ${money.text}`
  if (money.state !== 'settled') return new Refused(text, data)
  return new Bought(text, { ...money, amount: BigInt(amount) }, { problem, ...(data && { data }) })
}

/** The same request as the price probe plus the payment header only, so that any shop that knows ref links can be paid. */
async function sendPayment(context: Context, chain: Chain, entry: Entry, isPaid: boolean): Promise<Fetched> {
  const deadline = context.now() + context.timeouts.pay
  const answer = await hand(context, entry, deadline)
  if (!isEchoMissing(answer, entry)) return answer
  if (!isPaid && !(await isUntouched(context, chain, entry))) return answer
  // Official middleware computes its offer again for the payment and compares the two. Such a shop knows the link only from the headers of the request.
  return hand(context, entry, deadline, {
    ...referrerHeaders(entry.token, entry.agentId),
    [X402.REFERRER_ATTRIBUTION_SALT_HEADER]: entry.salt,
  })
}

/** The shop refused with an offer that does not name the link. */
const isEchoMissing = (answer: Fetched, { token }: Entry): boolean => {
  if (answer.status !== 402 && answer.status !== 400) return false
  const { attributionToken } = Object(offeredIn(answer).extensions) as Record<string, unknown>
  return attributionToken !== token
}

/** The payment is neither settled nor being settled. */
async function isUntouched(context: Context, chain: Chain, entry: Entry): Promise<boolean> {
  const [money, word] = await Promise.all([
    readPaymentState(chain, entry).catch(() => undefined),
    askFacilitator(context, entry),
  ])
  return money?.state === 'open' && !word?.isPending && word?.transaction === undefined
}

async function hand(
  context: Context,
  { url, posted, header }: Entry,
  deadline: number,
  more: Record<string, string> = {},
): Promise<Fetched> {
  for (;;) {
    const answer = await context.get(new URL(url), {
      ...bodyOf(posted),
      headers: { ...headersOf(posted), [X402.PAYMENT_SIGNATURE_HEADER]: header, ...more },
      timeoutMs: Math.max(1, deadline - context.now()),
      maxBytes: MAX_SHOP_BYTES,
    })
    const waitMs = waitAfter(answer)
    if (waitMs === undefined || context.now() + waitMs > deadline) return answer
    await sleep(waitMs)
  }
}

/** A 409 with a time is of a copy of a payment that the shop is still serving, or was serving when it died: it serves it after that time. */
function waitAfter({ status, headers }: Fetched): number | undefined {
  if (AGAIN.has(status)) return AGAIN_MS
  const seconds = status === 409 ? headers['retry-after'] : undefined
  return typeof seconds === 'string' && /^\d{1,4}$/.test(seconds) ? Number(seconds) * 1_000 : undefined
}

function failureOf(answer: Fetched | string): string | undefined {
  if (typeof answer === 'string') return `phase 2: the shop gives no answer (${answer})`
  if (answer.status === 200) return undefined
  const said = sayingOf(answer)
  const saying = said === undefined ? '' : ` (the shop says ${JSON.stringify(said.slice(0, LONGEST_SAYING))})`
  return `phase 2: expected 200, got ${answer.status}${saying}`
}

/** The reason that the shop gives for a refusal: in the body, or in the headers of official middleware. */
function sayingOf({ headers, body }: Fetched): string | undefined {
  const { errorMessage, errorReason } = headerOf(headers, X402.PAYMENT_RESPONSE_HEADER) ?? {}
  const { error } = Object(jsonOf(body)) as { error?: unknown }
  const { error: inHeader } = headerOf(headers, X402.PAYMENT_REQUIRED_HEADER) ?? {}
  const said = [error, errorMessage, errorReason, inHeader]
  return said.find((value): value is string => typeof value === 'string' && value !== '')
}

/** The transaction hash in a JSON body, or in the header next to any other body. */
function claimedIn({ headers, body }: Fetched): Hash | undefined {
  const { transaction } = Object(jsonOf(body)) as { transaction?: unknown }
  const named = [transaction, headerOf(headers, X402.PAYMENT_RESPONSE_HEADER)?.transaction]
  return named.find((value) => typeof value === 'string' && HASH.test(value)) as Hash | undefined
}

type Account = (PaymentState | { state: 'unread' }) & { text: string; doubts: string[] }

/** Polls the chain while the shop or the facilitator reports a settlement, and records the outcome in the journal. */
async function readOutcome(
  context: Context,
  chain: Chain,
  journal: Journal,
  entry: Entry,
  { claimed, signal }: { claimed: Hash | undefined; signal: AbortSignal },
): Promise<Account> {
  try {
    const word = await askFacilitator(context, entry)
    const isExpected = claimed !== undefined || word?.isPending || word?.transaction !== undefined
    const deadline = context.now() + (isExpected ? context.timeouts.settled : 0)
    let money = await readPaymentState(chain, entry)
    while (!isFinal(money) && context.now() < deadline) {
      await sleep(LOOK_EVERY_MS)
      money = await readPaymentState(chain, entry)
    }
    const doubts =
      money.state === 'settled'
        ? await inspect(context, chain, entry, money, [claimed, word?.transaction])
        : []
    // The caller has not got the result yet, or is gone: the entry stays open, so that the next call reports it.
    const isUnreported = (signal.aborted || claimed !== undefined) && money.state === 'settled'
    if (isFinal(money) && !isUnreported) await close(context, journal, entry, money)
    const saying = word?.message ? ` The facilitator says ${JSON.stringify(word.message)}.` : ''
    return { ...money, text: describePayment(money, entry) + saying, doubts }
  } catch (error) {
    return {
      state: 'unread',
      text: `What became of the money could not be read (${explain(error)}): do not pay again; when you call this tool again, it looks first.`,
      doubts: [],
    }
  }
}

const close = (context: Context, journal: Journal, ...closed: Parameters<Journal['close']>): Promise<void> =>
  journal.close(...closed).catch(() => context.log('the journal cannot be written'))
