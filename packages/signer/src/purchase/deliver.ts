// Sends the payment to the shop and learns what came of it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fetched } from '@referrer/net'
import { X402 } from '@referrer/protocol'
import type { Hash } from 'viem'
import type { Chain } from '../chain/chain.ts'
import { eventNotFound } from '../chain/send.ts'
import type { Context } from '../context.ts'
import { explain, Refused } from '../refused.ts'
import { askFacilitator } from './facilitator.ts'
import type { Entry, Journal } from './journal.ts'
import { jsonOf } from './link.ts'
import { findTransaction, isFinal, isSplitIn, lookAtMoney, type Money, tell } from './money.ts'
import { bodyOf, headersOf, MAX_SHOP_BYTES, reasonOf } from './offer.ts'

export interface Delivered {
  escrowId: number
  transaction: Hash
  answer: Fetched
  /** What could not be checked. */
  doubts: string[]
}

const LOOK_EVERY_MS = 500
/** The shop could not ask, or does not know yet: the same payment may be sent again. */
const AGAIN = new Set([503, 504])
const AGAIN_MS = 2_000
const HASH = /^0x[0-9a-fA-F]{64}$/
const LONGEST_SAYING = 200

/** A purchase that succeeds is still open in the journal: it is closed when the caller hears of it. */
export async function deliver(
  context: Context,
  chain: Chain,
  journal: Journal,
  entry: Entry,
  signal: AbortSignal,
): Promise<Delivered> {
  const answer = await hand(context, entry).catch((error: unknown) => reasonOf(error))
  const failure = failureOf(answer)
  const claimed = failure === undefined ? claimedIn(answer as Fetched) : undefined
  const money = await settleAccounts(context, chain, journal, entry, { claimed, signal })
  if (failure !== undefined) throw new Refused(`${failure}. ${money.text}`)
  if (claimed === undefined) {
    throw new Refused(`the purchase failed: the shop answered 200 without a transaction. ${money.text}`)
  }
  if (money.state !== 'settled') {
    const isMined = (await isSplitIn(chain, entry, claimed)) === false
    const why = isMined
      ? eventNotFound('EscrowDeposited of this payment', claimed).message
      : 'nothing proves it on the chain'
    throw new Refused(`the shop claims that transaction ${claimed} paid it: ${why}. ${money.text}`)
  }
  const { escrowId, transaction } = money
  const doubts = transaction
    ? []
    : ['tx_hash is what the shop says: the transaction was not found on the chain.']
  return { escrowId, transaction: transaction ?? claimed, answer: answer as Fetched, doubts }
}

/** The same request as the probe, and no header of ours but the payment. */
async function hand(context: Context, { url, posted, header }: Entry): Promise<Fetched> {
  const deadline = context.now() + context.timeouts.pay
  for (;;) {
    const answer = await context.get(new URL(url), {
      ...bodyOf(posted),
      headers: { ...headersOf(posted), [X402.PAYMENT_SIGNATURE_HEADER]: header },
      timeoutMs: Math.max(1, deadline - context.now()),
      maxBytes: MAX_SHOP_BYTES,
    })
    if (!AGAIN.has(answer.status) || context.now() + AGAIN_MS > deadline) return answer
    await sleep(AGAIN_MS)
  }
}

function failureOf(answer: Fetched | string): string | undefined {
  if (typeof answer === 'string') return `phase 2: the shop gives no answer (${answer})`
  if (answer.status === 200) return undefined
  const { error } = Object(jsonOf(answer.body)) as { error?: unknown }
  const saying =
    typeof error === 'string' ? ` (the shop says ${JSON.stringify(error.slice(0, LONGEST_SAYING))})` : ''
  return `phase 2: expected 200, got ${answer.status}${saying}`
}

/** In the body of JSON, or in the header beside anything else. */
function claimedIn({ headers, body }: Fetched): Hash | undefined {
  const { transaction } = Object(jsonOf(body)) as { transaction?: unknown }
  const named = [transaction, inHeader(headers[X402.PAYMENT_RESPONSE_HEADER.toLowerCase()])]
  return named.find((value) => typeof value === 'string' && HASH.test(value)) as Hash | undefined
}

function inHeader(header: unknown): unknown {
  try {
    return (Object(X402.decodeHeader(header)) as { transaction?: unknown }).transaction
  } catch {
    return undefined
  }
}

type Account = (Money | { state: 'unread' }) & { text: string }

/** Waits for the money where somebody says that it is on its way, and writes down what became of it. */
async function settleAccounts(
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
    let money = await lookAtMoney(chain, entry)
    while (!isFinal(money) && context.now() < deadline) {
      await sleep(LOOK_EVERY_MS)
      money = await lookAtMoney(chain, entry)
    }
    if (money.state === 'settled') {
      money.transaction = await findTransaction(chain, entry, money.escrowId, [claimed, word?.transaction])
    }
    // Nobody hears that it was paid, or not yet: it stays open, and the next call is told.
    const isUnheard = (signal.aborted || claimed !== undefined) && money.state === 'settled'
    if (isFinal(money) && !isUnheard) {
      await journal.close(entry, money).catch(() => context.log('the journal cannot be written'))
    }
    const saying = word?.message ? ` The facilitator says ${JSON.stringify(word.message)}.` : ''
    return { ...money, text: tell(money, entry) + saying }
  } catch (error) {
    return {
      state: 'unread',
      text: `What became of the money could not be read (${explain(error)}): do not pay again; when you call this tool again, it looks first.`,
    }
  }
}
